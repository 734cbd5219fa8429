// Finds the tags of a template and checks how its statements nest. template_tokens.cpp checks what
// is in a tag.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_scan.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/suggest.hpp"
#include "templates/template_tokens.hpp"

namespace kiln {
namespace {

// Bounds on what inja's parser and every walk over its tree recurse into.
constexpr std::size_t kMaxStatementNesting = 64;  // of statements
constexpr std::size_t kMaxElseIfs = 256;

class Scanner {
 public:
  Scanner(const std::string& file, const std::string& text)
      : file_(file), text_(text), result_{text, {}} {}

  ScannedTemplate run() {
    std::size_t at = 0;
    while ((at = next_tag(at)) < text_.size()) {
      const std::size_t end = tag(at);
      note_line_break(at, end);
      at = end;
    }
    if (!open_.empty()) {
      fail(open_.back().position,
           "this '" + open_.back().word + "' has no 'end" + open_.back().word + "'");
    }
    return std::move(result_);
  }

 private:
  struct OpenStatement {
    std::string word;  // "for" or "if"
    std::size_t position;
    bool has_else = false;
    std::size_t else_ifs = 0;
  };

  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw InputError(locate(file_, text_, position), message);
  }

  [[nodiscard]] bool starts(std::size_t at, std::string_view what) const {
    return text_.compare(at, what.size(), what) == 0;
  }

  // The next '{{', '{%', '{#', or '##' that is the first thing on its line.
  std::size_t next_tag(std::size_t at) {
    for (; at + 1 < text_.size(); ++at) {
      if (text_[at] == '{' &&
          (text_[at + 1] == '{' || text_[at + 1] == '%' || text_[at + 1] == '#'))
        return at;
      if (text_[at] == '#' && text_[at + 1] == '#' && first_on_line(at)) return at;
    }
    return text_.size();
  }

  [[nodiscard]] bool first_on_line(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  [[nodiscard]] bool is_blank(std::size_t from, std::size_t to) const {
    return std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(from),
                       text_.begin() + static_cast<std::ptrdiff_t>(to),
                       [](char c) { return c == ' ' || c == '\t'; });
  }

  // Is the tag at [at, end) all there is on its line, but for other statements and comments? Then
  // the line break behind it goes with it.
  void note_line_break(std::size_t at, std::size_t end) {
    const bool is_expression = text_[at] == '{' && text_[at + 1] == '{';
    const bool follows_bare = last_bare_end_ > 0 && is_blank(last_bare_end_, at);
    const bool bare = !is_expression && (first_on_line(at) || follows_bare);
    last_bare_end_ = bare ? end : 0;
    if (!bare || text_[at] == '#') return;  // a line statement ends with its line break
    std::size_t next = skip_blanks(end);
    if (next < text_.size() && text_[next] == '\r') ++next;
    if (next < text_.size() && text_[next] == '\n') result_.line_breaks.emplace(end, next + 1);
  }

  std::size_t tag(std::size_t at) {
    if (text_[at] == '#') return line_statement(at);
    if (text_[at + 1] == '#') return comment(at);
    bool statement = text_[at + 1] == '%';
    std::size_t body = at + 2;
    if (body < text_.size() && (text_[body] == '-' || (statement && text_[body] == '+'))) ++body;
    return statement ? this->statement(at, body, "%}")
                     : check_tag_body(file_, text_, at, body, "}}");
  }

  std::size_t comment(std::size_t at) const {
    std::size_t end = text_.find("#}", at + 2);
    if (end == std::string::npos) {
      fail(at,
           "the comment that starts here has no '#}' ('{#' opens a template comment; for C text "
           "write '{ #')");
    }
    return end + 2;
  }

  std::size_t line_statement(std::size_t at) {
    std::size_t line_start = at;
    while (line_start > 0 && text_[line_start - 1] != '\n') --line_start;
    std::string& result = result_.text;
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(line_start),
              result.begin() + static_cast<std::ptrdiff_t>(at + 2), ' ');
    result[line_start] = result[line_start + 1] = '#';
    return statement(at, at + 2, "\n");
  }

  std::size_t statement(std::size_t at, std::size_t body, std::string_view close) {
    std::size_t start = skip_blanks(body);
    std::size_t end = start;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    std::string word = text_.substr(start, end - start);
    if (word == "for" || word == "if") {
      open_.push_back({word, at});
      if (open_.size() > kMaxStatementNesting)
        fail(at, "more than 64 statements inside each other");
    } else if (word == "endfor" || word == "endif") {
      close_statement(word, start);
    } else if (word == "else") {
      std::size_t next = skip_blanks(end);
      bool chained =
          starts(next, "if") && (next + 2 >= text_.size() || !is_name_part(text_[next + 2]));
      else_statement(start, chained);
    } else if (word != "set" && word != "include") {
      refuse_statement(word, start);
    }
    return check_tag_body(file_, text_, at, end, close);
  }

  void close_statement(const std::string& word, std::size_t start) {
    if (open_.empty()) fail(start, "'" + word + "' without a '" + word.substr(3) + "' before it");
    if ("end" + open_.back().word != word) {
      fail(start, "'" + word + "' crosses the '" + open_.back().word + "' of line " +
                      std::to_string(locate(file_, text_, open_.back().position).line) +
                      ": expected 'end" + open_.back().word + "'");
    }
    open_.pop_back();
  }

  void else_statement(std::size_t start, bool chained) {
    if (open_.empty() || open_.back().word != "if") fail(start, "'else' without an 'if' around it");
    if (open_.back().has_else) fail(start, "a second 'else' for one 'if'");
    open_.back().has_else = !chained;
    if (chained && ++open_.back().else_ifs > kMaxElseIfs)
      fail(start, "more than 256 'else if' of one 'if'");
  }

  [[noreturn]] void refuse_statement(const std::string& word, std::size_t start) const {
    static const std::vector<std::string> kStatements = {"for",   "endfor", "if",     "else",
                                                         "endif", "set",    "include"};
    fail(start, "unknown statement '" + word + "'" + did_you_mean(word, kStatements) +
                    " (there are " + comma_list(kStatements) + ")");
  }

  [[nodiscard]] std::size_t skip_blanks(std::size_t at) const {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    return at;
  }

  const std::string& file_;
  const std::string& text_;
  ScannedTemplate result_;
  std::size_t last_bare_end_ = 0;  // of a tag alone on its line; 0: the last tag was none
  std::vector<OpenStatement> open_;
};

}  // namespace

SourceLocation locate(const std::string& file, const std::string& text, std::size_t position) {
  position = std::min(position, text.size());
  auto begin = text.begin();
  auto here = begin + static_cast<std::ptrdiff_t>(position);
  auto line = std::count(begin, here, '\n') + 1;
  std::size_t line_start = position == 0 ? std::string::npos : text.rfind('\n', position - 1);
  std::size_t column = line_start == std::string::npos ? position + 1 : position - line_start;
  return {file, static_cast<int>(line), static_cast<int>(column)};
}

ScannedTemplate check_template_text(const std::string& file, const std::string& text) {
  std::size_t null = text.find('\0');
  if (null != std::string::npos)
    throw InputError(locate(file, text, null), "a template holds no zero bytes");
  return Scanner(file, text).run();
}

}  // namespace kiln
