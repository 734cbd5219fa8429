// How candidates are timed; see timing.hpp for the method.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::peers {

/// cold: the last-level cache is overwritten before each run.
enum class CacheMode { cold, warm };

[[nodiscard]] inline std::string name_of(CacheMode mode) {
  return mode == CacheMode::cold ? "cold" : "warm";
}

struct TimingOptions {
  int samples = 50;     ///< of each candidate; at least 30 for figures that are told to others
  double seconds = 10;  ///< fewer samples where those would take longer, but at least 10
  int warm_up = 5;      ///< rounds before the first sample
};

/// Samples of each candidate when one round of all takes `round_seconds`: even, so that every
/// candidate runs as often forth as back.
[[nodiscard]] int sample_count(const TimingOptions& options, double round_seconds);

}  // namespace kiln::peers
