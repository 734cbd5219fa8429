// CompilePool: sources in, binaries out, in worker processes that may crash or hang.
//
// One source per worker at a time, so that a death has one suspect. Workers start when there is
// work for them. Used from the supervisor's thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tuner/messages.hpp"
#include "tuner/worker_host.hpp"
#include "tuner/worker_process.hpp"

namespace kiln {

class CompilePool {
 public:
  struct Options {
    DeviceInfo target;
    std::size_t workers = 1;
    std::chrono::milliseconds deadline{60000};
    std::uint64_t memory_bytes = 0;  ///< that one worker may have; 0: no limit
  };
  /// `host` must outlive it.
  CompilePool(WorkerHost& host, Options options);

  /// `key` comes back with the report.
  void submit(const std::string& key, Source source);
  [[nodiscard]] std::size_t worker_count() const { return options_.workers; }

  /// Held: what is being compiled goes on, nothing new starts. For devices that share the cores
  /// with the compilers.
  void hold(bool held);
  /// Is anything being compiled right now?
  [[nodiscard]] bool busy() const;
  /// Forgets everything that was submitted and ends the workers that are at it.
  void cancel();

  struct Compiled {
    std::string key;
    CompileReport report;
  };
  /// Takes what arrived, ends what is overdue, starts what waits; does not block. Throws Error when
  /// a worker says that there is no compiler, TransientError when there was one or when there is no
  /// room for what compilers write.
  [[nodiscard]] std::vector<Compiled> step();

  /// For poll_workers.
  void append_workers(std::vector<WorkerProcess*>& workers);

 private:
  struct Job {
    std::string key;
    Source source;
    bool tried = false;  ///< a worker died over it
  };
  struct Worker {
    std::unique_ptr<WorkerProcess> process;
    std::unique_ptr<Job> job;
    Clock::time_point started;
  };

  void start_jobs();
  void step_worker(Worker& worker, std::vector<Compiled>& done);
  void bury(Worker& worker, std::vector<Compiled>& done);

  WorkerHost& host_;
  Options options_;
  bool held_ = false;
  std::deque<std::unique_ptr<Job>> waiting_;
  std::vector<Worker> workers_;
};

}  // namespace kiln
