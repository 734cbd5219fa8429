// A supervisor in a process of its own, which a test may kill, and what it acknowledged before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tuner/session/session.hpp"

namespace kiln {

/// Runs tune() in a forked child. Each stored trial is acknowledged with a line in a file, as the
/// command line does with a line on the terminal.
class TuningChild {
 public:
  TuningChild(const TuneRequest& request, const std::filesystem::path& database,
              const std::filesystem::path& acknowledged) {
    pid_ = ::fork();
    if (pid_ == 0) ::_exit(run(request, database, acknowledged));
  }
  ~TuningChild() {
    kill();
    (void)wait();
  }
  TuningChild(const TuningChild&) = delete;
  TuningChild& operator=(const TuningChild&) = delete;

  void kill() {
    if (!status_) ::kill(pid_, SIGKILL);
  }
  /// Has it ended by itself or by a signal?
  [[nodiscard]] bool has_ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
  }
  /// Waits for the end; true: tune() returned.
  bool wait() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, 0) == pid_) status_ = status;
    return status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
  }
  /// Waits for the end until `when`; true: it ended.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point when) {
    while (!has_ended() && std::chrono::steady_clock::now() < when)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return has_ended();
  }

  /// Its worker processes at this moment.
  [[nodiscard]] std::vector<pid_t> workers() const {
    const std::string pid = std::to_string(pid_);
    std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
    std::vector<pid_t> workers;
    for (pid_t worker = 0; children >> worker;) workers.push_back(worker);
    return workers;
  }

 private:
  class Acknowledger : public SessionObserver {
   public:
    explicit Acknowledger(const std::filesystem::path& file) : lines_(file, std::ios::app) {}
    void on_trial(const TrialRecord& record, const SessionProgress&) override {
      lines_ << record.sequence << ' ' << record.trial.config.text() << std::endl;
    }

   private:
    std::ofstream lines_;
  };

  static int run(const TuneRequest& request, const std::filesystem::path& database,
                 const std::filesystem::path& acknowledged) {
    try {
      Store store(database, Store::Mode::write);
      Acknowledger observer(acknowledged);
      (void)tune(request, store, observer);
      return 0;
    } catch (const std::exception& error) {
      ::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }

  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace kiln
