// Steps between configs that strategies share.
// SPDX-License-Identifier: Apache-2.0
#include "search/moves.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "small_variant.hpp"

namespace kiln {
namespace {

using test::small_variant;

Variant named(std::string name, Variant variant) {
  variant.name = std::move(name);
  return variant;
}

/// The second variant has other tiles, one tunable more, and no room for large tiles but one.
KernelSpec twins() {
  KernelSpec spec;
  spec.name = "twins";
  spec.variants = {
      named("one", small_variant({{"tile", {8, 16, 32, 64}}, {"threads", {32, 64, 128}}}, {})),
      named("other",
            small_variant({{"splits", {4, 2}}, {"tile", {128, 16, 32}}, {"threads", {128, 64, 32}}},
                          {"tile * threads <= 2048 or tile == 128"}))};
  return spec;
}

TEST(Moves, ACounterpartTakesOverWhatBothVariantsKnow) {
  const KernelSpec spec = twins();
  const Problem problem = Problem::parse(spec, "");
  const DeviceInfo device = device_for_architecture("cuda", "sm_80");
  const Space space = Space::build({spec, problem, device});
  Random random(1);
  const auto like = [&](const std::string& text, std::size_t variant) {
    const auto index = space.index_of(Setting(spec, problem, device).parse(text));
    return space.at(*counterpart(space, *index, variant, random)).text();
  };
  EXPECT_EQ(like("one:tile=32,threads=64", 1), "other:splits=4,tile=32,threads=64");
  EXPECT_EQ(like("other:splits=2,tile=16,threads=128", 0), "one:tile=16,threads=128");
  EXPECT_EQ(like("one:tile=8,threads=64", 1), "other:splits=4,tile=128,threads=64")
      << "it has no tile of 8";
  EXPECT_EQ(like("one:tile=32,threads=128", 1), "other:splits=4,tile=128,threads=128")
      << "a tile of 32 is too much there";
}

}  // namespace
}  // namespace kiln
