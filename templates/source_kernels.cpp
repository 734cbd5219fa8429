// SPDX-License-Identifier: Apache-2.0
#include "templates/source_kernels.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "core/source_text.hpp"

namespace kiln {
namespace {

struct Token {
  std::string text;
  int line = 0;
};

/// The tokens of C text: words and numbers, and every other character alone. Comments and
/// directives are left out.
std::vector<Token> tokens_of(std::string_view text) {
  std::string plain(text);
  for (const Directive& directive : directives_of(text)) {
    for (std::size_t i = directive.begin; i < directive.end; ++i) {
      if (plain[i] != '\n') plain[i] = ' ';
    }
  }
  std::vector<Token> tokens;
  int line = 1;
  for (std::size_t i = 0; i < plain.size();) {
    const std::string_view rest = std::string_view(plain).substr(i);
    const auto c = static_cast<unsigned char>(plain[i]);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (std::isalnum(c) != 0 || c == '_') {
      while (length < rest.size() &&
             (std::isalnum(static_cast<unsigned char>(rest[length])) != 0 || rest[length] == '_'))
        ++length;
      tokens.push_back({std::string(rest.substr(0, length)), line});
    } else if (std::isspace(c) == 0) {
      tokens.push_back({std::string(1, plain[i]), line});
    }
    line +=
        static_cast<int>(std::count(rest.begin(), rest.begin() + static_cast<long>(length), '\n'));
    i += length;
  }
  return tokens;
}

bool is_name(const Token& token) {
  const auto first = static_cast<unsigned char>(token.text.front());
  return std::isalpha(first) != 0 || first == '_';
}

/// Walks the tokens of a text.
class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
    for (const auto& [opens, closes] : {std::pair{'(', ')'}, {'[', ']'}, {'{', '}'}, {'<', '>'}}) {
      pair_brackets(opens, closes);
    }
    find_aliases();
  }

