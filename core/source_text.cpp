// SPDX-License-Identifier: Apache-2.0
#include "core/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace kiln {
namespace {

bool is_identifier_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Walks C text character by character and knows which of it is comment.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] int line() const { return line_; }

  /// The next character outside comments; a comment counts as one blank, an escaped line break as
  /// nothing. '\0' at the end.
  char next() {
    while (!at_end()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("\\\n")) {
        skip(2);
      } else if (rest.starts_with("\\\r\n")) {
        skip(3);
      } else if (rest.starts_with("//")) {
        while (!at_end() && text_[at_] != '\n') skip(text_.substr(at_).starts_with("\\\n") ? 2 : 1);
        return ' ';
      } else if (rest.starts_with("/*")) {
        const std::size_t end = rest.find("*/", 2);
        skip(end == std::string_view::npos ? rest.size() : end + 2);
        return ' ';
      } else {
        skip(1);
        return rest.front();
      }
    }
    return '\0';
  }

  /// The rest of the line, comments left out; stops in front of the line break.
  std::string rest_of_line() {
    std::string rest;
    while (!at_end() && text_[at_] != '\n') {
      if (const char c = next(); c != '\0') rest += c;
    }
    return rest;
  }

  /// Past a string or character literal that began with `quote`; ends at the line's end at last.
  void skip_literal(char quote) {
    while (!at_end() && text_[at_] != '\n') {
      const char c = text_[at_];
      skip(c == '\\' && at_ + 1 < text_.size() ? 2 : 1);
      if (c == quote) return;
    }
  }

 private:
  void skip(std::size_t count) {
    const std::size_t end = std::min(at_ + count, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

std::string trimmed(const std::string& text) {
  const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
  const auto last = std::find_if_not(text.rbegin(), text.rend(), is_blank).base();
  return first < last ? std::string(first, last) : std::string();
}

/// Copies C text without its comments, character by character.
class CommentFilter {
 public:
  explicit CommentFilter(std::string_view text) : text_(text) { kept_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      const char c = rest.front();
      if (rest.starts_with("//")) {
        skip_line();
      } else if (rest.starts_with("/*")) {
        const std::size_t end = rest.find("*/", 2);
        at_ = end == std::string_view::npos ? text_.size() : at_ + end + 2;
        keep_blank();
      } else if (c == '"' && follows_prefix("R")) {
        keep_raw_literal();
      } else if (c == '"' || (c == '\'' && !is_digit_separator())) {
        keep_literal(c);
      } else if (c == '\n') {
        end_line();
        ++at_;
      } else if (is_blank(c)) {
        keep_blank();
        ++at_;
      } else {
        kept_ += c;
        ++at_;
      }
    }
    end_line();
    return std::move(kept_);
  }

 private:
  /// One for any number of them, none where a line begins that no backslash joins to the last.
  void keep_blank() {
    const bool is_indent = kept_.empty() || (kept_.back() == '\n' && !kept_.ends_with("\\\n"));
    if (!is_indent && (kept_.size() == line_ || kept_.back() != ' ')) kept_ += ' ';
  }
  /// To the line break, or the one behind it where a backslash joins the lines.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
  }
  /// The last word of what was kept ends with `letter` of a literal's prefix: R, LR, u8R, ...
  [[nodiscard]] bool follows_prefix(std::string_view letter) const {
    std::size_t begin = kept_.size();
    while (begin > 0 && is_identifier_char(kept_[begin - 1])) --begin;
    const std::string_view word = std::string_view(kept_).substr(begin);
    return word == letter || (word.ends_with(letter) && is_prefix(word.substr(0, word.size() - 1)));
  }
  static bool is_prefix(std::string_view word) {
    return word == "L" || word == "u" || word == "U" || word == "u8";
  }
  /// 1'000: a quote within a word that is no prefix of a literal.
  [[nodiscard]] bool is_digit_separator() const {
    std::size_t begin = kept_.size();
    while (begin > 0 && (is_identifier_char(kept_[begin - 1]) || kept_[begin - 1] == '\'')) --begin;
    const std::string_view word = std::string_view(kept_).substr(begin);
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
  }
  void keep_literal(char quote) {
    kept_ += text_[at_++];
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char c = text_[at_++];
      kept_ += c;
      if (c == quote) return;
      if (c == '\\' && at_ < text_.size()) kept_ += text_[at_++];
    }
  }
  void keep_raw_literal() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return keep_literal('"');
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t found = text_.find(end, open);
    const std::size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
    kept_ += text_.substr(at_, stop - at_);
    line_ = kept_.size();  // its blanks and line breaks count
    at_ = stop;
  }
  /// Drops blanks at the end of the line, and the line if nothing is left of it. A backslash joins
  /// the next line, an empty one too: then all of it counts.
  void end_line() {
    std::size_t end = kept_.size();
    while (end > line_ && is_blank(kept_[end - 1])) --end;
    if (end == 0 || kept_[end - 1] != '\\') kept_.resize(end);
    const bool is_empty = kept_.empty() || kept_.back() == '\n';
    if (!is_empty || kept_.ends_with("\\\n")) kept_ += '\n';
    line_ = kept_.size();
  }

  std::string_view text_;
  std::string kept_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;  ///< where the blanks of the current line may begin
};

}  // namespace

