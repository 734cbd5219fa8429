// SPDX-License-Identifier: Apache-2.0
#include "lookup/candidates.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "db/session_options.hpp"
#include "db/stored_problem.hpp"

namespace kiln {
namespace {

// A new driver or compiler seldom changes which config is best, so a stale row goes behind fresh
// ones as far as a problem this many doublings further away does; another source is another kernel.
constexpr double kNewVersion = 1;
constexpr double kNewSource = 4;
// So does a row of another timing: the fastest config mostly stays among the fastest.
constexpr double kOtherTiming = 1;

std::optional<Problem> problem_of(const KernelSpec& spec, const BestRecord& best) {
  try {
    return Problem::make(spec, stored_fields(best.problem_json, best.session));
  } catch (const Error&) {
    return std::nullopt;  // written for another version of the spec, or damaged
  }
}

std::optional<Grade> grade_of(const BestRecord& best, const DeviceInfo& device,
                              bool is_this_problem) {
  const DeviceInfo& measured = best.device_info;
  if (measured.backend != device.backend) {
    return std::nullopt;
  }
  if (best.key.device == identity_of(device)) {
    return is_this_problem ? Grade::exact : Grade::near_size;
  }
  if (measured.architecture == device.architecture) {
    return Grade::same_arch;
  }
  if (measured.vendor == device.vendor) {
    return Grade::same_vendor;
  }
  return std::nullopt;
}

void note_changes(Candidate& candidate, const DeviceInfo& device) {
  for (DeviceChange& change : changes_since(*candidate.best, device)) {
    if (candidate.best->layer != kLockedLayer) candidate.staleness += change.doublings;
    candidate.stale.push_back(std::move(change.text));
  }
}

// Adds how much staler each is than the freshest of its grade. What is stale alike, as on a machine
// with another driver, answers as it does where it was tuned.
void add_staleness(std::vector<Candidate>& candidates) {
  std::map<Grade, double> freshest;
  for (const Candidate& each : candidates) {
    const auto known = freshest.try_emplace(each.grade, each.staleness).first;
    known->second = std::min(known->second, each.staleness);
  }
  for (Candidate& each : candidates) each.handicap += each.staleness - freshest[each.grade];
}

// Adds how much further away the device of each is than the nearest one, exact rows left out: where
// all were tuned on one sibling, they answer as they do there.
void add_devices(std::vector<Candidate>& candidates, const DeviceInfo& device) {
  const auto gap_of = [&](const Candidate& each) {
    return device_gap(device, each.best->device_info);
  };
  double nearest = kStrangerApart;
  for (const Candidate& each : candidates) {
    if (each.grade != Grade::exact) nearest = std::min(nearest, gap_of(each));
  }
  for (Candidate& each : candidates) {
    if (each.grade != Grade::exact) each.handicap += gap_of(each) - nearest;
  }
}

// Of a problem and a device that were measured by both timings, only the rows of this one answer.
void leave_out_other_timings(std::vector<Candidate>& candidates, Timing timing) {
  const auto other =
      std::partition(candidates.begin(), candidates.end(),
                     [&](const Candidate& each) { return each.best->key.timing == timing; });
  const auto is_measured = [&](const Candidate& each) {
    return std::any_of(candidates.begin(), other, [&](const Candidate& known) {
      return known.best->key.device == each.best->key.device && known.measured == each.measured;
    });
  };
  candidates.erase(std::remove_if(other, candidates.end(), is_measured), candidates.end());
}

// Nothing but content decides, so that the order of rows in a database does not show: of two that
// match alike the one of the better grade, then of the earlier layer, then the newer one, then the
// one whose text sorts first.
bool goes_before(const Candidate& a, const Candidate& b) {
  const auto match = [](const Candidate& each) {
    const int trust = each.grade == Grade::exact ? 0 : each.grade == Grade::fallback ? 2 : 1;
    return std::tuple(trust, each.likeness.distance + each.handicap, each.likeness.unlike.size(),
                      each.grade, each.best->layer);
  };
  if (match(a) != match(b)) return match(a) < match(b);
  if (a.best->published_at != b.best->published_at) {
    return a.best->published_at > b.best->published_at;
  }
  return std::tuple(a.best->config.text(), a.problem) <
         std::tuple(b.best->config.text(), b.problem);
}

}  // namespace

std::vector<DeviceChange> changes_since(const BestRecord& best, const DeviceInfo& device) {
  std::vector<DeviceChange> changes;
  const auto compare = [&](const char* what, const std::string& then, const std::string& now) {
    if (then != now)
      changes.push_back({fmt::format("{} {} is now {}", what, then, now), kNewVersion});
  };
  compare("driver", best.key.driver, device.driver);
  if (!device.compiler.empty()) compare("compiler", best.key.compiler, device.compiler);
  return changes;
}

KernelIdentity::KernelIdentity(const KernelSpec& spec)
    : spec_(spec), computation_(computation_hash(spec)) {}

bool KernelIdentity::has(const BestRecord& best) const {
  if (best.key.kernel != spec_.name) return false;
  if (const auto computes = find_option(best.key.options, session_option::kComputes))
    return *computes == computation_;
  const bool is_shipped = best.layer == kShippedLayer;
  return !is_shipped || spec_.shipped_computation.empty() ||
         spec_.shipped_computation == computation_;
}

std::vector<Candidate> ranked_candidates(const Setting& setting, std::span<const BestRecord> bests,
                                         Devices devices, Timing timing) {
  const KernelSpec& spec = setting.spec();
  const Problem& problem = setting.problem();
  const DeviceInfo& device = setting.device();
  std::vector<Candidate> candidates;
  const KernelIdentity kernel(spec);
  for (const BestRecord& best : bests) {
    if (!kernel.has(best) || best.verdict == Verdict::none) {
      continue;
    }
    const std::optional<Problem> measured = problem_of(spec, best);
    const std::optional<Likeness> alike =
        measured ? likeness(spec, problem, *measured) : std::nullopt;
    // What the spec leaves out of distances (leading dimensions) does not make problems equal.
    std::optional<Grade> grade =
        alike ? grade_of(best, device, *measured == problem) : std::nullopt;
    const bool same_kind = best.device_info.is_cpu == device.is_cpu;
    if (alike && !grade && devices == Devices::any && same_kind) grade = Grade::fallback;
    if (grade) {
      candidates.push_back({&best,
                            *grade,
                            *alike,
                            *measured,
                            measured->short_text(spec),
                            {},
                            alignment_gap(spec, problem, *measured)});
      if (best.key.timing != timing) candidates.back().handicap += kOtherTiming;
      note_changes(candidates.back(), device);
    }
  }
  leave_out_other_timings(candidates, timing);
  add_staleness(candidates);
  add_devices(candidates, device);
  std::sort(candidates.begin(), candidates.end(), goes_before);
  return candidates;
}

std::string demote_changed(std::span<Candidate> candidates, SourceCheck& sources) {
  const auto is_changed = [&](Candidate& each) {
    if (!each.changed) {
      std::string change = sources.change_in(*each.best);
      each.changed = !change.empty();
      if (*each.changed) each.stale.push_back(std::move(change));
    }
    return *each.changed;
  };
  Candidate& first = candidates.front();
  if (first.changed || !is_changed(first) || first.best->layer == kLockedLayer) return "";
  Candidate demoted = first;
  demoted.handicap += kNewSource;
  for (std::size_t i = 1; i < std::min(candidates.size(), kMostChecked); ++i) {
    if (!goes_before(candidates[i], demoted)) break;
    if (is_changed(candidates[i])) continue;
    for (Candidate& each : candidates.first(i)) each.handicap += kNewSource;
    std::sort(candidates.begin(), candidates.end(), goes_before);
    return demoted.stale.back();
  }
  return "";
}

}  // namespace kiln
