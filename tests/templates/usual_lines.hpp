// Problems of kernels for which no test lists any, so that a new kernel is tested from its first
// day.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/spec.hpp"

namespace kiln::test {

/// One line for each of `sizes`, e.g. "rows=257 cols=100": the fields that must be given take that
/// size and the sizes after it in turn. Other fields keep their defaults.
inline std::vector<std::string> usual_lines(const KernelSpec& spec,
                                            const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::string line;
    std::size_t next = i;
    for (const ProblemField& field : spec.problem) {
      if (field.fallback || field.type != FieldType::integer) continue;
      std::int64_t size = sizes[next++ % sizes.size()];
      if (field.minimum) size = std::max(size, std::get<std::int64_t>(*field.minimum));
      line += (line.empty() ? "" : " ") + field.name + "=" + std::to_string(size);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace kiln::test
