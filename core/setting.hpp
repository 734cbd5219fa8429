// Setting: a spec, a problem and a device together. They determine the default config, which
// configs are legal, and what each config launches.
//
// A value, cheap to copy. What problem and device put into the scope of the spec's expressions is
// evaluated once, so keep a setting where many configs are looked at. Safe to read from many
// threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/config.hpp"
#include "core/launch_plan.hpp"

namespace kiln {

class Setting {
 public:
  /// `spec` must outlive it. Not explicit: `lookup({spec, problem, device}, bests)`.
  Setting(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device);

  [[nodiscard]] const KernelSpec& spec() const { return *spec_; }
  [[nodiscard]] const Problem& problem() const { return place_->problem; }
  [[nodiscard]] const DeviceInfo& device() const { return place_->device; }

  /// backend, device.*, problem fields and derived values. Throws EvaluationError where the spec
  /// cannot evaluate the problem.
  [[nodiscard]] const Scope& scope() const;
  /// In addition the config's tunables and the derived values of its variant, which must be one of
  /// the spec's. A derived value that needs a tunable that does not exist here does not exist
  /// either. Throws EvaluationError.
  [[nodiscard]] Scope scope(const Config& config) const;

  /// Reads a canonical or partial text; tunables left out take their defaults, and "" and "default"
  /// mean the default config. Throws InputError naming the tunable and the values it may have.
  [[nodiscard]] Config parse(std::string_view text) const;

  /// The default config of `variant`, legal or not.
  [[nodiscard]] Config default_config(const Variant& variant) const;
  /// The default config of the spec: that of launchable_default(); where no variant has one, that
  /// of the first variant whose rules hold. Throws DeviceError when no variant is possible, naming
  /// each variant's reason.
  [[nodiscard]] Config default_config() const;
  /// The default config of the first variant whose requirement and constraints hold and whose
  /// launch stays within the device's limits. A Failure{constraint} names each variant's reason.
  [[nodiscard]] Result<Config> launchable_default() const;

  /// Is the config legal? A Failure{constraint} says which rule broke and its reason, with the
  /// numbers in it.
  [[nodiscard]] Status check(const Config& config) const;
  /// The config that the text means, if it can be launched. Does not throw for what the text says.
  [[nodiscard]] Result<Config> launchable(std::string_view text) const;

  /// A Failure{constraint} for a config that is not legal, or breaks a limit of the device.
  /// `scalars`: in place of the examples of these scalars.
  [[nodiscard]] Result<LaunchPlan> plan(const Config& config,
                                        const ScalarValues& scalars = {}) const;
  /// Only the arguments and scalars, which no config changes.
  [[nodiscard]] Result<LaunchPlan> arguments(const ScalarValues& scalars = {}) const;
  [[nodiscard]] ProblemCost cost() const;

 private:
  /// The first rule that the config breaks. Otherwise `scope` is that of the config. Throws
  /// EvaluationError.
  [[nodiscard]] std::optional<Failure> broken_rule(const Config& config, Scope& scope) const;

  struct Place {
    Problem problem;
    DeviceInfo device;
    Scope scope;
    std::optional<EvaluationError> fault;  ///< why there is no scope
  };
  const KernelSpec* spec_;
  std::shared_ptr<const Place> place_;
};

}  // namespace kiln
