// Hands sources to compile workers, collects binaries, and replaces workers that die or hang.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/compile_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/transient_error.hpp"

namespace kiln {

CompilePool::CompilePool(WorkerHost& host, Options options)
    : host_(host), options_(std::move(options)), member_(options_.slots) {
  workers_.resize(std::max<std::size_t>(options_.workers, 1));
}

void CompilePool::submit(const std::string& key, Source source) {
  waiting_.push_back(std::make_unique<Job>(Job{key, std::move(source), false}));
  start_jobs();
}

void CompilePool::hold(bool held) {
  held_ = held;
  start_jobs();
}

bool CompilePool::busy() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.job != nullptr; });
}

void CompilePool::cancel() {
  waiting_.clear();
  for (Worker& worker : workers_) {
    if (worker.job) worker.process.reset();
    end_job(worker);
  }
  start_jobs();
}

void CompilePool::end_job(Worker& worker) {
  worker.job.reset();
  worker.slot.reset();
}

void CompilePool::start_jobs() {
  starved_ = false;
  for (Worker& worker : workers_) {
    if (held_ || waiting_.empty()) break;
    if (worker.job) continue;
    starved_ = !member_.take();
    if (starved_) return;
    worker.slot = std::make_unique<CompileSlot>(member_);
    start_next_job(worker);
  }
  member_.rest();
}

void CompilePool::start_next_job(Worker& worker) {
  if (!worker.process) {
    const WorkerOptions worker_options{WorkerKind::compile, options_.target.backend,
                                       options_.target.ordinal};
    ChildCommand command = host_.command(worker_options);
    command.memory_bytes = options_.memory_bytes;
    worker.process = std::make_unique<WorkerProcess>(command);
  }
  worker.job = std::move(waiting_.front());
  waiting_.pop_front();
  worker.started = Clock::now();
  worker.process->set_deadline(worker.started + options_.deadline);
  worker.process->send(encode(CompileJob{options_.target, worker.job->source, options_.use}));
}

std::vector<CompilePool::Compiled> CompilePool::step() {
  std::vector<Compiled> done;
  for (Worker& worker : workers_) {
    if (worker.process) step_worker(worker, done);
  }
  const bool one_failed = std::any_of(done.begin(), done.end(), [](const Compiled& compiled) {
    return compiled.report.failure.has_value();
  });
  if (one_failed) host_.require_room(options_.target.backend);
  start_jobs();
  return done;
}

void CompilePool::step_worker(Worker& worker, std::vector<Compiled>& done) {
  try {
    while (const auto frame = worker.process->receive()) take_answer(worker, *frame, done);
  } catch (const InputError&) {
    worker.process->kill();  // it no longer makes sense
  }
  if (worker.process->overdue() || !worker.process->alive()) bury(worker, done);
}

void CompilePool::take_answer(Worker& worker, const Frame& frame, std::vector<Compiled>& done) {
  const std::string type = type_of(frame);
  if (type == Unavailable::kType) {
    const Unavailable unavailable = decode<Unavailable>(frame);
    // An OpenCL compiler is part of its device's driver, which was there a moment ago.
    if (options_.target.backend == "opencl" && unavailable.code == ExitCode::no_device)
      throw TransientError(unavailable.code, unavailable.reason);
    throw Error(unavailable.code, unavailable.reason);
  }
  if (type != CompileReport::kType || !worker.job) throw InputError("an answer that nobody awaits");
  done.push_back({worker.job->key, decode<CompileReport>(frame)});
  end_job(worker);
  worker.process->set_deadline(std::nullopt);
}

/// The worker is dead or must die; what becomes of its source?
void CompilePool::bury(Worker& worker, std::vector<Compiled>& done) {
  CompileReport report;
  report.compile_ns = std::chrono::nanoseconds(Clock::now() - worker.started).count();
  const bool overdue = worker.process->alive();
  if (overdue) {
    worker.process->kill();
    report.failure =
        Failure{Outcome::compile_timeout,
                fmt::format("the compiler did not finish within {:.3g} s and was killed",
                            std::chrono::duration<double>(options_.deadline).count())};
  } else {
    report.failure = Failure{Outcome::compile_crash, worker.process->obituary()};
    WorkerHost::require_system(report.failure->message);
  }
  worker.process.reset();
  if (!worker.job) return;
  // It may have died of what others left in its memory, or of a hand from outside: once more, in a
  // new process.
  if (!overdue && !worker.job->tried) {
    worker.job->tried = true;
    waiting_.push_front(std::move(worker.job));
    worker.slot.reset();
    return;
  }
  done.push_back({worker.job->key, std::move(report)});
  end_job(worker);
}

void CompilePool::append_workers(std::vector<WorkerProcess*>& workers) {
  for (Worker& worker : workers_) {
    if (worker.process) workers.push_back(worker.process.get());
  }
}

}  // namespace kiln
