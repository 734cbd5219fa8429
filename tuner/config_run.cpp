// One config on the device, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_run.hpp"

#include <utility>

namespace kiln {
namespace {

BufferLookup lookup_in(const Bench& bench, InputSet set) {
  return [&bench, set](const std::string& name) {
    const Buffer* argument = bench.data.find(name, set);
    return argument != nullptr ? argument : bench.workspaces.find(name);
  };
}

}  // namespace

ConfigRun::ConfigRun(const Bench& bench, const LaunchPlan& plan, std::shared_ptr<Module> module)
    : bench_(bench),
      module_(std::move(module)),
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
  return ConfigRun(bench, plan, std::move(*module));
}

Result<ConfigRun> ConfigRun::rebound(const Bench& bench, const LaunchPlan& plan) const {
  if (Status status = bench.workspaces.prepare(plan); !status) return status.failure();
  return ConfigRun(bench, plan, module_);
}

Status ConfigRun::prepare(InputSet set) {
  if (Status status = bench_.data.load(set); !status) return status;
  return bench_.workspaces.poison();
}

Status ConfigRun::run_once(InputSet set) {
  if (Status status = prepare(set); !status) return status;
  if (Status status = sequence(set).enqueue(bench_.device); !status) return status;
  return bench_.device.synchronize();
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

Result<double> ConfigRun::run_checked(InputSet set, const Expected& expected) {
  if (Status status = run_once(set); !status) return status.failure();
  const Result<std::string> found = damage(set);
  if (!found) return found.failure();
  const Result<Expected::Check> check =
      expected.check(bench_.device, bench_.toolbox, bench_.data, set);
  if (!check) return check.failure();
  for (const std::string* complaint : {&*found, &check->mismatch}) {
    if (!complaint->empty()) return Failure{Outcome::wrong_result, *complaint};
  }
  return check->max_error;
}

}  // namespace kiln
