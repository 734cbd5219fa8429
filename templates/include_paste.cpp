// Follows the #include lines of a plain source, and pastes headers of its folder in their place.
// SPDX-License-Identifier: Apache-2.0
#include "templates/include_paste.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "core/errors.hpp"
#include "core/source_text.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;

/// Headers of the runtimes: compilers at run time have no use for them, and often none of them.
const std::set<std::string>& runtime_headers() {
  static const std::set<std::string> kHeaders = {"cuda_runtime.h", "cuda_runtime_api.h",
                                                 "device_launch_parameters.h", "hip/hip_runtime.h"};
  return kHeaders;
}

bool is_runtime_header(const Directive& directive) {
  const std::string& rest = directive.rest;
  return directive.word == "include" && rest.size() > 2 &&
         runtime_headers().count(rest.substr(1, rest.size() - 2)) > 0;
}

bool is_once(const Directive& directive) {
  return directive.word == "pragma" && directive.rest == "once";
}

bool is_guarded(const std::vector<Directive>& directives) {
  if (std::any_of(directives.begin(), directives.end(), is_once)) return true;
  return directives.size() > 1 && directives[0].word == "ifndef" &&
         directives[1].word == "define" && macro_of(directives[0]) == macro_of(directives[1]);
}

std::ptrdiff_t line_breaks(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n');
}

class Paster {
 public:
  Paster(const KernelSpec& spec, const PlainSource& plain, const std::set<std::string>& macros)
      : spec_(spec), plain_(plain), macros_(macros) {
    for (const auto& [file, text] : included_files(spec.files, plain.file, plain.folders)) {
      directives_.emplace(file, directives_of(text));
    }
  }

  std::string run() {
    paste(plain_.file);
    return std::move(out_);
  }

 private:
  void paste(const std::string& file) {
    const std::string& text = spec_.files.at(file);
    const std::vector<Directive>& directives = directives_.at(file);
    open_.push_back(file);
    const bool once = std::any_of(directives.begin(), directives.end(), is_once);
    if (once) out_ += "#ifndef " + once_macro(file) + "\n#define " + once_macro(file) + "\n";
    place(file, 1);
    std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // a mark of UTF-8
    for (const Directive& directive : directives) {
      const std::string* header = header_of(directive, file);
      if (header == nullptr && !gives_way(directive)) continue;
      out_.append(text, at, std::max(directive.begin, at) - at);
      at = directive.end;
      const std::string_view taken =
          std::string_view(text).substr(directive.begin, directive.end - directive.begin);
      if (header == nullptr || is_open(*header, directive, file)) {
        out_.append(static_cast<std::size_t>(line_breaks(taken)), '\n');
        continue;
      }
      paste(*header);
      at = std::min(directive.end + 1, text.size());
      place(file, line_breaks(std::string_view(text).substr(0, directive.end)) + 2);
    }
    out_.append(text, at);
    if (!out_.ends_with('\n')) out_ += '\n';
    if (once) out_ += "#endif\n";
    open_.pop_back();
    if (out_.size() > kMaxBytes)
      throw InputError(where(file, 0), "more than 4 MiB with what it includes");
  }

  void place(const std::string& file, std::ptrdiff_t line) {
    out_ += "#line " + std::to_string(line) + " \"" + file + "\"\n";
  }

  /// The file of the folder that the directive pastes; nullptr: none.
  const std::string* header_of(const Directive& directive, const std::string& file) const {
    for (const std::string& candidate : include_candidates(directive, file, plain_.folders)) {
      const auto found = directives_.find(candidate);
      if (found != directives_.end()) return &found->first;
    }
    return nullptr;
  }

  [[nodiscard]] bool gives_way(const Directive& directive) const {
    if (is_once(directive) || is_runtime_header(directive)) return true;
    if (directive.word != "define") return false;
    const std::string macro = macro_of(directive);
    const bool takes_arguments = directive.rest.substr(macro.size()).starts_with('(');
    return !takes_arguments && macros_.count(macro) > 0;
  }

  /// Is the header being pasted at this moment? Then its guard would leave it empty here.
  bool is_open(const std::string& header, const Directive& directive,
               const std::string& file) const {
    if (std::find(open_.begin(), open_.end(), header) == open_.end()) return false;
    if (is_guarded(directives_.at(header))) return true;
    throw InputError(where(file, directive.line),
                     "'" + header + "' includes itself: " + comma_list(open_) + ", " + header);
  }

  [[nodiscard]] std::string once_macro(const std::string& file) const {
    const auto place = std::distance(directives_.begin(), directives_.find(file));
    return "KILN_ONCE_" + std::to_string(place);
  }

  [[nodiscard]] SourceLocation where(const std::string& file, int line) const {
    const std::size_t slash = spec_.path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : spec_.path.substr(0, slash + 1);
    return {folder + file, line, 0};
  }

  const KernelSpec& spec_;
  const PlainSource& plain_;
  const std::set<std::string>& macros_;
  std::map<std::string, std::vector<Directive>> directives_;  ///< of each file that is reached
  std::vector<std::string> open_;                             ///< files that are being pasted
  std::string out_;
};

}  // namespace

std::string paste_includes(const KernelSpec& spec, const PlainSource& plain,
                           const std::set<std::string>& macros) {
  return Paster(spec, plain, macros).run();
}

}  // namespace kiln
