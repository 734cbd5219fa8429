// SPDX-License-Identifier: Apache-2.0
#include "core/text_pattern.hpp"

namespace kiln {
namespace {

SourceLocation place_in(SourceLocation where, std::size_t at) {
  if (where.line > 0) where.column += static_cast<int>(at);
  return where;
}

/// The closing brace of the hole that opens at `open`: braces in quotes do not count.
std::size_t end_of_hole(std::string_view text, std::size_t open) {
  bool quoted = false;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (text[i] == '}' && !quoted) return i;
  }
  return std::string_view::npos;
}

}  // namespace

TextPattern TextPattern::parse(std::string_view text, const SourceLocation& where) {
  TextPattern pattern;
  pattern.text_ = text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      pattern.parts_.back() += c;
    } else if (i + 1 < text.size() && text[i + 1] == c) {
      pattern.parts_.back() += c;
      ++i;
    } else if (c == '}') {
      throw InputError(place_in(where, i),
                       "'}' without a '{' before it (write '}}' for a brace of the text)");
    } else {
      const std::size_t end = end_of_hole(text, i);
      if (end == std::string_view::npos) {
        throw InputError(place_in(where, i),
                         "the '{' here has no '}' (write '{{' for a brace of the text)");
      }
      pattern.holes_.push_back(
          Expression::parse(text.substr(i + 1, end - i - 1), place_in(where, i + 1)));
      pattern.parts_.emplace_back();
      i = end;
    }
  }
  return pattern;
}

std::string TextPattern::fill(const Scope& scope, const Writer& write) const {
  std::string out = parts_.front();
  for (std::size_t i = 0; i < holes_.size(); ++i) {
    out += write(holes_[i].evaluate(scope));
    out += parts_[i + 1];
  }
  return out;
}

std::string TextPattern::fill(const Scope& scope) const {
  return fill(scope, [](const Value& value) { return to_text(value); });
}

}  // namespace kiln
