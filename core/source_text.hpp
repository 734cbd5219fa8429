// C text as far as Kiln reads it: directives of the preprocessor, names, and where includes lead.
//
// Nothing here compiles or evaluates: an #include inside an #if is an include. Comments are known,
// string literals are not (a directive begins its line, so that none hides in one).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// One line that begins with '#', joined with those that a backslash continues.
struct Directive {
  std::string word;       ///< "include", "define", "ifndef", ...
  std::string rest;       ///< what follows, without comments and blanks around
  std::size_t begin = 0;  ///< offset of its line's first character
  std::size_t end = 0;    ///< offset behind its last character, the line break not included
  int line = 0;           ///< counted from 1
};

/// The directives of `text`, those in comments left out.
[[nodiscard]] std::vector<Directive> directives_of(std::string_view text);

/// The name that a #define or #ifndef is about: the identifier at the start of its `rest`.
[[nodiscard]] std::string macro_of(const Directive& directive);

/// The text as a compiler sees it: without comments, blank lines and indents, and with one blank
/// for several outside literals. Texts that give one result compile alike, but for the numbers of
/// their lines.
[[nodiscard]] std::string without_comments(std::string_view text);

/// The identifiers of C text outside comments.
[[nodiscard]] std::set<std::string> identifiers_of(std::string_view text);

/// A plain source and the headers of a kernel's folder, by path below that folder.
using SourceFiles = std::map<std::string, std::string>;

/// Where an #include of the file `from` may lead, best first: paths below the kernel's folder
/// without "..". Quoted names are looked up beside `from` first; then come `folders`. Empty for
/// other directives, and for a macro in place of a name.
[[nodiscard]] std::vector<std::string> include_candidates(const Directive& directive,
                                                          const std::string& from,
                                                          const std::vector<std::string>& folders);

/// `path` without "." and ".."; "" when it is absolute, leads out of the folder, or holds quotes,
/// backslashes or control characters.
[[nodiscard]] std::string path_inside(const std::string& path);

/// The files of `all` that `file` is made of: itself and what it includes, directly or not.
[[nodiscard]] SourceFiles included_files(const SourceFiles& all, const std::string& file,
                                         const std::vector<std::string>& folders);

}  // namespace kiln
