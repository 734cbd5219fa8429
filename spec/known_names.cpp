// SPDX-License-Identifier: Apache-2.0
#include "spec/known_names.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// Where `name` first stands as a whole word in the text of `expression`.
SourceLocation place_of(std::string_view name, const Expression& expression) {
  SourceLocation where = expression.where();
  const std::string_view text = expression.text();
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && is_name_character(text[at - 1])) continue;
    if (end < text.size() && is_name_character(text[end])) continue;
    const std::size_t line_break = text.substr(0, at).rfind('\n');
    if (where.line > 0 && line_break == std::string_view::npos) {
      where.column += static_cast<int>(at);
    } else if (where.line > 0) {
      where.line +=
          static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
      where.column = static_cast<int>(at - line_break);
    }
    return where;
  }
  return where;
}

}  // namespace

void KnownNames::add(const std::vector<std::string>& names) {
  names_.insert(names_.end(), names.begin(), names.end());
}

bool KnownNames::contains(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

void KnownNames::check(const Expression& expression, std::string_view what) const {
  for (const std::string& name : expression.names()) {
    if (contains(name)) continue;
    std::string hint = did_you_mean(name, names_);
    if (hint.empty() && what.find("'dtype'") != std::string_view::npos) {
      std::vector<std::string> dtypes;
      for (const DType dtype : all_dtypes()) dtypes.emplace_back(name_of(dtype));
      if (hint = did_you_mean(name, dtypes); !hint.empty())
        hint += fmt::format(" (a type is one of {}, or a problem field)", comma_list(dtypes));
    }
    if (hint.empty()) {
      std::vector<std::string> short_list;
      bool has_device = false;
      for (const std::string& known : names_) {
        const bool of_device = known.starts_with("device.");
        has_device |= of_device;
        if (!of_device &&
            std::find(short_list.begin(), short_list.end(), known) == short_list.end())
          short_list.push_back(known);  // an argument often has the name of a field
      }
      hint = has_device ? fmt::format("; known here: {} and device.*", comma_list(short_list))
                        : fmt::format("; known here: {}", comma_list(short_list));
    }
    throw InputError(place_of(name, expression),
                     fmt::format("unknown name '{}' in {}{}{}", name, what, owner_, hint));
  }
}

}  // namespace kiln
