// Selects the sections of a dialect's prelude whose words a kernel uses.
// SPDX-License-Identifier: Apache-2.0
#include "templates/prelude.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "core/errors.hpp"
#include "templates/embedded.hpp"

namespace kiln {
namespace {

struct Section {
  std::vector<std::string> words;
  std::string text;
  std::set<std::string> uses;  // identifiers of the text
};

/// The identifiers of C text outside comments and string literals.
std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> result;
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
  return result;
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

const std::vector<Section>& sections_of(const std::string& backend) {
  static const auto* all = [] {
    auto* map = new std::map<std::string, std::vector<Section>>;
    for (const char* name : {"cuda", "hip", "opencl"}) {
      (*map)[name] =
          read_sections(embedded_file("dialects/" + std::string(name) + ".h").value_or(""));
    }
    return map;
  }();
  auto found = all->find(backend);
  if (found == all->end())
    throw DeviceError("there is no dialect for backend '" + backend + "' (cuda, hip, opencl)");
  return found->second;
}

bool defines_any(const Section& section, const std::set<std::string>& names) {
  return std::any_of(section.words.begin(), section.words.end(),
                     [&](const auto& word) { return names.count(word) > 0; });
}

}  // namespace

std::string prelude_for(const std::string& backend, std::string_view kernel,
                        std::int64_t warp_size) {
  const std::vector<Section>& sections = sections_of(backend);
  std::set<std::string> wanted = words_of(kernel);
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
