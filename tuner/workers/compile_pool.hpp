// CompilePool: compiles sources in worker processes, which may crash or hang.
//
// Each worker compiles one source at a time, so a death has one suspect. Workers start when there
// is work for them. Use it only from the supervisor's thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tuner/workers/compile_slots.hpp"
#include "tuner/workers/messages.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {

class CompilePool {
 public:
  struct Options {
    DeviceInfo target;
    std::size_t workers = 1;
    std::chrono::milliseconds deadline{60000};
    std::uint64_t memory_bytes = 0;  ///< memory limit of one worker; 0: no limit
    BinaryUse use = BinaryUse::kept;
    CompileSlots* slots = nullptr;  ///< shared with the pools of other sessions; must outlive it
  };
  /// `host` must outlive it.
  CompilePool(WorkerHost& host, Options options);

  /// The report returns `key`.
  void submit(const std::string& key, Source source);
  [[nodiscard]] std::size_t worker_count() const { return options_.workers; }

  /// While held, running compiles go on and no new one starts. For devices that share the cores
  /// with the compilers.
  void hold(bool held);
  /// Returns whether a source is being compiled.
  [[nodiscard]] bool busy() const;
  /// Returns whether a source waits for a slot of another session. Nothing wakes this one when the
  /// slot is free: call step() again soon.
  [[nodiscard]] bool starved() const { return starved_; }
  /// Drops all submitted sources and ends the workers that compile them.
  void cancel();

  struct Compiled {
    std::string key;
    CompileReport report;
  };
  /// Receives reports, ends overdue compiles and starts waiting ones. Does not block. Throws Error
  /// if a worker reports that there is no compiler. Throws TransientError if there was a compiler
  /// before, or if there is no room for compiler output.
  [[nodiscard]] std::vector<Compiled> step();

  /// For poll_workers.
  void append_workers(std::vector<WorkerProcess*>& workers);

 private:
  struct Job {
    std::string key;
    Source source;
    bool tried = false;  ///< a worker died while it compiled this source
  };
  struct Worker {
    std::unique_ptr<WorkerProcess> process;
    std::unique_ptr<Job> job;
    std::unique_ptr<CompileSlot> slot;  ///< while there is a job
    Clock::time_point started;
  };

  void start_jobs();
  void start_next_job(Worker& worker);
  static void end_job(Worker& worker);
  void step_worker(Worker& worker, std::vector<Compiled>& done);
  /// Throws InputError if the message makes no sense.
  void take_answer(Worker& worker, const Frame& frame, std::vector<Compiled>& done);
  void bury(Worker& worker, std::vector<Compiled>& done);

  WorkerHost& host_;
  Options options_;
  CompileSlots::Member member_;
  bool held_ = false;
  bool starved_ = false;
  std::deque<std::unique_ptr<Job>> waiting_;
  std::vector<Worker> workers_;
};

}  // namespace kiln
