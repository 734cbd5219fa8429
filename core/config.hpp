// Config: one variant plus one value for each of its tunables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A value as config texts have it: a text of other characters than letters, digits and _ . + -
/// stands in quotes, 'a b', with a backslash before quotes and backslashes in it.
[[nodiscard]] std::string value_in_config(const Value& value);

/// The spec as it is for one config: KernelSpec::config_values are the config's.
[[nodiscard]] KernelSpec spec_for(const KernelSpec& spec, const Config& config);

/// How `config` differs from another config of its variant: "tile_m=64 instead of 128, splits=4,
/// without ping_pong".
[[nodiscard]] std::string difference_text(const Config& config, const Config& other);

}  // namespace kiln
