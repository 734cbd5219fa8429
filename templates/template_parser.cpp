// Text to tree: finds the tags of a template, how its statements nest, and which blanks and line
// breaks its text keeps. What stands in a tag is read by the parser of specs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/dtype.hpp"
#include "core/suggest.hpp"
#include "templates/template_functions.hpp"
#include "templates/template_tree.hpp"

namespace kiln {
namespace {

using expression::Lexer;
using expression::Source;
using expression::Token;
using expression::TokenKind;
using Kind = TemplateNode::Kind;

constexpr std::size_t kMaxNesting = 64;  // of statements: every walk over the tree recurses
constexpr std::size_t kMaxTag = 2 * expression::kMaxTextLength;  // bytes that a '}}' is sought in
constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kBlanks = " \t";

const char* word_of(const TemplateNode& statement) {
  return statement.kind == Kind::loop ? "for" : "if";
}

class TemplateParser {
 public:
  TemplateParser(const ParsedTemplate& parsed, NameTable& names)
      : text_(parsed.text), start_{parsed.file, 1, 1}, names_(names) {}

  std::vector<TemplateNode> run() {
    if (const std::size_t null = text_.find('\0'); null != kNone)
      fail(null, "a template holds no zero bytes");
    std::size_t text_begin = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // a byte order mark
    for (Tag tag; next_tag(text_begin, tag);) {
      add_text(text_begin, text_end(text_begin, tag));
      read(tag);
      text_begin = next_text(tag);
    }
    add_text(text_begin, text_.size());
    if (!open_.empty()) {
      const std::string word = word_of(open_.back());
      fail(open_.back().position, "this '" + word + "' has no 'end" + word + "'");
    }
    return std::move(nodes_);
  }

 private:
  /// {{ }}, {% %} and {# #} by their second character; a line that begins with ## is one of '\n'.
  struct Tag {
    char kind = 0;
    std::size_t begin = 0;
    std::size_t body = 0;  // [body, body_end): without the '-' and '+' of whitespace control
    std::size_t body_end = 0;
    std::size_t end = 0;
    bool trims = false;  // it ends with '-'
    [[nodiscard]] bool is_line() const { return kind == '\n'; }
  };

  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw InputError(expression::place_of(text_, start_, position), message);
  }

  [[nodiscard]] char at(std::size_t position) const {
    return position < text_.size() ? text_[position] : '\0';
  }

  [[nodiscard]] bool is_blank(std::size_t from, std::size_t to) const {
    return text_.substr(from, to - from).find_first_not_of(kBlanks) == kNone;
  }

  [[nodiscard]] std::size_t skip(std::string_view characters, std::size_t from) const {
    return std::min(text_.find_first_not_of(characters, from), text_.size());
  }

  /// Where the blanks that end at `position` begin.
  [[nodiscard]] std::size_t blanks_before(std::size_t position) const {
    return text_.substr(0, position).find_last_not_of(kBlanks) + 1;  // npos + 1 is 0
  }

  [[nodiscard]] bool is_first_on_line(std::size_t position) const {
    const std::size_t begin = blanks_before(position);
    return begin == 0 || text_[begin - 1] == '\n';
  }

