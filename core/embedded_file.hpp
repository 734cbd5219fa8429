// A file of the source tree that is part of the program (cmake/KilnEmbed.cmake).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kiln {

struct EmbeddedFile {
  std::string_view path;  ///< e.g. "kernels/reduce/spec.toml", "nvidia_h200.jsonl"
  std::string_view text;
};

}  // namespace kiln
