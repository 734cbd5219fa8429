// `source`, `include` and `defines` of a variant, and the kernel names of its steps.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "core/source_text.hpp"
#include "spec/spec_parser.hpp"

namespace kiln {
namespace {

struct Language {
  std::string_view ending;
  std::string_view possible;  ///< condition on the backend
};

constexpr std::array<Language, 4> kLanguages = {{{".cu", "backend == 'cuda'"},
                                                 {".hip", "backend == 'hip'"},
                                                 {".cpp", "backend in ['cuda', 'hip']"},
                                                 {".cl", "backend == 'opencl'"}}};

const Language& language_of(const TableReader& table, const std::string& file) {
  for (const Language& language : kLanguages) {
    if (file.ends_with(language.ending)) return language;
  }
  table.fail("source", fmt::format("'{}' must end with .cu, .hip, .cpp or .cl", file));
}

/// A path of the spec, as the folder's files are named.
std::string inside(const TableReader& table, const char* key, const std::string& path,
                   std::string_view what) {
  std::string normal = path == "." ? path : path_inside(path);
  while (normal.ends_with('/')) normal.pop_back();
  if (normal.empty()) {
    table.fail(key, fmt::format("'{}' must be {} in the spec's folder or below it", path, what));
  }
  return normal;
}

/// The file's language limits the backends, unless `requires` speaks of them itself.
std::optional<Expression> requires_of(const TableReader& table, const Language& language) {
  const std::optional<Expression> given = table.optional_expression("requires");
  if (!given) return Expression::parse(language.possible, table.find("source")->where);
  const std::vector<std::string>& names = given->names();
  if (std::find(names.begin(), names.end(), "backend") != names.end()) return given;
  SourceLocation where = given->where();
  if (where.column > 0) --where.column;  // the bracket is not in the file
  return Expression::parse(fmt::format("({}) and {}", given->text(), language.possible), where);
}

/// "conv", "ns::conv" or "ns::conv<...>", holes taken out; the arguments are the compiler's matter.
bool is_cpp_name(std::string_view name) {
  const std::size_t arguments = name.find('<');
  if (arguments != std::string_view::npos && !name.ends_with('>')) return false;
  std::string_view base = name.substr(0, arguments);
  for (;;) {
    const std::size_t end = base.find("::");
    const std::string_view part = base.substr(0, end);
    const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (part.empty() || std::isdigit(static_cast<unsigned char>(part.front())) != 0 ||
        !std::all_of(part.begin(), part.end(), is_word)) {
      return false;
    }
    if (end == std::string_view::npos) return true;
    base.remove_prefix(end + 2);
  }
}

}  // namespace

void parse_plain_source(const TableReader& table, Variant& variant) {
  PlainSource plain;
  plain.where = table.find("source")->where;
  plain.file = inside(table, "source", table.text("source"), "a file");
  variant.requires_ = requires_of(table, language_of(table, plain.file));
  for (const std::string& folder : table.texts("include")) {
    plain.folders.push_back(inside(table, "include", folder, "a folder"));
  }
  if (table.find("defines")) {
    plain.defines.emplace();
    for (const TomlNode* entry : table.entries("defines")) {
      check_identifier(entry->key, entry->where, "a macro");
      plain.defines->push_back(
          {entry->key, to_expression(*entry, fmt::format("[defines]: '{}'", entry->key))});
    }
  }
  variant.plain = std::move(plain);
}

TextPattern parse_entry(const TableReader& table, const Variant& variant) {
  const TomlNode& node = table.require("entry", "the name of a kernel in the source, or 'clear'");
  TextPattern entry = TextPattern::parse(table.text("entry"), node.text_where);
  if (!variant.plain) {
    check_identifier(entry.text(), node.text_where, "a kernel");
    return entry;
  }
  // Only the arguments have holes, so that the kernel can be looked for before anything runs.
  const bool is_c = variant.plain->file.ends_with(".cl");
  const bool named = entry.has_holes() ? is_cpp_name(entry.head() + ">") &&
                                             entry.head().find('<') != std::string::npos &&
                                             entry.text().ends_with('>')
                                       : is_cpp_name(entry.text());
  if (!named || (is_c && entry.text().find_first_of("<:") != std::string::npos)) {
    throw InputError(
        node.text_where,
        fmt::format("'{}' is no name for a kernel of {}: {}", entry.text(), variant.plain->file,
                    is_c ? "OpenCL C has no templates: use a letter, then letters, digits and _"
                         : "write name, or name<arguments>, with values in braces: conv<{tile}>"));
  }
  return entry;
}

}  // namespace kiln
