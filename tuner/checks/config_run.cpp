// Loads a binary, binds it to a problem's buffers, runs it, and inspects outputs and red zones.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/config_run.hpp"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

BufferLookup lookup_in(const Bench& bench, InputSet set) {
  return [&bench, set](const std::string& name) {
    const Buffer* argument = bench.data.find(name, set);
    return argument != nullptr ? argument : bench.workspaces.find(name);
  };
}

/// What a block of any step may have; the device's limit where the static part is not known.
std::int64_t shared_bytes_of(const Bench& bench, const LaunchPlan& plan, std::int64_t fixed) {
  if (fixed < 0) return bench.device.info().max_shared_bytes_optin;
  std::int64_t dynamic = 0;
  for (const StepPlan& step : plan.steps)
    dynamic = std::max<std::int64_t>(dynamic, step.shared_bytes);
  return fixed + dynamic;
}

}  // namespace

ConfigRun::ConfigRun(const Bench& bench, const LaunchPlan& plan, std::shared_ptr<Module> module,
                     std::int64_t static_shared_bytes)
    : bench_(bench),
      module_(std::move(module)),
      static_shared_bytes_(static_shared_bytes),
      shared_bytes_(shared_bytes_of(bench, plan, static_shared_bytes)),
      verify_(plan, *module_, lookup_in(bench_, InputSet::verify)),
      timing_(plan, *module_, lookup_in(bench_, InputSet::timing)) {}

ConfigRun::~ConfigRun() {
  // A failure here has been seen by whoever waited for the work.
  if (module_) (void)bench_.device.synchronize();
}

Result<ConfigRun> ConfigRun::load(const Bench& bench, const LaunchPlan& plan,
                                  const Binary& binary) {
  Result<std::unique_ptr<Module>> module = bench.device.load(binary);
  if (!module) return module.failure();
  if (Status status = bench.workspaces.prepare(plan); !status) return status.failure();
  return ConfigRun(bench, plan, std::move(*module), binary.shared_bytes);
}

Result<ConfigRun> ConfigRun::rebound(const Bench& bench, const LaunchPlan& plan) const {
  if (Status status = bench.workspaces.prepare(plan); !status) return status.failure();
  return ConfigRun(bench, plan, module_, static_shared_bytes_);
}

Status ConfigRun::prepare(InputSet set) {
  if (Status status = bench_.data.load(set); !status) return status;
  return bench_.workspaces.poison();
}

Status ConfigRun::prepare_timing() {
  if (Status status = bench_.data.load_for_timing(); !status) return status;
  return bench_.workspaces.poison();
}

Status ConfigRun::run_once(InputSet set) {
  if (Status status = prepare(set); !status) return status;
  return run_steps(set);
}

Status ConfigRun::run_steps(InputSet set) {
  // Last, for the kernels that filled the arguments use shared memory, too.
  if (shared_bytes_ > 0) {
    if (Status status = bench_.toolbox.poison_shared(shared_bytes_); !status) return status;
  }
  const Result<EventId> from = bench_.device.record();
  if (!from) return from.failure();
  if (Status status = sequence(set).enqueue(bench_.device); !status) return status;
  const Result<EventId> to = bench_.device.record();
  if (!to) return to.failure();
  if (Status status = bench_.device.synchronize(); !status) return status;
  const Result<double> elapsed = bench_.device.elapsed_ns(*from, *to);
  if (!elapsed) return elapsed.failure();
  last_run_ns_ = *elapsed;
  return Done{};
}

Result<std::string> ConfigRun::damage(InputSet set) {
  Result<std::string> of_workspaces = bench_.workspaces.inspect();
  if (!of_workspaces) return of_workspaces;
  Result<std::string> of_data = bench_.data.inspect(set);
  return !of_data || !of_data->empty() ? of_data : of_workspaces;
}

Status ConfigRun::inspect(InputSet set) {
  const Result<std::string> found = damage(set);
  if (!found) return found.failure();
  if (!found->empty()) return Failure{Outcome::wrong_result, *found};
  return Done{};
}

Status ConfigRun::run_over_other_poison(InputSet set, const ExpectedOutputs& expected) {
  bench_.data.set_poison(Poison::other);
  const Status again = run_once(set);
  bench_.data.set_poison(Poison::usual);
  if (!again) return again;
  const Result<ExpectedOutputs::Check> check =
      expected.check(bench_.device, bench_.toolbox, lookup_in(bench_, set));
  if (!check) return check.failure();
  if (check->mismatch.empty()) return Done{};
  return Failure{Outcome::wrong_result, "over other values in its outputs: " + check->mismatch +
                                            "; what is not written holds them still"};
}

Result<ExpectedOutputs::Check> ConfigRun::check(InputSet set, const ExpectedOutputs& expected) {
  const Result<std::string> found = damage(set);
  if (!found) return found.failure();
  Result<ExpectedOutputs::Check> check =
      expected.check(bench_.device, bench_.toolbox, lookup_in(bench_, set));
  if (!check) return check;
  const std::string& complaint = found->empty() ? check->mismatch : *found;
  if (!complaint.empty()) return Failure{Outcome::wrong_result, complaint};
  return check;
}

Result<double> ConfigRun::run_checked(InputSet set, const ExpectedOutputs& expected) {
  if (Status status = run_once(set); !status) return status.failure();
  const Result<ExpectedOutputs::Check> found = check(set, expected);
  if (!found) return found.failure();
  if (found->may_be_unwritten) {
    if (Status status = run_over_other_poison(set, expected); !status) return status.failure();
  }
  return found->max_error;
}

Result<double> ConfigRun::run_again(InputSet set, const ExpectedOutputs& expected) {
  // Elements that a config leaves hold what another call wrote; only poison tells that they are
  // left.
  const Before before = expected.is_in_part() ? Before::poison : Before::as_left;
  if (Status status = bench_.data.load(set, before); !status) return status.failure();
  if (Status status = run_steps(set); !status) return status.failure();
  const Result<ExpectedOutputs::Check> found = check(set, expected);
  if (found) return found->max_error;
  Failure failure = found.failure();
  if (failure.outcome == Outcome::wrong_result)
    failure.message = "called again, over what the call before has left: " + failure.message;
  return failure;
}

}  // namespace kiln
