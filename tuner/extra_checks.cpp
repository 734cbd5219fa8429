// Checks on other sizes, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/extra_checks.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/hash.hpp"
#include "tuner/shrink_problem.hpp"

namespace kiln {

Result<std::unique_ptr<ExtraChecks>> ExtraChecks::create(const ProblemBench::Tools& tools,
                                                         const KernelSpec& spec,
                                                         const Problem& problem, std::uint64_t seed,
                                                         double max_operations) {
  std::unique_ptr<ExtraChecks> checks(new ExtraChecks(tools, spec, problem, seed));
  if (max_operations <= 0) return checks;
  if (spec.verify.reference.empty() && spec.verify.formulas.empty()) return checks;
  for (Problem& extra : extra_problems(spec, problem, tools.device.info(), max_operations)) {
    Result<std::unique_ptr<ProblemBench>> bench =
        ProblemBench::create(tools, spec, extra, ++seed, std::numeric_limits<double>::infinity(),
                             VerifyInputs::with_edges);
    if (bench) {
      checks->extras_.push_back({std::move(extra), std::move(*bench)});
    } else if (bench.failure().sticky) {
      return bench.failure();
    }
  }
  return checks;
}

Result<double> ExtraChecks::check_on(Extra& extra, const LaunchPlan& plan, const ConfigRun& run) {
  Result<ConfigRun> here = run.rebound(extra.bench->bench(), plan);
  if (!here) return here.failure();
  double worst = 0;
  for (const InputSet set : {InputSet::verify, InputSet::timing}) {
    const Result<double> error = here->run_checked(set, extra.bench->expected(set));
    if (!error) return error;
    worst = std::max(worst, *error);
  }
  return worst;
}

Result<double> ExtraChecks::check(const Config& config, const ConfigRun& run) {
  double worst = 0;
  if (extras_.empty()) return worst;
  const DeviceInfo& device = tools_.device.info();
  const std::string source = renderer_.render(config, problem_, device).text;
  const std::uint64_t fresh = seed_ ^ hash64(config.text());
  if (Status status = extras_.front().bench->reseed(fresh); !status) return status.failure();
  for (Extra& extra : extras_) {
    const Result<LaunchPlan> plan = make_launch_plan(spec_, config, extra.problem, device);
    if (!plan || renderer_.render(config, extra.problem, device).text != source) continue;
    const Result<double> error = check_on(extra, *plan, run);
    if (error) {
      worst = std::max(worst, *error);
      continue;
    }
    Failure failure = error.failure();
    failure.message = fmt::format("on {}: {}", extra.problem.text(), failure.message);
    return failure;
  }
  return worst;
}

}  // namespace kiln
