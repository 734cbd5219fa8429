// Mutants: rendered kernels with one mistake each, of the kinds that people make.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/artifact.hpp"

namespace kiln {

struct Mutant {
  std::string kind;  ///< "bound", "barrier", ...
  std::string what;  ///< the line before and after, for people
  Source source;
};

/// Every mutant that the mutator knows of a source in any dialect, in the order of the text. Only
/// lines that came from a template are touched, never the dialect's words:
///
/// - bound: a comparison is off by one or turned round (tails, reads and writes past an end)
/// - index: an operator in an expression is another one
/// - constant: a whole number is one more or one less
/// - barrier: a barrier is missing
/// - stale: a statement is missing, so that something keeps its old value
/// - race: an atomic is a plain update
/// - nan: a stored value is not a number
/// - input: a read-only argument is written
/// - outside: a byte in front of an output is written
[[nodiscard]] std::vector<Mutant> mutants_of(const Source& source);

}  // namespace kiln
