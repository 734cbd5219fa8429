// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/problem_limits.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"

namespace kiln {
namespace {

/// "12 TB": decimal units, as memory of devices is sold.
std::string size_text(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

}  // namespace

Status check_problem_fits(const Setting& setting) {
  const Result<LaunchPlan> arguments = setting.arguments();
  if (!arguments) return arguments.failure();
  double bytes = 0;
  for (const BufferPlan& buffer : arguments->buffers) bytes += static_cast<double>(buffer.bytes());
  const auto memory = static_cast<double>(setting.device().global_bytes);
  if (memory <= 0 || bytes <= memory) return Done{};
  const auto largest = std::max_element(
      arguments->buffers.begin(), arguments->buffers.end(),
      [](const BufferPlan& a, const BufferPlan& b) { return a.bytes() < b.bytes(); });
  return Failure{Outcome::constraint,
                 fmt::format("needs {} for its arguments ({} for '{}'), the device has {}",
                             size_text(bytes), size_text(static_cast<double>(largest->bytes())),
                             largest->name, size_text(memory))};
}

void require_problem_fits(const Setting& setting) {
  const Status fits = check_problem_fits(setting);
  if (fits) return;
  throw InputError(fmt::format("no config of {} can run {} on {}: {}", setting.spec().name,
                               setting.problem().text(), setting.device().name,
                               fits.failure().message));
}

}  // namespace kiln
