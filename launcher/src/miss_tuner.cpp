// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/miss_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/started_thread.hpp"
#include "db/database_place.hpp"
#include "db/server/server_place.hpp"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = Launcher::Warning::Kind;

constexpr double kLeastSeconds = 1;   // less is not worth a session
constexpr double kGraceSeconds = 15;  // a session may end this much later: its last config, its end
constexpr double kBusySeconds = 0.5;  // between two tries while another process writes the database
constexpr std::size_t kMostJobs = 4096;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  constexpr double kMostSeconds = 1e9;
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::clamp(seconds, 0.0, kMostSeconds) * 1000));
}

// Returns the program's last line, which states why it ended, without the prefix "kiln: error: ".
std::string last_line(const std::string& said) {
  const std::size_t end = said.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t before = said.rfind('\n', end);
  std::string line = said.substr(before + 1, end - before);
  constexpr std::string_view kPrefix = "kiln: error: ";
  if (line.starts_with(kPrefix)) line.erase(0, kPrefix.size());
  return line;
}

std::string trouble_of(const TunerEnd& end) {
  switch (end.how) {
    case TunerEnd::How::exited:
      if (last_line(end.said).empty()) return "the time was too short to find a best";
      return fmt::format("`kiln tune` ended with exit code {}: {}", end.exit_code,
                         last_line(end.said));
    case TunerEnd::How::too_late:
      return "`kiln tune` did not end in time and was killed";
    case TunerEnd::How::stopped:
      return "`kiln tune` was stopped";
    case TunerEnd::How::not_started:
      return "`kiln tune` did not start: " + end.said;
  }
  return "";
}

}  // namespace

MissTuner::MissTuner(const Launcher::Options& options, const DeviceInfo& device,
                     Selection selection, Listener listener)
    : options_(options),
      device_(device),
      database_(options.databases.empty() ? default_database_path()
                                          : std::filesystem::path(options.databases.front())),
      listener_(std::move(listener)) {
  if (options.tune_on_miss == Launcher::TuneOnMiss::never) return;
  TunerProgram program = find_tuner(options.tuner);
  if (selection == Selection::pinned) {
    warn(Kind::tuning_unavailable, "tune_on_miss: a lock pins the selection; nothing is tuned");
  } else if (database_.empty()) {
    warn(Kind::tuning_unavailable,
         std::string("tune_on_miss: ") + kNoDatabasePlace + "; nothing is tuned");
  } else if (!program.missing.empty()) {
    warn(Kind::tuning_unavailable,
         "tune_on_miss: " + program.missing +
             "; install Kiln's program or name it in Options::tuner; nothing is tuned");
  } else {
    program_ = std::move(program.path);
    enabled_ = true;
  }
}

MissTuner::~MissTuner() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

MissTuner::Job* MissTuner::job_of(const Miss& miss) {
  const std::pair key(miss.kernel, miss.problem);
  if (const auto known = jobs_.find(key); known != jobs_.end()) return known->second.get();
  if (jobs_.size() >= kMostJobs) return nullptr;
  if (options_.tune_budget_seconds - state_.seconds < kLeastSeconds) {
    warn_of_budget();
    return nullptr;
  }
  if (!start_thread()) return nullptr;
  Job* job = jobs_.emplace(key, std::make_unique<Job>()).first->second.get();
  job->miss = miss;
  job->wanted_until = Clock::now() + milliseconds_of(options_.tune_seconds + kGraceSeconds);
  queue_.push_back(job);
  changed_.notify_all();
  return job;
}

bool MissTuner::start_thread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = started_thread([this] { work(); });
    return true;
  } catch (const Error& error) {
    if (!std::exchange(warned_of_thread_, true)) {
      state_.warnings.push_back(
          {Kind::tuning_failed,
           fmt::format("tune_on_miss: {}; the next miss tries again", error.what())});
    }
    return false;
  }
}

bool MissTuner::want(const Miss& miss) {
  if (!enabled_) return false;
  Held held(mutex_);
  Job* job = job_of(miss);
  if (job == nullptr || job->state != Job::State::waiting) return false;
  job->asked_texts.insert(miss.asked_text);
  if (options_.tune_on_miss != Launcher::TuneOnMiss::first_use) return false;
  // Calls that come while others wait wait with them, no longer.
  changed_.wait_until(held, job->wanted_until, [&] { return job->state != Job::State::waiting; });
  return job->state == Job::State::tuned;
}

Launcher::Tuning MissTuner::state() const {
  const std::lock_guard held(mutex_);
  Launcher::Tuning state = state_;
  state.waiting = queue_.size();
  return state;
}

