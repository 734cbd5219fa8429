// SPDX-License-Identifier: Apache-2.0
#include "tests/templates/golden_file.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

constexpr std::string_view kMark = "//= ";
constexpr std::size_t kFewestLines = 4;    // a run of fewer is easier to read where it stands
constexpr std::size_t kShortestBegin = 3;  // a run does not begin with a brace alone
constexpr std::size_t kLongestQuote = 48;
constexpr std::size_t kMostRenamed = 2;  // words of a run

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

bool is_word(const std::string& part) {
  return std::isalnum(static_cast<unsigned char>(part.front())) != 0 || part.front() == '_';
}

/// The words of a line and what stands between them, in order.
Lines parts_of(const std::string& line) {
  static const std::regex part("[A-Za-z0-9_]+|[^A-Za-z0-9_]+");
  return {std::sregex_token_iterator(line.begin(), line.end(), part), {}};
}

using Renamed = std::map<std::string, std::string>;  // words of another text, and of this one

/// Whether `line` is `other` with words renamed as in `renamed`, which it adds to.
bool is_renamed(const Lines& line, const Lines& other, Renamed& renamed) {
  if (line.size() != other.size()) return false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_word(other[i]) || !is_word(line[i])) {
      if (line[i] != other[i]) return false;
    } else if (renamed.try_emplace(other[i], line[i]).first->second != line[i]) {
      return false;
    }
  }
  return true;
}

Renamed without_same(Renamed renamed) {
  std::erase_if(renamed, [](const auto& word) { return word.first == word.second; });
  return renamed;
}

std::string with_renamed(const std::string& line, const Renamed& renamed) {
  std::string result;
  for (const std::string& part : parts_of(line)) {
    const auto found = renamed.find(part);
    result += found == renamed.end() ? part : found->second;
  }
  return result;
}

struct Text {
  Lines lines;
  std::vector<Lines> parts;  // of each line
};

Text text_of(const std::string& whole) {
  Text text{lines_of(whole), {}};
  for (const std::string& line : text.lines) text.parts.push_back(parts_of(line));
  return text;
}

struct Run {
  std::size_t lines = 0;
  Renamed renamed;
};

/// The lines of `text` from `at` on that are those of `other` from `begin` to `end`, but for words
/// that are renamed.
Run run_at(const Text& text, std::size_t at, const Text& other, std::size_t begin,
           std::size_t end) {
  Run run;
  Renamed renamed;
  while (at + run.lines < text.lines.size() && begin + run.lines < end &&
         is_renamed(text.parts[at + run.lines], other.parts[begin + run.lines], renamed) &&
         without_same(renamed).size() <= kMostRenamed) {
    ++run.lines;
    run.renamed = renamed;
  }
  while (run.lines > 0 && text.lines[at + run.lines - 1].empty()) --run.lines;
  run.renamed = without_same(run.renamed);
  return run;
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
        R"re(//= (\S+), "(.*)"(?: \((\d+)\))? to "(.*)"(?: \((\d+)\))?((?:, \w+ is \w+)*))re");
    static const std::regex renaming(R"re(, (\w+) is (\w+))re");
    std::smatch parts;
    if (!std::regex_match(mark, parts, pattern))
      throw std::runtime_error("expected //= FILE, \"BEGIN\" to \"END\"");
    const auto number = [](const auto& part) { return part.matched ? std::stoi(part.str()) : 1; };
    const Lines& other = of(parts[1].str());
    const std::size_t begin = find(other, 0, parts[2].str(), number(parts[3]));
    if (begin == other.size()) throw std::runtime_error("its first line is not there");
    const std::size_t last = find(other, begin + 1, parts[4].str(), number(parts[5]));
    if (last == other.size()) throw std::runtime_error("its last line is not there");
    const std::string words = parts[6].str();
    Renamed renamed;
    for (std::sregex_iterator word(words.begin(), words.end(), renaming), end; word != end; ++word)
      renamed[(*word)[1].str()] = (*word)[2].str();
    Lines named;
    for (std::size_t i = begin; i <= last; ++i) named.push_back(with_renamed(other[i], renamed));
    return named;
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
    const Text* text;
    std::size_t at;
  };
  std::map<std::string, Text> held;
  std::unordered_map<std::string, std::vector<Place>> places;  // by line without its words
  const auto shape_of = [](const Text& of, std::size_t at) {
    std::string shape;
    for (const std::string& part : of.parts[at]) shape += is_word(part) ? "w" : part;
    return shape;
  };
  const auto hold = [&](const std::string& file, const Text& of, std::size_t at) {
    if (without_indent(of.lines[at]).size() >= kShortestBegin)
      places[shape_of(of, at)].push_back({&file, &of, at});
  };
  for (const auto& [file, whole] : earlier) {
    const Text& of = held[file] = text_of(whole);
    for (std::size_t i = 0; i < of.lines.size(); ++i) hold(file, of, i);
  }
  const Text own = text_of(text);
  std::string result;
  for (std::size_t at = 0; at < own.lines.size();) {
    Run longest{1, {}};
    const Place* origin = nullptr;
    for (const Place& place : places[shape_of(own, at)]) {
      const std::size_t end = place.text == &own ? at : place.text->lines.size();
      Run run = run_at(own, at, *place.text, place.at, end);
      if (run.lines < kFewestLines + run.renamed.size()) continue;
      if (run.lines + longest.renamed.size() <= longest.lines + run.renamed.size()) continue;
      longest = std::move(run);
      origin = &place;
    }
    if (origin == nullptr) {
      result += own.lines[at] + "\n";
    } else {
      const Lines& other = origin->text->lines;
      result += std::string(kMark) + *origin->file + ", " + order_of(other, 0, origin->at) +
                " to " + order_of(other, origin->at + 1, origin->at + longest.lines - 1);
      for (const auto& [word, here] : longest.renamed) result += ", " + word + " is " + here;
      result += "\n";
    }
    for (const std::size_t next = at + longest.lines; at < next; ++at) hold(name, own, at);
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
