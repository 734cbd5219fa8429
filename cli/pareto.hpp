// `kiln best --pareto A,B`: the stored configs of one problem that no other beats in both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "core/setting.hpp"
#include "core/timing.hpp"

namespace kiln::cli {

/// Indices of the points that no other dominates (less or equal in both scores, less in one), in
/// order of the first score. Of equal points the first stays.
[[nodiscard]] std::vector<std::size_t> pareto_front(
    const std::vector<std::pair<double, double>>& points);

struct ParetoRequest {
  const Setting& setting;
  std::string objectives;        ///< "time,energy"
  std::optional<Timing> timing;  ///< of the sessions; nullopt: that of the newest
  const CommonOptions& common;
};

/// Prints the list, as text or JSON. Throws UsageError unless two different objectives are named,
/// InputError for one that the kernel has not. ExitCode::failed when no trial has both values.
[[nodiscard]] ExitCode print_pareto(const ParetoRequest& request);

}  // namespace kiln::cli
