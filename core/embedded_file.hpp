// A file of the source tree that is part of the program, compressed (cmake/KilnEmbed.cmake).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

struct EmbeddedFile {
  std::string_view path;          ///< e.g. "kernels/reduce/spec.toml", "nvidia_h200.jsonl/matmul"
  const unsigned char* deflated;  ///< a zlib stream, inside the program
  std::size_t deflated_bytes;
  std::size_t bytes;  ///< of the text

  /// Inflates the file anew at each call. Throws std::logic_error when the program is damaged.
  [[nodiscard]] std::string text() const;
};

}  // namespace kiln
