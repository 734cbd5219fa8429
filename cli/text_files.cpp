// SPDX-License-Identifier: Apache-2.0
#include "cli/text_files.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;

std::string read_text_file(const fs::path& path, std::string_view what) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  const bool is_empty = file.eof() && !file.bad();
  std::error_code error;
  if ((!file && !is_empty) || fs::is_directory(path, error) || !fs::exists(path, error)) {
    throw InputError(fmt::format("{}: cannot be read; expected {}", path.string(), what));
  }
  return text.str();
}

void write_text_file(const fs::path& path, std::string_view text) {
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  std::error_code error;
  // What a link leads to is replaced, not the link; what is no file (/dev/null, a pipe) is written.
  const fs::path linked = fs::canonical(path, error);
  const fs::path target = error ? path : linked;
  const bool replaces = error || fs::is_regular_file(target, error);
  error.clear();
  const fs::path written =
      replaces ? target.string() + ".tmp-" + std::to_string(::getpid()) : target.string();
  std::ofstream file(written, std::ios::binary);
  file << text;
  file.close();
  if (file && replaces) fs::rename(written, target, error);
  if (!file || error) {
    std::error_code ignored;
    if (replaces) fs::remove(written, ignored);
    throw UsageError(
        fmt::format("{}: cannot be written{}", path.string(), error ? ": " + error.message() : ""));
  }
}

}  // namespace kiln::cli
