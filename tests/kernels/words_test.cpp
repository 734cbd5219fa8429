// Words of the dialect that no built-in kernel uses in all their sizes: compiled by each backend's
// compiler, and run where its first device is.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/words_fixture.hpp"

namespace kiln::test {
namespace {

constexpr const char* kConditionalAccess = R"(
KERNEL(32, 1, 1) access(GLOBAL const u32* from, GLOBAL u32* to, i32 yes, i32 no) {
  GLOBAL u32* nothing = (GLOBAL u32*)0;
  if (THREAD_X != 0) return;
  STORE_16_IF(yes, to, LOAD_16_IF(yes, from));
  STORE_8_IF(yes, to + 4, LOAD_8_IF(yes, from + 4));
  STORE_4_IF(yes, to + 6, LOAD_4_IF(yes, from + 6));
  STORE_2_IF(yes, (GLOBAL u16*)(to + 7), LOAD_2_IF(yes, (GLOBAL const u16*)(from + 7)));
  STORE_2_IF(yes, (GLOBAL u16*)(to + 7) + 1, LOAD_2_IF(yes, (GLOBAL const u16*)(from + 7) + 1));
  STORE_16_IF(yes, to + 8, LOAD_16_IF(no, nothing));
  STORE_8_IF(yes, to + 12, LOAD_8_IF(no, nothing));
  STORE_4_IF(yes, to + 14, LOAD_4_IF(no, nothing));
  STORE_2_IF(yes, (GLOBAL u16*)(to + 15), LOAD_2_IF(no, nothing));
  STORE_16_IF(no, nothing, U32X4(1, 2, 3, 4));
  STORE_8_IF(no, nothing, U32X2(1, 2));
  STORE_4_IF(no, nothing, 1);
  STORE_2_IF(no, nothing, 1);
}
)";

class ConditionalAccess : public WordsTest {};

TEST_F(ConditionalAccess, ReadsAndWritesWhereItIsAskedToAndNowhereElse) {
  const Result<Binary> binary = compiler_->compile(source_of(kConditionalAccess, "access", info_));
  ASSERT_TRUE(binary) << binary.failure().message;
  if (!device_) return;

  const std::vector<std::uint32_t> from = {11, 12, 13, 14, 15, 16, 17, 0x12345678};
  const Buffer to = upload(std::vector<std::uint32_t>(17, 0xEEEEEEEE));
  const std::array arguments = {argument(upload(from)), argument(to), argument(1), argument(0)};
  run(*binary, "access", 32, arguments);

  std::vector<std::uint32_t> expected = from;
  expected.insert(expected.end(), {0, 0, 0, 0, 0, 0, 0, 0xEEEE0000, 0xEEEEEEEE});
  EXPECT_EQ(download<std::uint32_t>(to, expected.size()), expected);
}

}  // namespace
}  // namespace kiln::test
