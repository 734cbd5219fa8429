// Config: one variant plus one value for each of its tunables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"
#include "core/result.hpp"
#include "core/spec.hpp"

namespace kiln {

struct Config {
  std::string variant;
  /// In the order of the spec's tunables; conditional tunables that do not exist here are absent.
  std::vector<std::pair<std::string, Value>> values;

  /// Canonical text: "tile:tile_rows=32,tile_cols=32,pad=1" ("naive" without tunables).
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const Value* find(std::string_view tunable) const;
  friend bool operator==(const Config&, const Config&) = default;
};

/// What sets `config` apart from `other`: "tile_m=64 instead of 128, splits=4, without ping_pong";
/// the whole config where the variants differ.
[[nodiscard]] std::string difference_text(const Config& config, const Config& other);

/// Reads a canonical or partial text; tunables left out take their defaults. Throws InputError
/// naming the tunable and the values it may have.
[[nodiscard]] Config parse_config(const KernelSpec& spec, std::string_view text,
                                  const Problem& problem, const DeviceInfo& device);

/// The default config of `variant` for this problem and device (conditional tunables resolved).
[[nodiscard]] Config default_config(const Variant& variant, const KernelSpec& spec,
                                    const Problem& problem, const DeviceInfo& device);

/// The default config of the spec: of the first variant whose requirement and constraints hold and
/// whose launch stays within the device's limits; where none does, of the first whose rules hold.
/// Throws DeviceError when no variant is possible, naming each variant's reason.
[[nodiscard]] Config default_config(const KernelSpec& spec, const Problem& problem,
                                    const DeviceInfo& device);

/// backend, device.*, problem fields, derived values, tunables and variant-derived values.
[[nodiscard]] Scope make_scope(const KernelSpec& spec, const Problem& problem,
                               const DeviceInfo& device);
[[nodiscard]] Scope make_scope(const KernelSpec& spec, const Variant& variant, const Config& config,
                               const Problem& problem, const DeviceInfo& device);

/// Is the config legal? A Failure{constraint} says which rule broke and its reason, with the
/// numbers in it.
[[nodiscard]] Status check_config(const KernelSpec& spec, const Config& config,
                                  const Problem& problem, const DeviceInfo& device);

}  // namespace kiln