std::vector<Directive> directives_of(std::string_view text) {
  std::vector<Directive> directives;
  Scanner scanner(text);
  bool line_is_blank = true;
  std::size_t line_begin = 0;
  while (!scanner.at_end()) {
    const int line = scanner.line();
    const char c = scanner.next();
    if (c == '\n') {
      line_is_blank = true;
      line_begin = scanner.position();
    } else if (c == '#' && line_is_blank) {
      const std::string rest = trimmed(scanner.rest_of_line());
      const auto word_end = std::find_if_not(rest.begin(), rest.end(), is_identifier_char);
      directives.push_back({std::string(rest.begin(), word_end),
                            trimmed(std::string(word_end, rest.end())), line_begin,
                            scanner.position(), line});
    } else if (c == '"' || c == '\'') {
      scanner.skip_literal(c);
      line_is_blank = false;
    } else {
      line_is_blank = line_is_blank && is_blank(c);
    }
  }
  return directives;
}

std::string macro_of(const Directive& directive) {
  const std::string& rest = directive.rest;
  return {rest.begin(), std::find_if_not(rest.begin(), rest.end(), is_identifier_char)};
}

std::string without_comments(std::string_view text) { return CommentFilter(text).run(); }

std::set<std::string> identifiers_of(std::string_view text) {
  std::set<std::string> names;
  Scanner scanner(text);
  std::string name;
  while (!scanner.at_end()) {
    const char c = scanner.next();
    if (is_identifier_char(c)) {
      name += c;
      continue;
    }
    if (!name.empty()) names.insert(std::move(name));
    name.clear();
  }
  if (!name.empty()) names.insert(std::move(name));
  return names;
}

std::string path_inside(const std::string& path) {
  namespace fs = std::filesystem;
  const auto is_odd = [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; };
  if (path.empty() || std::any_of(path.begin(), path.end(), is_odd)) return "";
  const fs::path normal = fs::path(path).lexically_normal();
  if (normal.is_absolute() || *normal.begin() == "..") return "";
  const std::string text = normal.generic_string();
  return text == "." ? "" : text;
}

std::vector<std::string> include_candidates(const Directive& directive, const std::string& from,
                                            const std::vector<std::string>& folders) {
  std::vector<std::string> candidates;
  if (directive.word != "include" || directive.rest.size() < 3) return candidates;
  const bool quoted = directive.rest.front() == '"';
  if (!quoted && directive.rest.front() != '<') return candidates;
  const std::size_t end = directive.rest.find(quoted ? '"' : '>', 1);
  if (end == std::string::npos) return candidates;
  const std::string name = directive.rest.substr(1, end - 1);
  if (name.empty() || name.front() == '/') return candidates;
  const auto add = [&](const std::string& path) {
    std::string inside = path_inside(path);
    if (!inside.empty()) candidates.push_back(std::move(inside));
  };
  const std::size_t slash = from.rfind('/');
  if (quoted) add((slash == std::string::npos ? "" : from.substr(0, slash + 1)) + name);
  for (const std::string& folder : folders) add(folder + "/" + name);
  return candidates;
}

SourceFiles included_files(const SourceFiles& all, const std::string& file,
                           const std::vector<std::string>& folders) {
  SourceFiles found;
  std::vector<std::string> waiting = {file};
  while (!waiting.empty()) {
    const auto next = all.find(waiting.back());
    waiting.pop_back();
    if (next == all.end() || !found.insert(*next).second) continue;
    for (const Directive& directive : directives_of(next->second)) {
      for (const std::string& candidate : include_candidates(directive, next->first, folders)) {
        if (all.count(candidate) == 0) continue;
        waiting.push_back(candidate);
        break;
      }
    }
  }
  return found;
}

}  // namespace kiln
