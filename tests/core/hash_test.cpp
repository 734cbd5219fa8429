// Content keys are stored, so the hash must be the same on every machine and for ever.
// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#include <cstddef>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

// The values that the XXH3 specification gives for the empty input.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
  EXPECT_EQ(hash64_hex(""), "2d06800538d394c2");
  EXPECT_EQ(hash128_hex(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, WritesLeadingZeros) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(hash64_hex(std::to_string(i)).size(), 16U);
    EXPECT_EQ(hash128_hex(std::to_string(i)).size(), 32U);
  }
}

TEST(Hash, TellsTextsApartThatDifferInOneByte) {
  EXPECT_NE(hash64("tile=32"), hash64("tile=33"));
  EXPECT_NE(hash128_hex(std::string("a\0b", 3)), hash128_hex(std::string("a\0c", 3)));
}

TEST(Hash, IsTheSameForBytesAndText) {
  const std::string text = "kernel source";
  const std::string key = hash128_hex(std::as_bytes(std::span(text)));
  EXPECT_EQ(key, hash128_hex(text));
}

}  // namespace
}  // namespace kiln
