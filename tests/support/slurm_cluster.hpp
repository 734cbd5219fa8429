// A real Slurm for tests: slurmctld and two nodes on this host, in a temporary folder, on free
// ports of the loopback interface, without systemd and without munge; gone with the object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::test {

class SlurmCluster {
 public:
  /// Empty where a cluster can be started; else what is missing.
  [[nodiscard]] static std::string missing();

  /// Starts the daemons as the present user, root or not, and waits until both nodes, n1 and n2,
  /// are idle. Each node has one processor, so it runs one task at a time. The partition "urgent"
  /// preempts the tasks of the default one, which Slurm then requeues. Throws std::runtime_error
  /// with the logs.
  SlurmCluster();
  /// Cancels all jobs and ends the daemons.
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// The value of SLURM_CONF for programs that call Slurm's commands.
  [[nodiscard]] std::string configuration() const { return (folder_ / "slurm.conf").string(); }
  /// Runs a command of Slurm and returns what it prints. Throws std::runtime_error with that if it
  /// fails.
  std::string run(const std::vector<std::string>& words) const;
  /// What the daemons wrote.
  [[nodiscard]] std::string logs() const;

 private:
  void write_configuration() const;
  void start();
  void stop();
  [[nodiscard]] pid_t start_daemon(const std::vector<std::string>& words,
                                   const std::string& name) const;

  std::filesystem::path folder_;
  std::vector<pid_t> daemons_;  ///< the nodes, and the controller as the last
};

}  // namespace kiln::test
