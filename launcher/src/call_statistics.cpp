// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/call_statistics.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "lookup/lookup.hpp"

namespace kiln {
namespace {

/// All statistics of the process. Its destructor runs when the process, or the library, ends.
class AllStatistics {
 public:
  AllStatistics() = default;
  AllStatistics(const AllStatistics&) = delete;
  AllStatistics& operator=(const AllStatistics&) = delete;
  ~AllStatistics() {
    try {
      write();
    } catch (const std::exception&) {
      // The process ends: nobody can be told.
    }
  }

  void add(std::shared_ptr<CallStatistics> statistics) {
    const std::lock_guard held(mutex_);
    all_.push_back(std::move(statistics));
  }

 private:
  // A forked child leaves what its parent counted to its parent.
  void write() {
    const std::lock_guard held(mutex_);
    std::vector<CallRecord> printed;
    bool prints = false;
    for (const std::shared_ptr<CallStatistics>& each : all_) {
      if (each->process() != ::getpid()) continue;
      prints = prints || each->file().empty();
      for (CallRecord& record : each->records()) {
        if (each->file().empty()) {
          printed.push_back(std::move(record));
        } else {
          record_calls(each->file(), record);
        }
      }
    }
    if (prints) std::fputs((statistics_line(printed) + "\n").c_str(), stderr);
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<CallStatistics>> all_;
};

AllStatistics& all_statistics() {
  static AllStatistics all;
  return all;
}

std::string counted_text(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::shared_ptr<CallStatistics> CallStatistics::make(const std::string& option,
                                                     const DeviceInfo& device) {
  const char* environment = std::getenv("KILN_STATISTICS");
  const std::string asked = !option.empty() || environment == nullptr ? option : environment;
  if (asked.empty() || asked == "0") return nullptr;
  std::shared_ptr<CallStatistics> made(
      new CallStatistics(asked == "1" ? "" : asked, identity_of(device)));
  all_statistics().add(made);
  return made;
}

CallCounter* CallStatistics::counter(const std::string& kernel, const std::string& problem,
                                     const Launcher::Match& match) {
  const std::lock_guard held(mutex_);
  CallCounter& added = counters_[{kernel, problem, match.config, match.grade}];
  if (!added.what.kernel.empty()) return &added;
  added.what = {kernel, problem, device_, to_string(match.grade), match.config, 0, 0};
  added.grade = match.grade;
  const bool is_ours = process_ == ::getpid();  // a forked child leaves the file to its parent
  if (!file_.empty() && is_ours && match.grade != Launcher::Grade::exact)
    record_calls(file_, added.what);
  return &added;
}

Launcher::Statistics CallStatistics::totals() const {
  const std::lock_guard held(mutex_);
  Launcher::Statistics totals;
  totals.counting = true;
  for (const auto& [key, each] : counters_) {
    const auto grade = static_cast<std::size_t>(each.grade);
    totals.selections.at(grade) += each.selections.load(std::memory_order_relaxed);
    totals.launches.at(grade) += each.launches.load(std::memory_order_relaxed);
  }
  return totals;
}

std::vector<CallRecord> CallStatistics::records() const {
  const std::lock_guard held(mutex_);
  std::vector<CallRecord> records;
  for (const auto& [key, each] : counters_) {
    CallRecord record = each.what;
    record.selections = static_cast<std::int64_t>(each.selections.load(std::memory_order_relaxed));
    record.launches = static_cast<std::int64_t>(each.launches.load(std::memory_order_relaxed));
    if (record.selections + record.launches > 0) records.push_back(std::move(record));
  }
  return records;
}

std::string statistics_line(const std::vector<CallRecord>& records) {
  std::uint64_t launches = 0;
  std::uint64_t selections = 0;
  std::set<std::pair<std::string, std::string>> problems;
  for (const CallRecord& record : records) {
    launches += static_cast<std::uint64_t>(record.launches);
    selections += static_cast<std::uint64_t>(record.selections);
    problems.emplace(record.kernel, record.problem);
  }
  std::string line = fmt::format(
      "kiln: {} and {} of {}", launches == 1 ? "1 launch" : fmt::format("{} launches", launches),
      counted_text(selections, "selection"), counted_text(problems.size(), "problem"));
  const bool by_launches = launches > 0;
  std::string grades;
  for (const Grade grade : kGrades) {
    std::uint64_t calls = 0;
    for (const CallRecord& record : records) {
      if (record.grade != name_of(grade)) continue;
      calls += static_cast<std::uint64_t>(by_launches ? record.launches : record.selections);
    }
    if (calls > 0)
      grades += fmt::format("{}{} {}", grades.empty() ? "" : ", ", calls, name_of(grade));
  }
  if (grades.empty()) return line;
  return line + fmt::format("; of the {} {}", by_launches ? "launches" : "selections", grades);
}

}  // namespace kiln
