// The closed list of what can become of a config.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace kiln {

/// Stored by name; names never change meaning (docs/database_format.md).
enum class Outcome {
  ok,
  constraint,       ///< illegal for this problem or device: found before compiling
  compile_error,    ///< the template or the compiler refused it
  compile_timeout,  ///< the compiler did not finish by its deadline and was killed
  compile_crash,    ///< the compiler process died
  launch_error,     ///< the driver refused the launch
  wrong_result,     ///< output, red zone or read-only input differs from what it must be
  run_timeout,      ///< the kernel did not finish by its deadline and was killed
  device_fault,     ///< illegal address, assert, lost device, or the worker died while running it
  out_of_memory,    ///< device memory for arguments or workspace
};

[[nodiscard]] std::span<const Outcome> all_outcomes();
[[nodiscard]] std::string_view name_of(Outcome outcome);
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view name);

}  // namespace kiln
