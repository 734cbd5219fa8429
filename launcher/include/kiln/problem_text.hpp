// ProblemText: the text of a problem, put together without allocating.
//
//   kiln::ProblemText problem;
//   problem.add("m", m).add("n", n).add("k", k).add("dtype", "bf16");
//   launcher.select("matmul", problem);
//
// C++17, standard library only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace kiln {

/// "name=value name=value ..." in a fixed place; only a text longer than that (a long formula)
/// takes memory from the heap.
class ProblemText {
 public:
  /// A whole number.
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  ProblemText& add(std::string_view name, T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return add_field(name, value ? "true" : "false", "");
    } else {
      std::array<char, 24> digits{};
      const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
      const auto length = static_cast<std::size_t>(end - digits.data());
      return add_field(name, {digits.data(), length}, "");
    }
  }
  /// A word: "f32", "sum".
  ProblemText& add(std::string_view name, std::string_view word) {
    return add_field(name, word, "");
  }
  ProblemText& add(std::string_view name, const char* word) { return add_field(name, word, ""); }
  /// A text with blanks or signs in it, such as a formula.
  ProblemText& add_quoted(std::string_view name, std::string_view text) {
    return add_field(name, text, "'");
  }

  [[nodiscard]] std::string_view text() const noexcept {
    return long_.empty() ? std::string_view(short_.data(), length_) : std::string_view(long_);
  }
  // Implicit on purpose: wherever a problem is asked for.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::string_view() const noexcept { return text(); }

 private:
  ProblemText& add_field(std::string_view name, std::string_view value, std::string_view quote) {
    if (!text().empty()) {
      append(" ");
    }
    for (const std::string_view part : {name, std::string_view("="), quote, value, quote}) {
      append(part);
    }
    return *this;
  }
  void append(std::string_view part) {
    if (long_.empty() && length_ + part.size() <= short_.size()) {
      std::memcpy(short_.data() + length_, part.data(), part.size());
      length_ += part.size();
      return;
    }
    if (long_.empty()) {
      long_.assign(short_.data(), length_);
    }
    long_.append(part);
  }

  std::array<char, 256> short_;  // not set: only the first length_ characters are ever read
  std::size_t length_ = 0;
  std::string long_;
};

}  // namespace kiln
