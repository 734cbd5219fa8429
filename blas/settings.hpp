// What the environment says to the interception, read once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::blas {

struct Settings {
  enum class Mode {
    off,    ///< forward everything
    on,     ///< take over what a final on this device said is faster
    check,  ///< the library's result counts; Kiln's is computed beside it and compared
  };
  Mode mode = Mode::on;
  bool quiet = false;           ///< write nothing to stderr
  std::string record;           ///< file that receives what was called, for `kiln run`; empty: none
  std::string database;         ///< empty: there is no place for one
  bool tf32_forbidden = false;  ///< NVIDIA_TF32_OVERRIDE=0

  /// Does the process keep out of the way altogether?
  [[nodiscard]] bool is_idle() const { return mode == Mode::off && record.empty(); }
};

/// KILN_BLAS is a list of words with commas: off, check, quiet. A set-uid program, or one with
/// other raised rights, is left alone whatever it says.
[[nodiscard]] const Settings& settings() noexcept;

/// Writes "kiln_blas: MESSAGE" to stderr, unless quiet. Any thread.
void tell(const std::string& message) noexcept;

}  // namespace kiln::blas
