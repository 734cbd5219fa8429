// A first spec, before a person has confirmed it: what `kiln init` found, and what it guessed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/value.hpp"
#include "templates/source_kernels.hpp"

namespace kiln::cli {

/// A tunable, its values as TOML.
struct DraftTunable {
  std::vector<std::string> values;
  std::string fallback;  ///< key `default`
  std::string doc;       ///< plain text; may be empty
};

/// One line of TOML. A guess is marked with its reason, for the user to confirm.
struct DraftLine {
  std::string key;
  std::string value;                         ///< as TOML
  std::string guess;                         ///< why it may be wrong; empty: it is known
  std::optional<DraftTunable> tunable = {};  ///< in place of `value`
};

struct DraftTable {
  std::string header;  ///< "[problem.n]"
  std::vector<DraftLine> lines;
};

struct Draft {
  std::string name;
  std::string summary;
  std::string source;                 ///< file name
  std::vector<DraftTable> tables;     ///< in the order of the file
  std::vector<std::string> comments;  ///< at the end: what was seen and not used
};

/// The text of spec.toml.
[[nodiscard]] std::string spec_text(const Draft& draft);

/// How many lines are guesses.
[[nodiscard]] std::size_t guesses_in(const Draft& draft);

/// A draft for `kernel` of the file named `source`. Throws InputError when no spec can be made of
/// it: a kernel that writes nothing.
[[nodiscard]] Draft draft_from_source(const SourceFacts& facts, const SourceKernel& kernel,
                                      const std::string& source);

/// A draft from a T1 file, the description of a kernel that other tuners read. `path` is for
/// messages. Throws InputError with what was expected where.
[[nodiscard]] Draft draft_from_t1(const std::string& text, const std::string& path);

/// Gives the tunable `name` of the draft these values; its default stays if it is among them, else
/// becomes the first. Returns false if the draft has no such tunable, or there are no values.
bool set_values(Draft& draft, const std::string& name, const std::vector<Value>& values);

/// `text` as a TOML string.
[[nodiscard]] std::string toml_text(const std::string& text);
/// `value` as TOML.
[[nodiscard]] std::string toml_value(const Value& value);
/// A TOML list of these.
[[nodiscard]] std::string list_of(const std::vector<std::string>& items);

/// A name that the expression language takes: `name`, with '_' behind it where it is a word of that
/// language.
[[nodiscard]] std::string usable_name(const std::string& name);

/// `name` as the name of a kernel: lower case letters, digits and _.
[[nodiscard]] std::string kernel_name_of(const std::string& name);

}  // namespace kiln::cli
