// Runs the reference on larger and larger problems.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/reference_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/setting.hpp"
#include "tuner/rules/shrink_problem.hpp"

namespace kiln {
namespace {

constexpr double kFirstOperations = 2e3;
// A run of this length tells the next ones.
constexpr double kTellingSeconds = 20e-3;
constexpr double kExtraSeconds = 4e-3;    // on each of about a hundred other problems
constexpr double kAgreedSeconds = 50e-3;  // where the config that stands in must agree

}  // namespace

Result<ReferenceCost> measure_reference(const ProblemBench::Tools& tools, const KernelSpec& spec,
                                        const Problem& problem, std::uint64_t seed,
                                        const ReferenceCost& stated, double most_seconds) {
  ReferenceCost cost = stated;
  const Setting setting(spec, problem, tools.device.info());
  const double all = cpu_operations(setting);
  if (!has_cpu_reference(spec) || !spec.verify.reference.empty()) return cost;
  double last_operations = 0;
  double last_seconds = 0;
  double extra = 0;
  double agreed = 0;
  bool reached_whole = false;
  for (double wanted = kFirstOperations;; wanted *= 4) {
    const Problem small = shrink_problem(setting, wanted);
    const double operations = cpu_operations({spec, small, tools.device.info()});
    const bool is_whole = small == problem;
    if (operations > last_operations || is_whole) {
      Result<std::unique_ptr<ProblemBench>> bench =
          ProblemBench::create(tools, spec, small, seed, std::numeric_limits<double>::infinity());
      if (!bench) return bench.failure();
      const double seconds = (*bench)->reference_seconds();
      const bool grew = last_seconds > 0 && operations > last_operations;
      const double exponent = grew ? std::clamp(std::log(seconds / last_seconds) /
                                                    std::log(operations / last_operations),
                                                0.5, 4.0)
                                   : 1.0;
      cost.seconds = seconds * std::pow(std::max(all / operations, 1.0), exponent);
      if (seconds <= kExtraSeconds) extra = operations;
      if (seconds <= kAgreedSeconds) agreed = operations;
      last_operations = operations;
      last_seconds = seconds;
    }
    reached_whole = is_whole;
    if (is_whole || last_seconds > kTellingSeconds || wanted >= all) break;
  }
  // What was not reached took less than it may. Where the smallest problem takes longer, no other
  // can be had.
  if (last_seconds > kExtraSeconds && extra > 0)
    cost.extra_operations = std::min(cost.extra_operations, extra);
  if (!reached_whole && agreed > 0)
    cost.limits.agreed_operations = std::min(cost.limits.agreed_operations, agreed);
  if (cost.seconds > most_seconds) cost.limits.max_operations = cost.limits.patient_operations = 0;
  return cost;
}

}  // namespace kiln
