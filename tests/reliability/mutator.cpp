// Changes one line of a kernel's body at a time, and keeps each changed source once.
// SPDX-License-Identifier: Apache-2.0
#include "mutator.hpp"

#include <cctype>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

namespace kiln {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Mutator {
 public:
  explicit Mutator(const Source& source) : source_(source), lines_(lines_of(source.text)) {}

  std::vector<Mutant> run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i >= source_.origins.size() || source_.origins[i].empty()) continue;
      line_ = i;
      code_ = lines_[i].substr(0, lines_[i].find("//"));
      if (!code_.empty() && code_[0] == '#') continue;
      in_header_ |= code_.find("KERNEL(") != std::string::npos;
      header_ += in_header_ ? code_ + " " : "";
      if (in_header_) {
        end_header();
        continue;
      }
      mutate_line();
    }
    return std::move(mutants_);
  }

 private:
  void add(const std::string& kind, const std::string& changed) {
    if (changed == code_) return;
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      text += (i == line_ ? changed : lines_[i]) + "\n";
    if (!seen_.insert(text).second) return;
    Mutant mutant{kind, code_ + "  ->  " + changed, source_};
    mutant.source.text = std::move(text);
    mutants_.push_back(std::move(mutant));
  }

  /// Replaces each occurrence of `from` alone.
  void swap(const std::string& kind, const std::string& from, const std::string& to) {
    for (std::size_t at = code_.find(from); at != std::string::npos; at = code_.find(from, at + 1))
      add(kind, code_.substr(0, at) + to + code_.substr(at + from.size()));
  }

  void mutate_line() {
    const bool loops = code_.find("for (") != std::string::npos;
    for (const auto& [from, to] : {std::pair(" < ", " <= "),
                                   {" <= ", " < "},
                                   {" > ", " >= "},
                                   {" >= ", " > "},
                                   {" == ", " != "},
                                   {" && ", " || "},
                                   {" < n", " < n - 1"}}) {
      swap("bound", from, to);
    }
    if (!loops) {  // a changed step would be a loop without end: tests of hangs are elsewhere
      for (const auto& [from, to] : {std::pair(" + ", " - "),
                                     {" - ", " + "},
                                     {" * ", " + "},
                                     {" / ", " * "},
                                     {" += ", " = "}})
        swap("index", from, to);
      mutate_constants();
    }
    swap("barrier", "BARRIER();", ";");
    mutate_statement();
  }

  void mutate_constants() {
    static const std::regex kNumber(R"(\b(\d+)\b(?!\.))");
    for (std::sregex_iterator number(code_.begin(), code_.end(), kNumber), end; number != end;
         ++number) {
      const auto at = static_cast<std::size_t>(number->position());
      if (at > 0 && code_[at - 1] == '.') continue;
      const long value = std::stol((*number)[1]);
      for (const long other : {value + 1, value - 1}) {
        if (other < 0) continue;
        add("constant", code_.substr(0, at) + std::to_string(other) +
                            code_.substr(at + static_cast<std::size_t>(number->length())));
      }
    }
  }

  void mutate_statement() {
    static const std::regex kAssignment(
        R"(^(\s*(?:if \(.*\) )?)([\w\[\]\*\+\-\. ()/%]+ \+?= )(.*);\s*$)");
    static const std::regex kDeclaration(
        R"(^\s*(const |for |enum|typedef|GLOBAL |SHARED)|^\s*\w+\*? \w+(\[.*\])? = )");
    static const std::regex kAtomic(R"(^(\s*)ATOMIC_ADD_?\w*\((.*), (.*)\);\s*$)");
    std::smatch parts;
    if (std::regex_match(code_, parts, kAtomic))
      add("race", parts[1].str() + "*(" + parts[2].str() + ") += " + parts[3].str() + ";");
    if (!std::regex_match(code_, parts, kAssignment)) return;
    if (std::regex_search(code_, kDeclaration)) return;
    add("stale", parts[1].str() + ";");
    add("nan", parts[1].str() + parts[2].str() + "(" + parts[3].str() + ") * (0.0f / 0.0f);");
  }

  /// At the end of a kernel's parameters: statements that every thread begins with.
  void end_header() {
    const std::size_t brace = code_.find('{');
    if (brace == std::string::npos) return;
    static const std::regex kBuffer(R"(GLOBAL (const )?\w+\* (?:RESTRICT )?(\w+))");
    for (std::sregex_iterator buffer(header_.begin(), header_.end(), kBuffer), end; buffer != end;
         ++buffer) {
      const bool reads = (*buffer)[1].matched;
      const std::string bytes = "((GLOBAL unsigned char*)" + (*buffer)[2].str() + ")";
      const std::string deed = reads ? bytes + "[0] = 0x5A;" : bytes + "[-1] = 0x5A;";
      add(reads ? "input" : "outside",
          code_.substr(0, brace + 1) + " " + deed + code_.substr(brace + 1));
    }
    in_header_ = false;
    header_.clear();
  }

  const Source& source_;
  std::vector<std::string> lines_;
  std::size_t line_ = 0;
  std::string code_;
  bool in_header_ = false;
  std::string header_;
  std::set<std::string> seen_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Source& source) { return Mutator(source).run(); }

}  // namespace kiln
