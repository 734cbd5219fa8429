// How large the tests of the promises are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace kiln::test {

/// True when scripts/soak asks for the full size (KILN_SOAK=1).
inline bool is_soak() {
  const char* value = std::getenv("KILN_SOAK");
  return value != nullptr && std::string_view(value) == "1";
}

/// How many parts a long list is cut into: a push runs one part of it. .ci/run sets KILN_PART=12.
/// 1 where it is not set, and with KILN_SOAK=1: the whole list runs.
inline std::size_t part_of_lists() {
  const char* part = std::getenv("KILN_PART");
  const std::size_t one_of = part == nullptr ? 1 : std::strtoull(part, nullptr, 10);
  return is_soak() || one_of == 0 ? 1 : one_of;
}

/// A number that .ci/run makes from the commit (KILN_MUTANTS_SEED); 0 elsewhere.
inline std::size_t draw_of_the_commit() {
  const char* seed = std::getenv("KILN_MUTANTS_SEED");
  return seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10);
}

/// Does this run take case `number` of a long list? The commit chooses the part.
inline bool is_drawn(std::size_t number) {
  return (number + draw_of_the_commit()) % part_of_lists() == 0;
}

/// Which of `count` alternatives a push takes. They take turns: with the commit, and with `start`.
/// Only for runs of a part (part_of_lists() > 1).
inline std::size_t turn_of(std::size_t count, std::size_t start) {
  return (draw_of_the_commit() / part_of_lists() + start) % count;
}

}  // namespace kiln::test