  std::vector<SourceKernel> kernels() {
    std::vector<SourceKernel> found;
    std::vector<TemplateParameter> parameters;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::string& word = tokens_[i].text;
      if (word == "template" && is(i + 1, "<")) {
        const std::size_t end = closing(i + 1);
        parameters = template_parameters(i + 2, end);
        i = end;
      } else if (word == "__global__" || word == "__kernel" || word == "kernel") {
        if (auto kernel = kernel_at(i)) {
          kernel->template_parameters = std::exchange(parameters, {});
          found.push_back(std::move(*kernel));
        }
      } else if (word == ";" || word == "}") {
        parameters.clear();
      }
    }
    return found;
  }

 private:
  using Range = std::pair<std::size_t, std::size_t>;

  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text;
  }

  /// Finds all partners in one pass: a search for each would take the square of a hostile text.
  void pair_brackets(char opens, char closes) {
    partner_.resize(tokens_.size(), tokens_.size());
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].text.size() != 1) continue;
      const char c = tokens_[i].text.front();
      if (c == opens) open.push_back(i);
      if (c != closes || open.empty()) continue;
      partner_[open.back()] = i;
      open.pop_back();
    }
  }

  /// The partner of the bracket at `open`; the end of the text where there is none.
  [[nodiscard]] std::size_t closing(std::size_t open) const { return partner_[open]; }

  /// The parts between the commas that stand outside brackets.
  [[nodiscard]] std::vector<Range> split(std::size_t begin, std::size_t end) const {
    std::vector<Range> parts;
    int depth = 0;
    std::size_t start = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string& text = tokens_[i].text;
      if (text == "(" || text == "<" || text == "[") ++depth;
      if (text == ")" || text == ">" || text == "]") --depth;
      if (text != "," || depth > 0) continue;
      parts.emplace_back(start, i);
      start = i + 1;
    }
    if (start < end) parts.emplace_back(start, end);
    return parts;
  }

  [[nodiscard]] std::vector<TemplateParameter> template_parameters(std::size_t begin,
                                                                   std::size_t end) const {
    std::vector<TemplateParameter> parameters;
    for (const auto& [first, last] : split(begin, end)) {
      TemplateParameter parameter;
      std::size_t i = first;
      for (; i < last && tokens_[i].text != "="; ++i) {
        if (!parameter.name.empty())
          parameter.kind += (parameter.kind.empty() ? "" : " ") + parameter.name;
        parameter.name = tokens_[i].text;
      }
      for (++i; i < last; ++i) parameter.fallback += tokens_[i].text;
      parameters.push_back(std::move(parameter));
    }
    return parameters;
  }

  /// The kernel whose qualifier stands at `at`: the name in front of the first bracket that is none
  /// of an attribute.
  [[nodiscard]] std::optional<SourceKernel> kernel_at(std::size_t at) const {
    for (std::size_t i = at + 1; i < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      if (text == ";" || text == "{" || text == "}") return std::nullopt;
      if (text != "(") continue;
      const std::string& before = tokens_[i - 1].text;
      const std::size_t end = closing(i);
      if (before == "__launch_bounds__" || before == "__attribute__") {
        i = end;
        continue;
      }
      if (!is_name(tokens_[i - 1]) || end == tokens_.size()) return std::nullopt;
      SourceKernel kernel;
      kernel.name = before;
      kernel.line = tokens_[i - 1].line;
      for (const auto& [first, last] : split(i + 1, end)) {
        if (auto parameter = parameter_of(first, last)) kernel.parameters.push_back(*parameter);
      }
      std::size_t body = end + 1;
      while (body < tokens_.size() && !is(body, "{") && !is(body, ";")) ++body;
      if (!is(body, "{")) return std::nullopt;  // a declaration
      look_into(body, closing(body), kernel);
      return kernel;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<SourceParameter> parameter_of(std::size_t first,
                                                            std::size_t last) const {
    SourceParameter parameter;
    std::vector<std::string> words;
    for (std::size_t i = first; i < last; ++i) {
      const std::string& text = tokens_[i].text;
      if (text == "*" || text == "[") parameter.is_buffer = true;
      if (text == "const" || text == "__constant" || text == "constant") {
        // "float* const p" is a constant pointer to what may be written.
        parameter.is_const = parameter.is_const || !parameter.is_buffer;
      }
      parameter.is_local = parameter.is_local || text == "__local" || text == "local";
      if (is_name(tokens_[i]) && !is_qualifier(text)) words.push_back(text);
    }
    if (words.size() < 2) return std::nullopt;
    parameter.name = words.back();
    words.pop_back();
    for (const std::string& word : words)
      parameter.type += (parameter.type.empty() ? "" : " ") + word;
    const auto alias = aliases_.find(parameter.type);
    std::string type = alias == aliases_.end() ? parameter.type : alias->second;
    parameter.dtype = dtype_of(type);
    for (const int lanes : {2, 3, 4, 8, 16}) {
      const std::string ending = std::to_string(lanes);
      if (parameter.dtype || !type.ends_with(ending)) continue;
      type.resize(type.size() - ending.size());
      parameter.dtype = dtype_of(type);
      parameter.lanes = lanes == 3 && is_opencl_ ? 4 : lanes;  // where OpenCL aligns it so
    }
    if (!parameter.dtype) parameter.lanes = 1;
    return parameter;
  }

  /// Names that the text gives to types: `typedef float4 vec;`, `using vec = float4;`.
  void find_aliases() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      is_opencl_ = is_opencl_ || text == "__kernel" || text == "kernel";
      const bool is_using = text == "using" && is(i + 2, "=");
      if (text != "typedef" && !is_using) continue;
      std::size_t end = i + 1;
      while (end < tokens_.size() && is_name(tokens_[end])) ++end;
      if (is_using) {
        end = i + 3;
        while (end < tokens_.size() && is_name(tokens_[end])) ++end;
      }
      if (!is(end, ";") || end < i + 3) continue;
      const std::string name = tokens_[is_using ? i + 1 : end - 1].text;
      std::string type;
      for (std::size_t word = is_using ? i + 3 : i + 1; word < (is_using ? end : end - 1); ++word)
        type += (type.empty() ? "" : " ") + tokens_[word].text;
      const auto known = aliases_.find(type);
      aliases_[name] = known == aliases_.end() ? type : known->second;
    }
  }

  static bool is_qualifier(std::string_view word) {
    constexpr std::array<std::string_view, 13> kQualifiers = {
        "const",      "volatile", "restrict", "__restrict__", "__restrict", "__global", "global",
        "__constant", "constant", "__local",  "local",        "struct",     "__private"};
    return std::find(kQualifiers.begin(), kQualifiers.end(), word) != kQualifiers.end();
  }

  static std::optional<DType> dtype_of(const std::string& type) {
    static const std::vector<std::pair<std::string, DType>> kTypes = {
        {"float", DType::f32},
        {"double", DType::f64},
        {"half", DType::f16},
        {"__half", DType::f16},
        {"__nv_bfloat16", DType::bf16},
        {"__hip_bfloat16", DType::bf16},
        {"int", DType::i32},
        {"int32_t", DType::i32},
        {"unsigned", DType::u32},
        {"unsigned int", DType::u32},
        {"uint", DType::u32},
        {"uint32_t", DType::u32},
        {"long long", DType::i64},
        {"int64_t", DType::i64},
        {"long", DType::i64},
        {"size_t", DType::u64},
        {"uint64_t", DType::u64},
        {"unsigned long long", DType::u64},
        {"ulong", DType::u64},
        {"unsigned long", DType::u64},
        {"char", DType::i8},
        {"signed char", DType::i8},
        {"int8_t", DType::i8},
        {"short", DType::i16},
        {"int16_t", DType::i16},
        {"ushort", DType::u16},
        {"unsigned short", DType::u16},
        {"uint16_t", DType::u16},
        {"uchar", DType::u8},
        {"unsigned char", DType::u8},
        {"uint8_t", DType::u8}};
    for (const auto& [name, dtype] : kTypes) {
      if (name == type) return dtype;
    }
    return std::nullopt;
  }

  /// What the body does with its buffers, and which thread indices it uses.
  void look_into(std::size_t begin, std::size_t end, SourceKernel& kernel) const {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string& text = tokens_[i].text;
      if (text == "threadIdx" && is(i + 1, ".")) kernel.dimensions = dimension(i + 2, kernel);
      if (text == "get_local_id" || text == "get_global_id" || text == "get_group_id") {
        if (is(i + 2, "1")) kernel.dimensions = std::max(kernel.dimensions, 2);
        if (is(i + 2, "2")) kernel.dimensions = 3;
      }
      for (SourceParameter& parameter : kernel.parameters) {
        if (parameter.is_buffer && parameter.name == text) note_use(i, parameter);
      }
    }
  }

  [[nodiscard]] int dimension(std::size_t at, const SourceKernel& kernel) const {
    if (is(at, "z")) return 3;
    return is(at, "y") ? std::max(kernel.dimensions, 2) : kernel.dimensions;
  }

  /// `p[...] = x` writes, `p[...] += x` does both, everything else may read and, unless it is an
  /// element, write.
  void note_use(std::size_t at, SourceParameter& parameter) const {
    if (!is(at + 1, "[")) {
      parameter.is_read = true;
      parameter.is_written = parameter.is_written || !parameter.is_const;
      return;
    }
    const std::size_t end = closing(at + 1);
    const bool assigns = is(end + 1, "=") && !is(end + 2, "=");
    const bool updates =
        is(end + 2, "=") && end + 1 < tokens_.size() &&
        std::string_view("+-*/%&|^").find(tokens_[end + 1].text) != std::string_view::npos;
    const bool counts = (is(end + 1, "+") && is(end + 2, "+")) || is(at - 1, "&");
    parameter.is_written = parameter.is_written || assigns || updates || counts;
    parameter.is_read = parameter.is_read || !assigns;
  }

  std::map<std::string, std::string> aliases_;
  bool is_opencl_ = false;
  std::vector<Token> tokens_;
  std::vector<std::size_t> partner_;  ///< of each bracket; elsewhere the number of tokens
};

