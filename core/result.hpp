// Result<T>: a value or a reason; for steps whose failure is data, not the end of the run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/fields.hpp"
#include "core/outcome.hpp"

namespace kiln {

/// Why a step of a trial failed: the outcome to record and a message for people.
struct Failure {
  Outcome outcome = Outcome::launch_error;
  std::string message;
  /// The device context is unusable after this (illegal address, assert): the worker must be
  /// replaced.
  bool sticky = false;
};

KILN_FIELDS(Failure, outcome, message, sticky);

/// A value of type T or a Failure. `if (!result) return result.failure();`
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return Failure{...};` read as what they are.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor, performance-unnecessary-value-param)
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return state_.index() == 0; }
  [[nodiscard]] T& operator*() { return std::get<0>(state_); }
  [[nodiscard]] const T& operator*() const { return std::get<0>(state_); }
  [[nodiscard]] T* operator->() { return &std::get<0>(state_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

/// Success, or a Failure: the result of a step that returns nothing.
struct Done {};
using Status = Result<Done>;

}  // namespace kiln
