// SPDX-License-Identifier: Apache-2.0
#include "tests/templates/golden_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

constexpr std::string_view kMark = "//= ";
constexpr std::size_t kFewestLines = 4;    // a run of fewer is easier to read where it stands
constexpr std::size_t kShortestBegin = 3;  // a run does not begin with a brace alone
constexpr std::size_t kLongestQuote = 48;

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::string line;
  for (std::istringstream in(text); std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::string quote_of(const std::string& line) {
  return std::string(without_indent(line).substr(0, kLongestQuote));
}

/// The place of the `which`th line from `begin` on that begins with `quote`; lines.size(): none.
std::size_t find(const Lines& lines, std::size_t begin, const std::string& quote, int which) {
  std::size_t at = begin;
  for (; at < lines.size(); ++at)
    if (without_indent(lines[at]).starts_with(quote) && --which == 0) break;
  return at;
}

/// Which of the lines from `begin` to `at` that begin as lines[at] does, as a mark tells it.
std::string order_of(const Lines& lines, std::size_t begin, std::size_t at) {
  const std::string quote = quote_of(lines[at]);
  int which = 0;
  for (std::size_t i = begin; i <= at; ++i)
    if (without_indent(lines[i]).starts_with(quote)) ++which;
  return "\"" + quote + "\"" + (which == 1 ? "" : " (" + std::to_string(which) + ")");
}

struct Run {
  std::size_t begin = 0;
  std::size_t lines = 0;
};

/// How many lines of `other` from `begin` to `end` equal those of `text` from `at` on.
std::size_t run_at(const Lines& text, std::size_t at, const Lines& other, std::size_t begin,
                   std::size_t end) {
  std::size_t count = 0;
  while (at + count < text.size() && begin + count < end &&
         text[at + count] == other[begin + count])
    ++count;
  while (count > 0 && text[at + count - 1].empty()) --count;
  return count;
}

/// Whole texts of golden files, each read once.
class WholeTexts {
 public:
  explicit WholeTexts(const GoldenFiles& files) : files_(files) {}

  /// While the file is being read: its lines so far, for marks that name lines above them.
  const Lines& of(const std::string& name) {
    const auto [found, is_new] = whole_.try_emplace(name);
    Lines& text = found->second;
    if (!is_new) return text;
    const auto file = files_.find(name);
    if (file == files_.end()) throw std::runtime_error("no golden file " + name);
    int number = 0;
    for (const std::string& line : lines_of(file->second)) {
      ++number;
      if (!line.starts_with(kMark)) {
        text.push_back(line);
        continue;
      }
      try {
        const Lines named = lines_named_by(line);
        text.insert(text.end(), named.begin(), named.end());
      } catch (const std::runtime_error& error) {
        throw std::runtime_error(name + ":" + std::to_string(number) + ": " + error.what() + ": " +
                                 line + "; scripts/update_golden writes it anew");
      }
    }
    return text;
  }

 private:
  Lines lines_named_by(const std::string& mark) {
    static const std::regex pattern(
        R"re(//= (\S+), "(.*)"(?: \((\d+)\))? to "(.*)"(?: \((\d+)\))?)re");
    std::smatch parts;
    if (!std::regex_match(mark, parts, pattern))
      throw std::runtime_error("expected //= FILE, \"BEGIN\" to \"END\"");
    const auto number = [](const auto& part) { return part.matched ? std::stoi(part.str()) : 1; };
    const Lines& other = of(parts[1].str());
    const std::size_t begin = find(other, 0, parts[2].str(), number(parts[3]));
    if (begin == other.size()) throw std::runtime_error("its first line is not there");
    const std::size_t last = find(other, begin + 1, parts[4].str(), number(parts[5]));
    if (last == other.size()) throw std::runtime_error("its last line is not there");
    return {other.begin() + static_cast<std::ptrdiff_t>(begin),
            other.begin() + static_cast<std::ptrdiff_t>(last) + 1};
  }

  const GoldenFiles& files_;
  std::map<std::string, Lines> whole_;
};

GoldenFiles stored_files() {
  GoldenFiles files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden_folder())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    files[entry.path().lexically_relative(golden_folder()).string()] =
        std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

}  // namespace

std::filesystem::path golden_folder() {
  return std::filesystem::path(KILN_SOURCE_DIR) / "tests/templates/golden";
}

void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("KILN_UPDATE_GOLDEN") == nullptr) {
    EXPECT_EQ(text, whole_text(name, stored_files()))
        << "golden/" << name << " differs; scripts/update_golden writes it anew";
    return;
  }
  static GoldenFiles written;  // whole texts
  const std::filesystem::path path = golden_folder() / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << shortened(name, text, written);
  written[name] = text;
}

std::string shortened(const std::string& name, const std::string& text,
                      const GoldenFiles& earlier) {
  struct Place {
    const std::string* file;
    const Lines* lines;
    std::size_t at;
  };
  std::map<std::string, Lines> held;
  std::unordered_map<std::string, std::vector<Place>> places;  // by line
  const auto hold = [&](const std::string& file, const Lines& lines, std::size_t at) {
    if (without_indent(lines[at]).size() >= kShortestBegin)
      places[lines[at]].push_back({&file, &lines, at});
  };
  for (const auto& [file, whole] : earlier) {
    const Lines& lines = held[file] = lines_of(whole);
    for (std::size_t i = 0; i < lines.size(); ++i) hold(file, lines, i);
  }
  const Lines lines = lines_of(text);
  std::string result;
  for (std::size_t at = 0; at < lines.size();) {
    std::size_t longest = 1;
    const Place* origin = nullptr;
    for (const Place& place : places[lines[at]]) {
      const std::size_t end = place.lines == &lines ? at : place.lines->size();
      const std::size_t run = run_at(lines, at, *place.lines, place.at, end);
      if (run <= longest || run < kFewestLines) continue;
      longest = run;
      origin = &place;
    }
    if (origin == nullptr) {
      result += lines[at] + "\n";
    } else {
      const Lines& other = *origin->lines;
      result += std::string(kMark) + *origin->file + ", " + order_of(other, 0, origin->at) +
                " to " + order_of(other, origin->at + 1, origin->at + longest - 1) + "\n";
    }
    for (const std::size_t next = at + longest; at < next; ++at) hold(name, lines, at);
  }
  return result;
}

std::string whole_text(const std::string& name, const GoldenFiles& files) {
  WholeTexts whole(files);
  std::string text;
  for (const std::string& line : whole.of(name)) text += line + "\n";
  return text;
}

}  // namespace kiln::test
