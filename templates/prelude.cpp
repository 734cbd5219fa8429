// Selects the sections of a dialect's prelude whose words a kernel uses.
// SPDX-License-Identifier: Apache-2.0
#include "templates/prelude.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_set>

#include "core/errors.hpp"
#include "templates/embedded.hpp"

namespace kiln {
namespace {

struct Section {
  std::vector<std::string> words;
  std::string text;
  std::vector<std::string_view> uses;  // identifiers of the text
};

/// The identifiers of C text outside comments, each once.
std::vector<std::string_view> words_of(std::string_view text) {
  std::unordered_set<std::string_view> result;
  std::size_t i = 0;
  auto skip_past = [&](std::string_view end, std::size_t from) {
    std::size_t found = text.find(end, from);
    i = found == std::string_view::npos ? text.size() : found + end.size();
  };
  while (i < text.size()) {
    auto c = static_cast<unsigned char>(text[i]);
    if (text.substr(i, 2) == "//") {
      skip_past("\n", i);
    } else if (text.substr(i, 2) == "/*") {
      skip_past("*/", i + 2);
    } else if (std::isalnum(c) || c == '_') {
      std::size_t start = i;
      while (i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_'))
        ++i;
      result.emplace(text.substr(start, i - start));
    } else {
      ++i;
    }
  }
  return {result.begin(), result.end()};
}

std::vector<Section> read_sections(std::string_view file) {
  std::vector<Section> sections;
  std::istringstream lines{std::string(file)};
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 4, "//: ") == 0) {
      std::istringstream words(line.substr(4));
      sections.emplace_back();
      for (std::string word; words >> word;) sections.back().words.push_back(word);
    } else if (!sections.empty()) {
      sections.back().text += line + "\n";
    }
  }
  for (Section& section : sections) {
    while (section.text.size() > 1 && section.text.ends_with("\n\n")) section.text.pop_back();
    section.uses = words_of(section.text);
  }
  return sections;
}

/// Those of a dialect, read when they are first asked for: a program needs those of one device.
const std::vector<Section>& sections_of(const std::string& backend) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, std::vector<Section>>;
  const std::lock_guard held(mutex);
  const auto found = known.find(backend);
  if (found != known.end()) return found->second;
  const std::optional<std::string> file = embedded_file("dialects/" + backend + ".h");
  if (!file)
    throw DeviceError("there is no dialect for backend '" + backend + "' (cuda, hip, opencl)");
  return known[backend] = read_sections(*file);
}

using Names = std::unordered_set<std::string_view>;

bool defines_any(const Section& section, const Names& names) {
  return std::any_of(section.words.begin(), section.words.end(),
                     [&](const auto& word) { return names.count(word) > 0; });
}

}  // namespace

std::string prelude_for(const std::string& backend, std::string_view kernel,
                        std::int64_t warp_size) {
  const std::vector<Section>& sections = sections_of(backend);
  const std::vector<std::string_view> words = words_of(kernel);
  Names wanted(words.begin(), words.end());
  std::vector<bool> chosen(sections.size(), false);
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (chosen[i] || !defines_any(sections[i], wanted)) continue;
      chosen[i] = grew = true;
      wanted.insert(sections[i].uses.begin(), sections[i].uses.end());
    }
  }
  std::string result;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!chosen[i]) continue;
    if (!result.empty()) result += "\n";
    bool warp = sections[i].words.front() == "WARP_SIZE";
    result += warp ? "#define WARP_SIZE " + std::to_string(warp_size) + "\n" : sections[i].text;
  }
  return result;
}

std::vector<std::string> dialect_words(const std::string& backend) {
  std::set<std::string> words;
  for (const Section& section : sections_of(backend)) {
    for (const std::string& word : section.words) {
      if (word.compare(0, 5, "KILN_") != 0) words.insert(word);
    }
  }
  return {words.begin(), words.end()};
}

std::string_view source_extension(const std::string& backend) {
  if (backend == "cuda") return "cu";
  return backend == "hip" ? "hip" : "cl";
}

}  // namespace kiln
