// Promise 10: no SQL statement is built from data.
//
// Reads the sources: SQLite and libpq are met in db/ only, and what is handed to them as a
// statement is a literal or a constant of the file, never an expression. Data arrive through bound
// parameters.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> sources_of(const std::vector<std::string>& folders) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(KILN_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") {
        paths.push_back(entry.path());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The text with each string literal as "" and without comments.
std::string without_literals(const std::string& text) {
  std::string code;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size() - 1);
    } else if (text.compare(i, 2, "R\"") == 0) {
      const std::size_t open = text.find('(', i);
      const std::string end = ")" + text.substr(i + 2, open - i - 2) + "\"";
      i = text.find(end, open) + end.size() - 1;
      code += "\"\"";
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      code += "\"\"";
    } else if (text[i] == '\'' && i + 2 < text.size()) {
      const std::size_t end = text.find('\'', i + (text[i + 1] == '\\' ? 3 : 2));
      if (end != std::string::npos && end - i <= 4) i = end;
    } else {
      code += text[i];
    }
  }
  return code;
}

/// The arguments of the call whose bracket opens at `open`, split at its commas.
std::vector<std::string> arguments_at(const std::string& code, std::size_t open) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}') --depth;
    if (depth == 0) break;
    if (c == ',' && depth == 1) {
      arguments.emplace_back();
    } else if (i != open && !std::isspace(static_cast<unsigned char>(c))) {
      arguments.back() += c;
    }
  }
  return arguments;
}

/// Literals, one after another, or the name of a constant.
bool is_constant(const std::string& argument) {
  std::string rest = argument;
  while (rest.starts_with("\"\"")) rest.erase(0, 2);
  const bool name =
      rest.size() > 1 && rest[0] == 'k' && std::isupper(rest[1]) &&
      std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  return !argument.empty() && (rest.empty() || (rest == argument && name));
}

/// "FILE: statement" for every statement that is no constant.
std::vector<std::string> built_statements(const std::string& name, const std::string& code) {
  std::vector<std::string> found;
  // A statement is the last argument of these; std::exec() without one is a step, not a text.
  for (const std::string call :
       {"sql::Statement ", "sql::Statement(", ".exec(", "->exec(", ".execAndGet(", "->execAndGet(",
        ".tryExec(", "->tryExec(", "query_integer("}) {
    for (std::size_t at = code.find(call); at != std::string::npos; at = code.find(call, at + 1)) {
      const std::size_t open = code.find('(', at + call.size() - 1);
      const std::size_t end = code.find(';', at);
      if (open == std::string::npos || open > end) continue;  // a declaration
      // One of several statements: each is found by itself.
      if (code.substr(at, open - at).find('=') != std::string::npos) continue;
      const std::vector<std::string> arguments = arguments_at(code, open);
      if (arguments.back().empty()) continue;
      if (!is_constant(arguments.back())) found.push_back(name + ": " + arguments.back());
    }
  }
  return found;
}

/// What hands the statements of all others on.
bool is_wrapper(const fs::path& path) {
  const std::string name = path.stem().string();
  return name == "sql" || name == "sqlite_database" || name == "postgres_database";
}

TEST(SqlText, IsNeverBuiltFromData) {
  std::vector<std::string> found;
  int statements = 0;
  for (const fs::path& path : sources_of({"db"})) {
    if (is_wrapper(path)) continue;
    const std::string code = without_literals(read_file(path));
    for (std::string& one : built_statements(path.filename().string(), code)) {
      found.push_back(std::move(one));
    }
    for (std::size_t at = code.find("sql::Statement "); at != std::string::npos;
         at = code.find("sql::Statement ", at + 1)) {
      ++statements;
    }
  }
  EXPECT_THAT(found, IsEmpty());
  EXPECT_GT(statements, 20);  // they are found at all
}

TEST(SqlText, IsInOneFolder) {
  std::vector<std::string> found;
  for (const fs::path& path : sources_of({"core", "search", "templates", "backends", "lookup",
                                          "wisdom", "tuner", "launcher", "report", "cli"})) {
    const std::string code = without_literals(read_file(path));
    for (const char* word :
         {"sqlite3_", "SQLite::", "<sqlite3.h>", "SQLiteCpp.h", "PQ", "libpq-fe.h", "sql::"}) {
      if (code.find(word) != std::string::npos) found.push_back(path.string() + ": " + word);
    }
  }
  for (const fs::path& path : sources_of({"db"})) {
    const std::string code = without_literals(read_file(path));
    for (const char* word : {"sqlite3_exec", "sqlite3_prepare", "sqlite3_mprintf", "PQescape"}) {
      if (code.find(word) != std::string::npos) found.push_back(path.string() + ": " + word);
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

TEST(SqlText, TheSearchFindsWhatItIsFor) {
  const auto found = [](const std::string& line) {
    return built_statements("f", without_literals(line)).size();
  };
  EXPECT_EQ(found("sql::Statement q(db, \"SELECT 1\"\n  \" FROM t\");"), 0U);
  EXPECT_EQ(found("sql::Statement q(db, kQuery);"), 0U);
  EXPECT_EQ(found("db.exec(\"PRAGMA x = 1\");"), 0U);
  EXPECT_EQ(found("insert.exec();"), 0U);
  EXPECT_EQ(found("sql::Statement q(db, \"SELECT \" + name);"), 1U);
  EXPECT_EQ(found("sql::Statement q(db, std::string(\"SELECT \") + kColumns);"), 1U);
  EXPECT_EQ(found("db.exec(fmt::format(\"DELETE FROM {}\", name));"), 1U);
  EXPECT_EQ(found("db.execAndGet(query);"), 1U);
}

}  // namespace
