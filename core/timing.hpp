// Timing: how the launches of a sample reach the device.
//
// It belongs to the identity of a session and to every best: which config is the fastest may differ
// between the two. docs/measurement.md states what each one measures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace kiln {

enum class Timing {
  eager,  ///< each launch is put on the queue by the host
  graph,  ///< launches are captured once and replayed as one graph
};

/// "eager", "graph".
[[nodiscard]] constexpr std::string_view name_of(Timing timing) {
  return timing == Timing::graph ? "graph" : "eager";
}

[[nodiscard]] constexpr std::optional<Timing> parse_timing(std::string_view name) {
  for (const Timing timing : {Timing::eager, Timing::graph}) {
    if (name_of(timing) == name) return timing;
  }
  return std::nullopt;
}

}  // namespace kiln
