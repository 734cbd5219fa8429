// Names of the outcomes, as the database stores them.
// SPDX-License-Identifier: Apache-2.0
#include "core/outcome.hpp"

#include <array>
#include <cstddef>

namespace kiln {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 10> kNames = {
    "ok",           "constraint",   "compile_error", "compile_timeout", "compile_crash",
    "launch_error", "wrong_result", "run_timeout",   "device_fault",    "out_of_memory",
};
static_assert(static_cast<std::size_t>(Outcome::out_of_memory) + 1 == kNames.size());

constexpr auto kAllOutcomes = [] {
  std::array<Outcome, kNames.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Outcome>(i);
  return all;
}();

}  // namespace

std::span<const Outcome> all_outcomes() { return kAllOutcomes; }

std::string_view name_of(Outcome outcome) { return kNames[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> parse_outcome(std::string_view name) {
  for (const Outcome outcome : kAllOutcomes) {
    if (name_of(outcome) == name) return outcome;
  }
  return std::nullopt;
}

}  // namespace kiln
