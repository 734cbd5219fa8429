// The only place that includes the TOML library.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

// The distribution ships the library as a shared object only; its headers alone keep the program
// self-contained.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1

// The library asserts on some malformed texts ("[=x]"), and without assertions goes on undefined.
// Here its assertions are exceptions, in every build.
namespace kiln {
static constexpr void require_sound_parser(bool condition) {
  if (!condition) throw std::logic_error("the TOML library met a text it cannot read");
}
}  // namespace kiln
#undef NDEBUG
#define TOML_ASSERT(condition) ::kiln::require_sound_parser(static_cast<bool>(condition))

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <tuple>
#include <utility>

#include <toml++/toml.h>

#include "core/spec/toml_document.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr int kMaxDots = 16;  // of one dotted key; a spec needs two

bool may_stand_in_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-. \t\"'").find(c) != std::string_view::npos;
}

// The library recurses once per part of a dotted key, without a limit of its own: a hostile key of
// 100,000 parts would exhaust the stack.
void refuse_deep_keys(const std::vector<std::string_view>& lines, const std::string& path) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t first = lines[i].find_first_not_of(" \t");
    if (first != std::string_view::npos && lines[i][first] == '#') continue;
    int dots = 0;
    for (const char c : lines[i]) {
      dots = may_stand_in_key(c) ? dots + (c == '.' ? 1 : 0) : 0;
      if (dots <= kMaxDots) continue;
      throw InputError({path, static_cast<int>(i) + 1, 0},
                       "more than 16 dots in a row of words: no key is nested that deep");
    }
  }
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    if (end == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

class Converter {
 public:
  Converter(const std::vector<std::string_view>& lines, const std::string& path)
      : lines_(lines), path_(path) {}

  TomlNode convert(const toml::node& node) const {
    TomlNode out;
    out.where = location(node.source());
    out.text_where = out.where;
    if (const toml::table* table = node.as_table()) {
      convert_table(*table, out);
    } else if (const toml::array* array = node.as_array()) {
      out.kind = TomlNode::Kind::array;
      for (const toml::node& item : *array) out.children.push_back(convert(item));
    } else {
      convert_scalar(node, out);
    }
    return out;
  }

 private:
  void convert_table(const toml::table& table, TomlNode& out) const {
    out.kind = TomlNode::Kind::table;
    for (const auto& [key, value] : table) {
      TomlNode child = convert(value);
      child.key = std::string(key.str());
      child.where = location(key.source());
      out.children.push_back(std::move(child));
    }
    std::stable_sort(
        out.children.begin(), out.children.end(), [](const TomlNode& a, const TomlNode& b) {
          return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
        });
  }

  void convert_scalar(const toml::node& node, TomlNode& out) const {
    out.kind = TomlNode::Kind::scalar;
    if (const auto* text = node.as_string()) {
      out.scalar = text->get();
      out.text_where = first_character(out.where);
    } else if (const auto* integer = node.as_integer()) {
      out.scalar = static_cast<std::int64_t>(integer->get());
    } else if (const auto* number = node.as_floating_point()) {
      out.scalar = number->get();
    } else if (const auto* boolean = node.as_boolean()) {
      out.scalar = boolean->get();
    } else {
      throw InputError(out.where,
                       "dates and times are not used here; expected a string, a number, "
                       "true or false");
    }
  }

  SourceLocation location(const toml::source_region& region) const {
    return {path_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

  // Steps over the opening quotes of a string that starts at `where`.
  SourceLocation first_character(SourceLocation where) const {
    const auto index = static_cast<std::size_t>(where.line) - 1;
    const auto column = static_cast<std::size_t>(where.column) - 1;
    if (index >= lines_.size() || column >= lines_[index].size()) return where;
    const std::string_view rest = lines_[index].substr(column);
    const bool multi_line = rest.substr(0, 3) == "\"\"\"" || rest.substr(0, 3) == "'''";
    where.column += multi_line ? 3 : 1;
    if (multi_line && rest.size() <= 3) return {where.file, where.line + 1, 1};
    return where;
  }

  const std::vector<std::string_view>& lines_;
  const std::string& path_;
};

}  // namespace

bool TomlNode::is_text() const {
  return kind == Kind::scalar && std::holds_alternative<std::string>(scalar);
}

bool TomlNode::is_table_array() const {
  return kind == Kind::array && !children.empty() &&
         std::all_of(children.begin(), children.end(),
                     [](const TomlNode& item) { return item.kind == Kind::table; });
}

const TomlNode* TomlNode::find(std::string_view name) const {
  for (const TomlNode& child : children) {
    if (child.key == name) return &child;
  }
  return nullptr;
}

std::string describe(const TomlNode& node) {
  switch (node.kind) {
    case TomlNode::Kind::table:
      return "a table";
    case TomlNode::Kind::array:
      return "an array";
    case TomlNode::Kind::scalar:
      break;
  }
  if (std::holds_alternative<std::int64_t>(node.scalar)) return "an integer";
  return "a " + std::string(type_name(node.scalar));
}

TomlNode parse_toml(const std::string& text, const std::string& path) {
  if (text.size() > kMaxBytes) throw InputError({path, 0, 0}, "the file is larger than 1 MiB");
  const std::vector<std::string_view> lines = split_lines(text);
  refuse_deep_keys(lines, path);
  try {
    const toml::table table = toml::parse(std::string_view(text), std::string_view(path));
    return Converter(lines, path).convert(table);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError({path, static_cast<int>(at.line), static_cast<int>(at.column)},
                     "not valid TOML: " + std::string(error.description()));
  } catch (const std::logic_error&) {  // TOML_ASSERT; the library does not say where it stood
    throw InputError({path, 0, 0}, "not valid TOML: a table or key has no proper name");
  }
}

}  // namespace kiln
