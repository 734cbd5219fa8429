// Makes the list of calls with their references, and runs configs through it.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/repeated_calls.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/setting.hpp"
#include "tuner/rules/drawn_scalars.hpp"

namespace kiln {
namespace {

constexpr InputSet kSets[] = {InputSet::altered, InputSet::timing, InputSet::verify};

}  // namespace

Result<std::unique_ptr<RepeatedCalls>> RepeatedCalls::create(const ProblemBench::Tools& tools,
                                                             const KernelSpec& spec,
                                                             const Problem& problem,
                                                             std::uint64_t seed) {
  Result<std::unique_ptr<ProblemBench>> bench = ProblemBench::create(
      tools, spec, problem, seed, std::numeric_limits<double>::infinity(), VerifyInputs::repeated);
  if (!bench) return bench.failure();
  std::unique_ptr<RepeatedCalls> calls(new RepeatedCalls(tools, spec, problem));
  calls->bench_ = std::move(*bench);
  for (const InputSet set : {InputSet::verify, InputSet::altered, InputSet::timing})
    calls->calls_.push_back({set, {}, nullptr});
  const Setting setting(spec, problem, tools.device.info());
  for (std::size_t turn = 0; turn < kScalarDraws; ++turn) {
    ScalarValues scalars = draw_scalars(setting, seed, turn);
    if (scalars.empty()) break;
    calls->calls_.push_back({kSets[turn % std::size(kSets)], std::move(scalars), nullptr});
  }
  calls->calls_.push_back({InputSet::verify, {}, nullptr});
  for (Call& call : calls->calls_) {
    Result<ExpectedOutputs> expected = calls->bench_->expected_of(call.set, call.scalars);
    if (!expected) return expected.failure();
    call.expected = std::make_unique<ExpectedOutputs>(std::move(*expected));
  }
  return calls;
}

Result<double> RepeatedCalls::check(const Config& config, const ConfigRun& run) {
  double worst = 0;
  const Setting setting(spec_, problem_, tools_.device.info());
  for (const Call& call : calls_) {
    const Result<LaunchPlan> plan = setting.plan(config, call.scalars);
    if (!plan) return worst;
    Result<ConfigRun> here = run.rebound(bench_->bench(), *plan);
    if (!here) return here.failure();
    const bool is_first = &call == &calls_.front();
    const Result<double> error = is_first ? here->run_checked(call.set, *call.expected)
                                          : here->run_again(call.set, *call.expected);
    if (!error) {
      Failure failure = error.failure();
      const std::string values = scalars_text(call.scalars);
      failure.message =
          fmt::format("on {}{}: {}{}", problem_.text(), values.empty() ? "" : " with " + values,
                      failure.message, values.empty() ? "" : kScalarHint);
      return failure;
    }
    worst = std::max(worst, *error);
  }
  return worst;
}

}  // namespace kiln