bool MissTuner::wait(double seconds) const {
  Held held(mutex_);
  return changed_.wait_for(held, milliseconds_of(seconds), [&] { return queue_.empty(); });
}

bool MissTuner::stopping() const {
  const std::lock_guard held(mutex_);
  return stop_;
}

void MissTuner::warn(Kind kind, std::string message) {
  const std::lock_guard held(mutex_);
  state_.warnings.push_back({kind, std::move(message)});
}

void MissTuner::warn_of_budget() {
  if (warned_of_budget_) return;
  warned_of_budget_ = true;
  state_.warnings.push_back(
      {Kind::tuning_budget_used,
       fmt::format("tune_on_miss: the budget of {} s is used up; other problems are not tuned",
                   options_.tune_budget_seconds)});
}

void MissTuner::work() {
  Held held(mutex_);
  while (true) {
    changed_.wait(held, [&] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    Job& job = *queue_.front();
    const double left = options_.tune_budget_seconds - state_.seconds;
    const bool has_time = left >= kLeastSeconds;
    if (!has_time) warn_of_budget();
    held.unlock();
    const Clock::time_point start = Clock::now();
    bool tuned = false;
    try {
      tuned = has_time && tune(job, std::min(options_.tune_seconds, left));
    } catch (const std::exception&) {
      // Not even memory for a warning: the problem stays untuned, and the application runs on.
    }
    held.lock();
    job.state = tuned ? Job::State::tuned : Job::State::failed;
    queue_.pop_front();
    (tuned ? state_.tuned : state_.failed) += 1;
    state_.seconds += seconds_since(start);
    changed_.notify_all();
  }
}

bool MissTuner::tune(Job& job, double seconds) {
  const Miss& miss = job.miss;
  try {
    const TunerEnd end = run_session(miss, seconds);
    if (end.how == TunerEnd::How::stopped) return false;
    // Whatever the program says of itself: what counts is that a best is there.
    if (const std::optional<BestRecord> best = stored_best(miss)) {
      listener_.add_best(miss, *best);
      std::set<std::string> texts;
      {
        const std::lock_guard held(mutex_);
        texts = job.asked_texts;
      }
      listener_.forget(miss, texts);
      return true;
    }
    warn(Kind::tuning_failed, fmt::format("{} {}: {}", miss.kernel, miss.problem, trouble_of(end)));
  } catch (const std::exception& error) {
    warn(Kind::tuning_failed, fmt::format("{} {}: {}", miss.kernel, miss.problem, error.what()));
  }
  return false;
}

TunerEnd MissTuner::run_session(const Miss& miss, double seconds) const {
  std::vector<std::string> words = {"tune",       miss.kernel, "--problem",
                                    miss.problem, "--device",  selector_of(device_),
                                    "--db",       database_,   "--quiet"};
  if (timing_of(options_) == Timing::graph) words.insert(words.end(), {"--timing", "graph"});
  for (const std::string& path : options_.kernel_paths) {
    words.insert(words.end(), {"--kernel-path", path});
  }
  // The application's own folder: its author chose to run what it holds.
  if (miss.kernel.find('/') != std::string::npos) words.push_back("--trust");
  words.insert(words.end(), {"--seconds", ""});
  const Clock::time_point start = Clock::now();
  while (true) {
    const double left = seconds - seconds_since(start);
    words.back() = fmt::format("{:.3f}", left);
    TunerEnd end = run_tuner(program_, words, milliseconds_of(left + kGraceSeconds),
                             [this] { return stopping(); });
    // One process at a time writes a database. When the other is done, the problem may be, too.
    const bool is_busy = end.how == TunerEnd::How::exited &&
                         end.exit_code == static_cast<int>(ExitCode::bad_database) &&
                         end.said.find("is being written by") != std::string::npos;
    if (!is_busy || seconds - seconds_since(start) < kLeastSeconds + kBusySeconds) return end;
    Held held(mutex_);
    if (changed_.wait_for(held, milliseconds_of(kBusySeconds), [this] { return stop_; })) {
      end.how = TunerEnd::How::stopped;
      return end;
    }
  }
}

std::optional<BestRecord> MissTuner::stored_best(const Miss& miss) const {
  if (!may_exist(database_)) return std::nullopt;
  for (BestRecord& best : Store(database_, Store::Mode::read).bests(miss.spec_name)) {
    if (best.key.problem == miss.problem && best.key.device == identity_of(device_) &&
        best.key.timing == timing_of(options_) && best.verdict != Verdict::none) {
      return std::move(best);
    }
  }
  return std::nullopt;
}

}  // namespace kiln
