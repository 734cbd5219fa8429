// [variants.loop]: read from the spec, checked, and evaluated for a config.
// SPDX-License-Identifier: Apache-2.0
#include "core/loop.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "core/spec.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string loop_spec(const std::string& loop) {
  return R"toml(name = "product"
[problem.n]
type = "int"
[[arguments]]
name = "out"
access = "write"
dtype = "f32"
shape = ["n"]
[verify]
reference = "product"
[[variants]]
name = "tiles"
template = "tiles.inja"
[variants.tunables.tile]
values = [32, 64]
default = 32
[[variants.steps]]
entry = "pack"
grid = [1]
block = [32]
arguments = ["out"]
[[variants.steps]]
entry = "multiply"
grid = ["n"]
block = [32]
arguments = ["out"]
[variants.loop]
)toml" + loop;
}

std::string loop_error(const std::string& loop) {
  return test::error_of<InputError>([&] { return parse_spec(loop_spec(loop), "product.toml"); },
                                    "no error");
}

std::optional<LoopNumbers> loop_numbers(const std::string& loop, const std::string& config) {
  const KernelSpec spec = parse_spec(loop_spec(loop), "product.toml");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec, "n=1000");
  const Variant& variant = spec.variants.front();
  return evaluate(
      *variant.loop,
      Setting(spec, problem, device).scope(Setting(spec, problem, device).parse(config)));
}

TEST(LoopTest, HoldsTheNumbersOfAConfig) {
  const auto loop = loop_numbers(R"toml(entry = "multiply"
rounds = "ceil_div(n, tile)"
flops = "2 * tile * tile"
flops_per_cycle = 256
copied = "8 * tile"
ahead = 3
stored = "4.5 * tile"
)toml",
                                 "tiles:tile=64");
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->rounds, 16);
  EXPECT_EQ(loop->flops, 8192);
  EXPECT_EQ(loop->flops_per_cycle, 256);
  EXPECT_EQ(loop->copied, 512);
  EXPECT_EQ(loop->ahead, 3);
  EXPECT_EQ(loop->stored, 288);
  EXPECT_EQ(loop->read, 0);
  EXPECT_EQ(loop->results, 1);
  EXPECT_EQ(loop->prepared, 0);
  EXPECT_EQ(loop->registers, 0);
}

TEST(LoopTest, SaysNothingWithoutNumbers) {
  const std::string rest = "flops = 1\nflops_per_cycle = 1\nentry = \"multiply\"\n";
  EXPECT_TRUE(loop_numbers("rounds = \"n\"\n" + rest, "tiles"));
  EXPECT_FALSE(loop_numbers("rounds = \"n // (tile - 32)\"\n" + rest, "tiles:tile=32"));
  EXPECT_FALSE(loop_numbers("rounds = \"tile - n\"\n" + rest, "tiles:tile=32"));
}

TEST(LoopTest, RefusesWhatItDoesNotKnow) {
  const std::string numbers = "rounds = 1\nflops = 1\nflops_per_cycle = 1\n";
  EXPECT_THAT(loop_error(numbers), AllOf(HasSubstr("product.toml:"), HasSubstr("'entry'")));
  EXPECT_THAT(
      loop_error("entry = \"multipl\"\n" + numbers),
      HasSubstr("no step of the variant has the entry 'multipl' (there are: pack, multiply)"));
  EXPECT_THAT(loop_error("entry = \"multiply\"\nflops = 1\nflops_per_cycle = 1\n"),
              HasSubstr("'rounds'"));
  EXPECT_THAT(loop_error("entry = \"multiply\"\nround = 1\n" + numbers), HasSubstr("'round'"));
  EXPECT_THAT(loop_error("entry = \"multiply\"\nread = \"til\"\n" + numbers),
              AllOf(HasSubstr("'read' of [variants.loop]"), HasSubstr("til")));
}

}  // namespace
}  // namespace kiln
