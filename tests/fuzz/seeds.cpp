// The inputs to begin with: files of the tree, and the kept corpus.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<std::string> files_of_tree(std::string_view folder, std::string_view extension) {
  std::vector<fs::path> paths;
  const fs::path root = fs::path(KILN_SOURCE_DIR) / folder;
  if (!fs::exists(root)) {
    return {};
  }
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(extension)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());  // the same inputs in every run
  std::vector<std::string> texts;
  for (const fs::path& path : paths) texts.push_back(read_file(path));
  return texts;
}

std::vector<std::string> parts(std::string_view text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (c == '@') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

std::string nested(std::string_view text, std::string_view part) {
  constexpr int kTimes = 20'000;
  std::string whole;
  for (const char c : text) {
    if (c != '@') {
      whole += c;
      continue;
    }
    for (int i = 0; i < kTimes; ++i) whole += part;
  }
  return whole;
}

std::vector<std::string> corpus(std::string_view name) {
  return files_of_tree("tests/fuzz/corpus/" + std::string(name), "");
}

}  // namespace kiln::fuzz
