// Text tables with aligned columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::peers {

/// A heading and whether its column is aligned to the right.
struct Column {
  std::string heading;
  bool number = false;
};

/// `cells`: one for each column in each line.
[[nodiscard]] std::string aligned(const std::vector<Column>& columns,
                                  const std::vector<std::vector<std::string>>& cells);

}  // namespace kiln::peers