  /// Moves on to `position`, which is never before that of the last call.
  int line_at(std::size_t position) {
    line_ +=
        static_cast<int>(std::count(text_.begin() + line_position_,
                                    text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    line_position_ = static_cast<std::ptrdiff_t>(position);
    return line_;
  }

  // --- Tags ---

  bool next_tag(std::size_t from, Tag& tag) const {
    for (std::size_t i = from; (i = text_.find_first_of("{#", i)) != kNone; ++i) {
      const char next = at(i + 1);
      if (text_[i] == '#') {
        if (next != '#' || !is_first_on_line(i)) continue;
        tag = {'\n', i, i + 2};
      } else {
        if (next != '{' && next != '%' && next != '#') continue;
        tag = {next, i, i + 2};
      }
      find_end(tag);
      return true;
    }
    return false;
  }

  void find_end(Tag& tag) const {
    if (tag.is_line()) {
      tag.body_end = std::min(text_.find('\n', tag.body), text_.size());
      tag.end = std::min(tag.body_end + 1, text_.size());
      return;
    }
    tag.body_end = tag.kind == '#' ? text_.find("#}", tag.body) : find_close(tag);
    if (tag.body_end == kNone) {
      fail(tag.begin,
           "the comment that starts here has no '#}' ('{#' opens a template comment; for C text "
           "write '{ #')");
    }
    tag.end = tag.body_end + 2;
    if (at(tag.body) == '-' || (tag.kind == '%' && at(tag.body) == '+')) ++tag.body;
    tag.trims = at(tag.body_end - 1) == '-' && (tag.kind == '#' || tag.body < tag.body_end);
    if (tag.trims) --tag.body_end;
  }

  /// Where the '}}' or '%}' of the tag stands. No expression has a brace, but for those in texts.
  [[nodiscard]] std::size_t find_close(const Tag& tag) const {
    const std::string close = {tag.kind == '{' ? '}' : '%', '}'};
    const std::string hint =
        tag.kind == '{' ? " ('{{' opens an expression; for C text write '{ {')" : "";
    const std::string_view text = text_.substr(0, tag.body + kMaxTag);
    for (std::size_t i = tag.body; (i = text.find_first_of("\"'{}%", i)) != kNone; ++i) {
      const char c = text[i];
      if (text.substr(i, 2) == close) return i;
      if (c == '%') continue;
      const std::string_view line = text.substr(i, text.find('\n', i) - i);
      const bool is_quote = c == '"' || c == '\'';
      if (const std::size_t quote = line.find(c, 1); is_quote && quote != kNone) {
        i += quote;
        continue;
      }
      const bool opens = c == '{' && (at(i + 1) == '{' || at(i + 1) == '%' || at(i + 1) == '#');
      if (opens || line.find(close) == kNone) break;  // what follows is no part of the tag
      if (is_quote)
        fail(i, std::string("expected a closing ") + c + " for the string that starts here");
      fail(i, std::string("unexpected '") + c + "'" + hint);
    }
    fail(tag.begin, "the tag that starts here has no '" + close + "'" + hint);
  }

  // --- What the text between two tags keeps ---

  /// Blanks between the start of a line and a statement or comment go; so do those before '{{-'.
  [[nodiscard]] std::size_t text_end(std::size_t text_begin, const Tag& tag) const {
    const char control = at(tag.begin + 2);
    const bool strips = tag.kind == '{' ? control == '-' : tag.kind != '%' || control != '+';
    const std::size_t end = std::max(text_begin, blanks_before(tag.begin));
    const bool begins = end == text_begin || text_[end - 1] == '\n' || text_[end - 1] == '\r';
    return strips && begins ? end : std::max(text_begin, tag.begin);
  }

  /// Where the text goes on: behind all that '-' takes away, or behind the line break of a line
  /// that holds statements and comments only.
  std::size_t next_text(const Tag& tag) {
    const bool follows_bare = bare_end_ != kNone && is_blank(bare_end_, tag.begin);
    const bool bare = tag.kind != '{' && (follows_bare || is_first_on_line(tag.begin));
    bare_end_ = bare ? tag.end : kNone;
    if (tag.is_line()) return tag.end;
    if (tag.trims && tag.kind != '#') return skip(" \t\r\n", tag.end);
    std::size_t next = skip(kBlanks, tag.end);
    if (at(next) == '\r' && (tag.trims || at(next + 1) == '\n')) ++next;
    if (at(next) == '\n') return tag.trims || bare ? next + 1 : tag.end;
    return tag.trims ? next : tag.end;
  }

  void add_text(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    add(Kind::text, begin).length = end - begin;
  }

  // --- Statements ---

  std::vector<TemplateNode>& siblings() {
    if (open_.empty()) return nodes_;
    TemplateNode& open = open_.back();
    return open.kind == Kind::branch ? open.body.back().body : open.body;
  }

  TemplateNode& add(Kind kind, std::size_t position) {
    TemplateNode& node = siblings().emplace_back();
    node.kind = kind;
    node.position = position;
    node.line = line_at(position);
    return node;
  }

  void read(const Tag& tag) {
    if (tag.kind == '#') return;
    if (tag.kind == '{') return output(tag);
    const Source source = {text_.substr(0, tag.body_end), start_, tag.body};
    Lexer lexer(source);
    const Token word = lexer.next();
    const std::size_t after = word.offset + word.text.size();
    if (word.kind != TokenKind::name && word.kind != TokenKind::symbol) refuse(word);
    if (word.text == "for") return loop(tag, lexer);
    if (word.text == "if") return branch(tag, after);
    if (word.text == "elif") return otherwise(tag, word, after);
    if (word.text == "set") return assign(tag, lexer);
    if (word.text == "include") return include(tag, lexer);
    const bool ends = word.text == "endfor" || word.text == "endif";
    if (!ends && word.text != "else") refuse(word);
    const Token next = lexer.next();
    if (word.text == "else" && next.text == "if")
      return otherwise(tag, word, next.offset + next.text.size());
    if (ends) {
      close(word);
    } else {
      otherwise(tag, word, kNone);
    }
    expect_end(next);
  }

  void output(const Tag& tag) {
    TemplateExpression value = parse(tag, tag.body);
    const expression::Node& root = value.root();
    if (root.operation == expression::Operation::constant ||
        root.operation == expression::Operation::list) {
      fail(root.offset,
           "this expression is a plain literal ('{{' opens an expression; for C text write '{ {')");
    }
    add(Kind::output, tag.begin).expression = std::move(value);
  }

  void open(Kind kind, const Tag& tag) {
    if (open_.size() == kMaxNesting) fail(tag.begin, "more than 64 statements inside each other");
    TemplateNode& node = open_.emplace_back();
    node.kind = kind;
    node.position = tag.begin;
    node.line = line_at(tag.begin);
  }

  void loop(const Tag& tag, Lexer& lexer) {
    open(Kind::loop, tag);
    name_in(open_.back(), lexer.next());
    const Token in = lexer.next();
    if (in.text == ",") fail(in.offset, "a loop has one name: for x in list");
    if (in.kind != TokenKind::symbol || in.text != "in")
      fail(in.offset, "expected 'in' after the name of the loop, found " + describe(in));
    open_.back().expression = parse(tag, in.offset + in.text.size());
  }

  void branch(const Tag& tag, std::size_t condition) {
    open(Kind::branch, tag);
    add_arm(tag, condition);
  }

  void add_arm(const Tag& tag, std::size_t condition) {
    TemplateNode& arm = open_.back().body.emplace_back();
    arm.kind = Kind::arm;
    arm.position = tag.begin;
    arm.line = line_at(tag.begin);
    if (condition != kNone) arm.expression = parse(tag, condition);
  }

  void otherwise(const Tag& tag, const Token& word, std::size_t condition) {
    if (open_.empty() || open_.back().kind != Kind::branch)
      fail(word.offset, "'" + std::string(word.text) + "' without an 'if' around it");
    if (open_.back().body.back().expression.is_empty())
      fail(word.offset, "a second 'else' for one 'if'");
    add_arm(tag, condition);
  }

  void close(const Token& word) {
    const std::string found(word.text);
    if (open_.empty())
      fail(word.offset, "'" + found + "' without a '" + found.substr(3) + "' before it");
    const std::string expected = std::string("end") + word_of(open_.back());
    if (found != expected) {
      fail(word.offset, "'" + found + "' crosses the '" + word_of(open_.back()) + "' of line " +
                            std::to_string(open_.back().line) + ": expected '" + expected + "'");
    }
    TemplateNode done = std::move(open_.back());
    open_.pop_back();
    siblings().push_back(std::move(done));
  }

  void assign(const Tag& tag, Lexer& lexer) {
    const Token name = lexer.next();
    TemplateNode& node = add(Kind::assign, name.offset);
    name_in(node, name);
    const std::size_t sign =
        std::min(skip(" \t\r\n", name.offset + name.text.size()), tag.body_end);
    if (at(sign) != '=' || at(sign + 1) == '=') fail(sign, "expected '=' after the name to set");
    node.expression = parse(tag, sign + 1);
  }

  void include(const Tag& tag, Lexer& lexer) {
    const Token file = lexer.next();
    if (file.kind != TokenKind::string)
      fail(file.offset, "expected the name of a template in quotes, found " + describe(file));
    TemplateNode& node = add(Kind::include, file.offset);
    node.name = file.text;
    if (!tag.is_line() && is_first_on_line(tag.begin)) {
      const std::size_t blanks = blanks_before(tag.begin);
      node.indent = text_.substr(blanks, tag.begin - blanks);
    }
    expect_end(lexer.next());
  }

  /// What a loop or `set` names. The words of the language keep their meaning.
  void name_in(TemplateNode& node, const Token& name) const {
    static const std::vector<std::string> kWords = {"true", "false", "True", "False"};
    const bool is_word = std::find(kWords.begin(), kWords.end(), name.text) != kWords.end() ||
                         parse_dtype(name.text).has_value();
    if (name.kind != TokenKind::name || is_word)
      fail(name.offset, "expected a name, found " + describe(name));
    node.name = name.text;
    node.slot = names_.slot(name.text);
  }

  void expect_end(const Token& token) const {
    if (token.kind != TokenKind::end)
      fail(token.offset, "expected the end of the statement, found " + describe(token));
  }

  [[noreturn]] void refuse(const Token& word) const {
    static const std::vector<std::string> kStatements = {"for",  "endfor", "if",  "elif",
                                                         "else", "endif",  "set", "include"};
    if (word.kind == TokenKind::end) fail(word.offset, "expected a statement");
    fail(word.offset, "unknown statement " + describe(word) + did_you_mean(word.text, kStatements) +
                          " (there are " + comma_list(kStatements) + ")");
  }

  TemplateExpression parse(const Tag& tag, std::size_t begin) const {
    const Source source = {text_.substr(0, tag.body_end), start_, begin};
    TemplateExpression parsed = {
        parse_tree(source, {.is_template = true, .functions = template_functions()})};
    for (const std::string& name : parsed.tree.names) parsed.slots.push_back(names_.slot(name));
    return parsed;
  }

  const std::string_view text_;
  const SourceLocation start_;
  NameTable& names_;
  std::vector<TemplateNode> nodes_;
  std::vector<TemplateNode> open_;  // loops and branches whose end is still to come
  std::size_t bare_end_ = kNone;    // of the last tag, if its line holds nothing else so far
  int line_ = 1;
  std::ptrdiff_t line_position_ = 0;
};

}  // namespace

SourceLocation ParsedTemplate::where(std::size_t position) const {
  return expression::place_of(text, {file, 1, 1}, position);
}

int NameTable::slot(std::string_view name) {
  const auto known = slots_.find(name);
  if (known != slots_.end()) return known->second;
  const int next = static_cast<int>(slots_.size());
  slots_.emplace(name, next);
  return next;
}

ParsedTemplate parse_template(const std::string& file, std::string text, NameTable& names) {
  ParsedTemplate parsed{file, file.substr(file.rfind('/') + 1), std::move(text), {}};
  parsed.nodes = TemplateParser(parsed, names).run();
  return parsed;
}

}  // namespace kiln
