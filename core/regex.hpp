// Regex: regular expressions of ECMAScript over texts of strangers, with limits.
//
// A pattern of a spec and the output of a program may both be anything. So no text takes more than
// 0.1 s of processor time or 64 MiB of memory: a pattern that needs more is a fault of the pattern,
// not of the program that printed the text. PCRE2 does the work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/errors.hpp"

struct pcre2_real_code_8;  // a compiled pattern of PCRE2

namespace kiln {

class Regex {
 public:
  static constexpr std::size_t kMaxPatternBytes = 4096;
  static constexpr std::size_t kMaxTextBytes = std::size_t{4} << 20U;  ///< the end of a longer text
  static constexpr double kMaxSeconds = 0.1;  ///< processor time for one text
  static constexpr std::size_t kMaxMemoryKib = std::size_t{64} << 10U;

  /// Reads `pattern`, ECMAScript of bytes: `.` is no line break, `^` and `$` are the ends of the
  /// text. Errors begin with `where`, its place, and `name`, such as "[command]: 'pattern'". Throws
  /// InputError for a pattern that is longer than kMaxPatternBytes or no regular expression.
  static Regex parse(std::string_view pattern, std::string name, const SourceLocation& where = {});

  /// The pattern as it was written.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The number of groups that capture.
  [[nodiscard]] std::size_t groups() const { return groups_; }

  /// Is there a match in the last kMaxTextBytes of `text`? Throws InputError, with the place of the
  /// pattern, if the pattern runs into a limit. Any thread may call.
  [[nodiscard]] bool is_in(std::string_view text) const;

  /// Takes a match, [0], and its groups, from [1] on; empty where a group took no part. The views
  /// are parts of the text.
  using Take = std::function<void(std::span<const std::string_view>)>;
  /// Calls `take` with each match in the last kMaxTextBytes of `text`, from left to right and
  /// without overlap. Throws what `take` throws, and InputError as is_in does. Any thread may call.
  void each_match(std::string_view text, const Take& take) const;

 private:
  [[noreturn]] void fail(int error, std::size_t bytes) const;

  std::string text_;
  std::string name_;
  SourceLocation where_;
  std::size_t groups_ = 0;
  std::shared_ptr<const pcre2_real_code_8> code_;
};

}  // namespace kiln
