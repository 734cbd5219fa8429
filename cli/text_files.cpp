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
  const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
  std::error_code error;
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file) fs::rename(temporary, path, error);
  if (!file || error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw UsageError(
        fmt::format("{}: cannot be written{}", path.string(), error ? ": " + error.message() : ""));
  }
}

}  // namespace kiln::cli
