// The expression language of specs: constraints, shapes, grids, costs and defaults.
//
// Small on purpose: integers, floats, booleans, strings, lists (only to the right of `in`);
//   + - * / // % **   & | ^ ~ << >>   comparisons (chained too)   and or not   in, not in
//   a if c else b     min max ceil_div round_up pow2 (is a power of two?) log2 (floor) abs
//   int float bool (conversions)     sizeof (of a dtype name)
// All of it means what it means in Python: `/` is true division, `//` and `%` floor, 0 is false and
// every other number true, numbers are written 255, 0xFF, 1_000 or 2.5. Whole numbers may have 96
// bits on the way; a result must fit into 64. A string has no truth value. The names of element
// types (f32, ...) are constants holding their own name. A text is parsed once into bytecode;
// nothing is ever handed to an interpreter of another language, so specs may come from strangers.
// Bounded: text 4096 characters, nesting 64.
//
// A *formula* is the same language for kernel code (problem fields of type "formula"): adds
// sin cos tan exp log sqrt tanh erf floor pow and the constant pi, allows only the declared
// variables, and can be written out as C source. Templates are read by the same parser
// (templates/template_tree.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/scope.hpp"
#include "core/value.hpp"

namespace kiln {

namespace expression {
struct Tree;
}

/// The parameters of another tool's space, for Expression::parse_foreign.
struct ForeignNames {
  std::vector<std::string> all;
  std::vector<std::string> texts;  ///< those of `all` that may hold a text
};

/// Thrown by evaluate(): unknown name, wrong type, division by zero, overflow. The message quotes
/// the expression, its place in the spec and the column of the fault. Formulas compute in real
/// numbers like the kernel that they become: they divide by zero and overflow to infinity.
class EvaluationError : public InputError {
  using InputError::InputError;
};

/// An immutable parsed expression. Cheap to copy (shares its code), safe to evaluate from many
/// threads.
class Expression {
 public:
  /// Parses `text`; `where` is the place of its first character. Throws InputError with the exact
  /// column and what was expected.
  static Expression parse(std::string_view text, const SourceLocation& where = {});

  /// The same, but `text` is parsed at the first use of anything but text() and where(), and faults
  /// are found there. For specs, whose expressions are many and whose lookups need few.
  static Expression defer(std::string_view text, const SourceLocation& where = {});

  /// Parses a formula over `variables`; any other name is an error that lists them.
  static Expression parse_formula(std::string_view text, std::span<const std::string> variables,
                                  const SourceLocation& where = {});

  /// Parses a condition of another tool's space, in Python syntax. `names` win over the words of
  /// this language (f32, true), and a text counts as true unless it is empty.
  static Expression parse_foreign(std::string_view text, const ForeignNames& names,
                                  const SourceLocation& where = {});

  /// The free names, in order of first use, e.g. {"tile", "device.max_shared_bytes"}. The names of
  /// dtypes and functions are not free.
  [[nodiscard]] const std::vector<std::string>& names() const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const SourceLocation& where() const;
  [[nodiscard]] const expression::Tree& tree() const;  ///< as parsed; lives with the expression

  [[nodiscard]] Value evaluate(const Scope& scope) const;
  [[nodiscard]] std::int64_t evaluate_int(
      const Scope& scope) const;                                   ///< a whole number, else error
  [[nodiscard]] double evaluate_number(const Scope& scope) const;  ///< int, float or bool
  [[nodiscard]] bool evaluate_bool(const Scope& scope) const;  ///< a boolean or number, else error
  [[nodiscard]] std::string evaluate_string(const Scope& scope) const;

  /// The fast form for search: slots[i] is the value of names()[i], nullptr when not yet known.
  /// Returns nullopt when the result depends on an unknown slot (`false and unknown` is false,
  /// `true or unknown` is true; a chosen branch does not look at the other).
  [[nodiscard]] std::optional<Value> evaluate(std::span<const Value* const> slots) const;
  /// The same as a condition. Throws EvaluationError for a string, which has no truth value.
  [[nodiscard]] std::optional<bool> evaluate_truth(std::span<const Value* const> slots) const;

  /// Formulas only: returns C source over the same variables. Every literal has the type `real`
  /// ("float" or "double"), every operation is in brackets, and functions have their C names (sin,
  /// not sinf; also pow, fmin, fmax, fabs, floor, ceil). Variables are written as `(name)`, or as
  /// `name` if they are arguments. All of them, index variables too, must have the type `real`
  /// where the text is pasted: a formula only knows real numbers, so i / n is a true division.
  [[nodiscard]] std::string to_c(std::string_view real) const;

  struct Code;

 private:
  /// Parsed, if that was put off.
  [[nodiscard]] const Code& code() const;

  std::shared_ptr<Code> code_;
};

}  // namespace kiln
