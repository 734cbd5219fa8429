// Expected<T>: a value or an error. Every call of Kiln returns one. Only value() throws.
//
//   auto kernel = launcher.prepare("reduce", "n=1e6");
//   if (!kernel) report(kernel.error().message);
//
//   auto same = launcher.prepare("reduce", "n=1e6").value();  // throws LaunchFailure
//
// C++17, standard library only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace kiln {

/// The kind of an error. Numbers are part of the C interface (kiln.h) and never change.
enum class LaunchErrorCode : int {
  unknown_kernel = 1,  ///< no built-in kernel or folder of that name, or its spec is wrong
  bad_problem = 2,     ///< the problem text does not fit the spec
  no_device = 3,       ///< the backend or the device is missing
  impossible = 4,      ///< no config of the kernel is legal for this problem on this device
  /// An argument of launch() is missing, unknown, of the wrong type or too small.
  bad_argument = 5,
  compile_failed = 6,  ///< rendering or compiling failed; the message holds the compiler's log
  device_failed = 7,   ///< the driver refused a call, or an earlier launch failed
  out_of_memory = 8,   ///< device memory for the workspace
  bad_option = 9,      ///< an option that makes no sense
  internal = 10,       ///< a defect of Kiln, or no host memory
};

struct LaunchError {
  LaunchErrorCode code = LaunchErrorCode::internal;
  std::string message;  ///< for people: names the kernel, the argument, what was expected
};

/// The exception of Expected::value().
class LaunchFailure : public std::runtime_error {
 public:
  explicit LaunchFailure(const LaunchError& error)
      : std::runtime_error(error.message), code_(error.code) {}
  [[nodiscard]] LaunchErrorCode code() const noexcept { return code_; }

 private:
  LaunchErrorCode code_;
};

template <typename T>
class [[nodiscard]] Expected {
 public:
  // Implicit on purpose, as in std::expected.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Expected(LaunchError error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }

  /// The value; throws LaunchFailure when there is none.
  T& value() & { return require(), *std::get_if<0>(&state_); }
  const T& value() const& { return require(), *std::get_if<0>(&state_); }
  T value() && { return require(), std::move(*std::get_if<0>(&state_)); }

  /// Unchecked: only after `if (expected)`.
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// Only where there is no value.
  [[nodiscard]] const LaunchError& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  void require() const {
    if (!has_value()) {
      throw LaunchFailure(error());
    }
  }

  std::variant<T, LaunchError> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Expected(LaunchError error) : error_(std::move(error)), ok_(false) {}

  explicit operator bool() const noexcept { return ok_; }
  [[nodiscard]] bool has_value() const noexcept { return ok_; }
  void value() const {
    if (!ok_) {
      throw LaunchFailure(error_);
    }
  }
  [[nodiscard]] const LaunchError& error() const noexcept { return error_; }

 private:
  LaunchError error_;
  bool ok_ = true;
};

}  // namespace kiln
