// A cache of Kernel Tuner for the kernel tests/cli/kernels/scale.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln::cli {

struct CachedConfig {
  int block_size = 32;
  int items = 1;
  double time_ms = 0;
};

/// `size`: the only dimension of the problem.
inline std::string cache_of(const std::string& size, const std::vector<CachedConfig>& configs) {
  std::vector<std::string> rows;
  for (const auto& [block_size, items, time_ms] : configs) {
    rows.push_back(fmt::format(R"("{0},{1}": {{"block_size": {0}, "items": {1}, "time": {2}}})",
                               block_size, items, time_ms));
  }
  return fmt::format(
      "{{\"kernel_name\": \"scale\", \"problem_size\": \"{}\",\n"
      "\"tune_params_keys\": [\"block_size\", \"items\"],\n"
      "\"tune_params\": {{\"block_size\": [32, 64, 128], \"items\": [1, 2]}},\n"
      "\"cache\": {{\n{}}}}}\n",
      size, fmt::join(rows, ",\n"));
}

}  // namespace kiln::cli