/// The macro that must not be there behind `#ifndef NAME` and `#if !defined(NAME)`; else empty.
std::string guarded_by(const Directive& directive) {
  if (directive.word == "ifndef") return macro_of(directive);
  constexpr std::string_view kNot = "!defined";
  std::string text;
  for (const char c : directive.rest.substr(0, directive.rest.find("//"))) {
    const bool is_mark = std::isspace(static_cast<unsigned char>(c)) != 0 || c == '(' || c == ')';
    if (!is_mark) text += c;
  }
  return directive.word == "if" && text.starts_with(kNot) ? text.substr(kNot.size()) : "";
}

std::vector<SourceMacro> macros_of(std::string_view text) {
  std::vector<SourceMacro> macros;
  const std::vector<Directive> directives = directives_of(text);
  for (std::size_t i = 0; i < directives.size(); ++i) {
    const Directive& directive = directives[i];
    if (directive.word != "define") continue;
    const std::string name = macro_of(directive);
    const std::string rest = directive.rest.substr(name.size());
    const auto first = rest.find_first_not_of(" \t");
    if (name.empty() || rest.starts_with('(') || first == std::string::npos) continue;
    const bool guarded = i > 0 && guarded_by(directives[i - 1]) == name;
    macros.push_back({name, rest.substr(first), directive.line, guarded});
  }
  return macros;
}

