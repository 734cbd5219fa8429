// Reads JSON that other programs and people wrote, and says what is wrong with it in words.
//
// nlohmann-json reads. What it lets pass is refused here: a key that comes twice (readers differ in
// which of the two they believe) and endless nesting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace kiln {

/// Where a text is no JSON; what() says why: "None is Python; JSON writes null".
class JsonFault : public InputError {
 public:
  JsonFault(std::size_t offset, const std::string& message)
      : InputError(message), offset_(offset) {}
  [[nodiscard]] std::size_t offset() const { return offset_; }  ///< bytes from the text's begin

 private:
  std::size_t offset_;
};

struct JsonRules {
  int max_depth = 200;
  /// Reads NaN, -NaN, Infinity and -Infinity, which Python and C++ write, as numbers.
  bool reads_not_finite = false;
};

/// The whole text; members keep their order. Throws JsonFault.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text, const JsonRules& rules);

/// The place of a byte in a file: line and column count from 1.
[[nodiscard]] SourceLocation place_in(std::string_view text, const std::string& path,
                                      std::size_t offset);

}  // namespace kiln
