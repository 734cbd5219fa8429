// Reads a dialect as a list of definitions, and selects those that a kernel uses.
//
// A dialect is plain C. A definition begins in the first column: a macro, a type, a function, a
// variable, or all that stands between #if and #endif. Its names are those of macros and types, and
// the first word with kiln_ of any other line.
// SPDX-License-Identifier: Apache-2.0
#include "templates/prelude.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/errors.hpp"
#include "templates/embedded.hpp"

namespace kiln {
namespace {

/// Lines of a dialect below one comment.
struct Group {
  std::string_view comment;  // with its line breaks; may be empty
  std::size_t paragraph = 0;
};

struct Definition {
  std::string_view text;  // whole lines
  std::size_t group = 0;
};

struct Dialect {
  std::string file;  // what all views below look at
  std::vector<Group> groups;
  std::vector<Definition> definitions;
  std::unordered_multimap<std::string_view, std::size_t> by_name;
};

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Calls `take` with each identifier and number of C text outside comments.
template <typename Take>
void for_each_word(std::string_view text, const Take& take) {
  std::size_t i = 0;
  auto skip_past = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    i = found == std::string_view::npos ? text.size() : found + end.size();
  };
  while (i < text.size()) {
    if (text.substr(i, 2) == "//") {
      skip_past("\n", i);
    } else if (text.substr(i, 2) == "/*") {
      skip_past("*/", i + 2);
    } else if (is_word_char(text[i])) {
      const std::size_t start = i;
      while (i < text.size() && is_word_char(text[i])) ++i;
      take(text.substr(start, i - start));
    } else {
      ++i;
    }
  }
}

/// What a line of a definition names; "" if nothing.
std::string_view name_on(std::string_view line) {
  std::string_view name;
  if (line.starts_with("#define ")) {
    line.remove_prefix(std::string_view("#define ").size());
    name = line.substr(0, line.find_first_of(" (\n"));
  } else if (line.starts_with("typedef ")) {
    line = line.substr(0, std::min(line.find(';'), line.find(" __attribute__")));
    name = line.substr(line.rfind(' ') + 1);
  } else if (line.starts_with('_') || std::isalpha(static_cast<unsigned char>(line.front())) != 0) {
    for_each_word(line, [&](std::string_view word) {
      if (name.empty() && word.starts_with("kiln_")) name = word;
    });
  }
  return name;
}

/// How many more of `open` than of `close` the line has.
std::ptrdiff_t surplus(std::string_view line, char open, char close) {
  return std::count(line.begin(), line.end(), open) - std::count(line.begin(), line.end(), close);
}

void add_groups(Dialect& dialect) {
  const std::string_view file = dialect.file;
  std::size_t paragraph = 0;
  std::ptrdiff_t depth = 0;  // of #if and braces
  bool is_open = false;      // the last definition goes on in this line
  bool in_comment = false;   // the line before was one
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = std::min(file.find('\n', begin), file.size() - 1) + 1;
    const std::string_view line = file.substr(begin, end - begin);
    const std::size_t start = std::exchange(begin, end);
    if (!is_open && line == "\n") {
      dialect.groups.push_back({"", ++paragraph});
      in_comment = false;
      continue;
    }
    if (!is_open && line.starts_with("//")) {
      if (!in_comment) dialect.groups.push_back({file.substr(start, 0), paragraph});
      std::string_view& comment = dialect.groups.back().comment;
      comment = {comment.data(), comment.size() + line.size()};
      in_comment = true;
      continue;
    }
    in_comment = false;
    if (!is_open) dialect.definitions.push_back({file.substr(start, 0), dialect.groups.size() - 1});
    std::string_view& text = dialect.definitions.back().text;
    text = {text.data(), text.size() + line.size()};
    const std::string_view name = name_on(line);
    if (!name.empty()) dialect.by_name.emplace(name, dialect.definitions.size() - 1);
    depth += surplus(line, '{', '}') + (line.starts_with("#if") ? 1 : 0) -
             (line.starts_with("#endif") ? 1 : 0);
    is_open = depth > 0 || line.ends_with("\\\n") || line.starts_with("template ");
  }
}

/// That of a backend, read when it is first asked for: a program needs that of one device.
const Dialect& dialect_of(const std::string& backend) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, Dialect>;
  const std::lock_guard held(mutex);
  const auto found = known.find(backend);
  if (found != known.end()) return found->second;
  std::optional<std::string> file = embedded_file("dialects/" + backend + ".h");
  if (!file)
    throw DeviceError("there is no dialect for backend '" + backend + "' (cuda, hip, opencl)");
  Dialect& dialect = known[backend];
  dialect.file = std::move(*file);
  add_groups(dialect);
  return dialect;
}

}  // namespace

std::string prelude_for(const std::string& backend, std::string_view kernel,
                        std::int64_t warp_size) {
  const Dialect& dialect = dialect_of(backend);
  std::vector<bool> chosen(dialect.definitions.size(), false);
  std::vector<std::string_view> unread = {kernel};
  while (!unread.empty()) {
    const std::string_view text = unread.back();
    unread.pop_back();
    for_each_word(text, [&](std::string_view word) {
      const auto [first, last] = dialect.by_name.equal_range(word);
      for (auto found = first; found != last; ++found) {
        if (chosen[found->second]) continue;
        chosen[found->second] = true;
        unread.push_back(dialect.definitions[found->second].text);
      }
    });
  }
  std::string result;
  const Group* before = nullptr;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    const Definition& definition = dialect.definitions[i];
    const Group* group = &dialect.groups[definition.group];
    if (group != before) {
      if (before != nullptr && before->paragraph != group->paragraph) result += '\n';
      result += group->comment;
      before = group;
    }
    const bool is_warp_size = definition.text.starts_with("#ifndef WARP_SIZE\n");
    if (is_warp_size)
      result += "#define WARP_SIZE " + std::to_string(warp_size) + "\n";
    else
      result += definition.text;
  }
  return result;
}

std::vector<std::string> dialect_words(const std::string& backend) {
  std::set<std::string> words;
  for (const auto& [name, definition] : dialect_of(backend).by_name) {
    if (!name.starts_with("KILN_") && !name.starts_with("kiln_")) words.emplace(name);
  }
  return {words.begin(), words.end()};
}

std::string_view source_extension(const std::string& backend) {
  if (backend == "cuda") return "cu";
  return backend == "hip" ? "hip" : "cl";
}

}  // namespace kiln