/// Is it a name of the language or of its headers?
bool is_known_macro(const std::string& name) {
  constexpr std::array<std::string_view, 12> kPrefixes = {
      "_", "CLK_", "FLT_", "DBL_", "INT", "UINT", "CHAR_", "LONG_", "SHRT_", "M_", "HUGE_", "CUDA"};
  constexpr std::array<std::string_view, 6> kNames = {"NULL",     "NAN",  "INFINITY",
                                                      "MAXFLOAT", "TRUE", "FALSE"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Does it look like a macro: capitals, or a tuner's usual name?
bool looks_like_macro(const std::string& name) {
  if (name == "block_size_x" || name == "block_size_y" || name == "block_size_z") return true;
  return name.size() > 1 && std::isupper(static_cast<unsigned char>(name.front())) != 0 &&
         std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return std::islower(c) != 0; });
}

std::vector<std::string> undefined_macros(std::string_view text,
                                          const std::vector<SourceKernel>& kernels) {
  std::set<std::string> known;
  for (const Directive& directive : directives_of(text)) {
    if (directive.word == "define") known.insert(macro_of(directive));
  }
  for (const SourceKernel& kernel : kernels) {
    for (const TemplateParameter& parameter : kernel.template_parameters)
      known.insert(parameter.name);
    for (const SourceParameter& parameter : kernel.parameters) known.insert(parameter.name);
  }
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& name = tokens[i].text;
    if (!is_name(tokens[i]) || !looks_like_macro(name) || is_known_macro(name)) continue;
    const std::string before = i == 0 ? "" : tokens[i - 1].text;
    const bool is_declared = i > 0 && is_name(tokens[i - 1]) && before != "return";
    const bool is_other = before == "." || (i + 1 < tokens.size() && tokens[i + 1].text == "(");
    if (is_declared) known.insert(name);
    if (is_declared || is_other || !known.insert(name).second) continue;
    found.push_back(name);
  }
  return found;
}

}  // namespace

SourceFacts read_source(std::string_view text) {
  SourceFacts facts{Reader(tokens_of(text)).kernels(), macros_of(text), {}};
  facts.undefined = undefined_macros(text, facts.kernels);
  return facts;
}

}  // namespace kiln
