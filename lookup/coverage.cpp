// SPDX-License-Identifier: Apache-2.0
#include "lookup/coverage.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/problem.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "core/trial.hpp"
#include "db/close_configs.hpp"
#include "lookup/candidates.hpp"
#include "lookup/neighbours.hpp"

namespace kiln {
namespace {

constexpr const char* kDefaultGrade = "default";

const DeviceInfo* device_named(const std::string& identity, std::span<const BestRecord> rows) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const BestRecord& best) {
    return best.key.device == identity;
  });
  return found == rows.end() ? nullptr : &found->device_info;
}

/// What the default config loses on these problems: the median.
std::optional<double> loss_of_defaults(std::span<const Candidate> around) {
  std::vector<double> losses;
  for (const Candidate& each : around) {
    const BestRecord& best = *each.best;
    if (losses.size() >= kMaxNeighbours) break;
    if (best.default_time_ns > 0 && best.time_ns > 0)
      losses.push_back(std::max(1.0, best.default_time_ns / best.time_ns));
  }
  if (losses.empty()) return std::nullopt;
  return median(std::move(losses));
}

std::optional<double> slowdown_in(const BestRecord& best, const CallRecord& calls) {
  for (const CloseConfig& known : known_configs(best)) {
    if (known.config == calls.config) return std::max(1.0, known.slowdown);
  }
  if (calls.grade == kDefaultGrade && best.default_time_ns > 0 && best.time_ns > 0)
    return std::max(1.0, best.default_time_ns / best.time_ns);
  return std::nullopt;
}

/// The work of `b` as a multiple of that of `a`, by the spec's [cost].
double cost_ratio(const ProblemCost& a, const ProblemCost& b) {
  const double bytes = a.bytes > 0 ? b.bytes / a.bytes : 0;
  const double flops = a.flops > 0 ? b.flops / a.flops : 0;
  const double ratio = std::max(bytes, flops);
  return ratio > 0 ? ratio : 1;
}

void estimate_near(CallEstimate& estimate, const Setting& setting, const CallRecord& calls,
                   std::span<const Candidate> candidates) {
  const Candidate& nearest = candidates.front();
  const Setting measured(setting.spec(), nearest.measured, setting.device());
  estimate.best_ns = nearest.best->time_ns * cost_ratio(measured.cost(), setting.cost());
  if (calls.grade == kDefaultGrade) {
    estimate.slowdown = loss_of_defaults(candidates);
    return;
  }
  for (const ExpectedConfig& expected : rank_configs(neighbourhood_of(setting, candidates))) {
    if (expected.config == calls.config) estimate.slowdown = std::max(1.0, expected.slowdown);
  }
}

}  // namespace

double CallEstimate::ran_ns(const CallRecord& calls) const {
  if (!best_ns) return 0;
  return *best_ns * slowdown.value_or(1) * static_cast<double>(calls.calls());
}

double CallEstimate::worth_ns(const CallRecord& calls) const {
  if (!best_ns || !slowdown) return 0;
  return *best_ns * (*slowdown - 1) * static_cast<double>(calls.calls());
}

CallEstimate estimate_calls(const KernelSpec& spec, const CallRecord& calls,
                            std::span<const BestRecord> rows) {
  CallEstimate estimate;
  try {
    const Problem problem = Problem::parse(spec, calls.problem);
    const DeviceInfo* device = device_named(calls.device, rows);
    if (device == nullptr) {
      estimate.unknown = "nothing was tuned on its device";
      return estimate;
    }
    const Setting setting(spec, problem, *device);
    std::vector<Candidate> candidates = ranked_candidates(setting, rows);
    if (candidates.empty()) {
      estimate.unknown = "nothing like it was tuned";
      return estimate;
    }
    if (candidates.front().grade == Grade::exact) {
      estimate.is_tuned_now = true;
      estimate.best_ns = candidates.front().best->time_ns;
      estimate.slowdown = slowdown_in(*candidates.front().best, calls);
    } else {
      estimate_near(estimate, setting, calls, candidates);
    }
    if (!estimate.slowdown) estimate.unknown = "the config that ran was measured nowhere near";
  } catch (const Error& error) {
    estimate.unknown = error.what();
  }
  return estimate;
}

}  // namespace kiln
