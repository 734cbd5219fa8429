// The cases that the tests of kernels try: a problem, and a config of one variant for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.hpp"

namespace kiln::test {

struct Case {
  Problem problem;
  Config config;

  /// "matmul m=64 n=64 k=64, tiled:tile=16,rows_per_thread=1", for messages.
  [[nodiscard]] std::string text(const KernelSpec& spec) const;
};

/// Does the variant exist for this problem on this device (its `requires`)?
[[nodiscard]] bool is_possible(const KernelSpec& spec, const Variant& variant,
                               const Problem& problem, const DeviceInfo& device);

/// The default config of every variant for every problem that it is possible for; problem by
/// problem.
[[nodiscard]] std::vector<Case> default_cases(const KernelSpec& spec,
                                              const std::vector<Problem>& problems,
                                              const DeviceInfo& device);

/// Of the cases of each variant those that this run takes (tests/reliability/size.hpp), one at
/// least.
[[nodiscard]] std::vector<Case> drawn_cases(const std::vector<Case>& cases);

/// Its variant and its problem's element types: "tiled f32".
[[nodiscard]] std::string kind_of(const KernelSpec& spec, const Case& c);

/// Of the cases of each variant and element type (kind_of) one, drawn by `seed`; the same on every
/// machine.
[[nodiscard]] std::vector<Case> one_of_each_type(const KernelSpec& spec, std::vector<Case> cases,
                                                 std::uint64_t seed);

/// `count` legal configs of each variant, for one problem after the other in an order that `seed`
/// shuffles. The same for the same seed on every machine.
[[nodiscard]] std::vector<Case> random_cases(const KernelSpec& spec,
                                             const std::vector<Problem>& problems,
                                             const DeviceInfo& device, std::size_t count,
                                             std::uint64_t seed);

}  // namespace kiln::test
