// Small types: outcomes, element types, errors with their places, scopes, hashes, medians, long
// loops.
// SPDX-License-Identifier: Apache-2.0
#include "core/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/dtype.hpp"
#include "core/hash.hpp"
#include "core/in_parallel.hpp"
#include "core/outcome.hpp"
#include "core/scope.hpp"
#include "core/statistics.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

// Errors: where they point and which exit code they carry.

TEST(SourceLocation, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 12, 18}), "spec.toml:12:18");
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 12, 0}), "spec.toml:12");
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 0, 0}), "spec.toml");
  EXPECT_EQ(to_text(SourceLocation{"", 3, 4}), "3:4");
  EXPECT_EQ(to_text(SourceLocation{}), "");
}

TEST(SourceLocation, DoesNotTakeAColumnForALine) {
  EXPECT_EQ(to_text(SourceLocation{"spec.toml", 0, 7}), "spec.toml");
}

TEST(InputError, StartsWithThePlace) {
  EXPECT_STREQ(InputError({"plan.toml", 2, 5}, "expected a kernel").what(),
               "plan.toml:2:5: expected a kernel");
  EXPECT_STREQ(InputError(SourceLocation{}, "expected a kernel").what(), "expected a kernel");
  EXPECT_STREQ(InputError("expected a kernel").what(), "expected a kernel");
}

TEST(Error, CarriesTheExitCodeOfItsKind) {
  EXPECT_EQ(static_cast<int>(UsageError("x").code()), 2);
  EXPECT_EQ(static_cast<int>(InputError("x").code()), 3);
  EXPECT_EQ(static_cast<int>(DeviceError("x").code()), 4);
  EXPECT_EQ(static_cast<int>(DatabaseError("x").code()), 5);
}

// Outcomes: their names are stored, so they are pinned here word for word.

TEST(Outcome, IsStoredUnderNamesThatNeverChange) {
  std::vector<std::string_view> names;
  for (const Outcome outcome : all_outcomes()) names.push_back(name_of(outcome));
  EXPECT_THAT(names, testing::ElementsAre("ok", "constraint", "compile_error", "compile_timeout",
                                          "compile_crash", "launch_error", "wrong_result",
                                          "run_timeout", "device_fault", "out_of_memory"));
}

TEST(Outcome, ComesBackFromItsName) {
  for (const Outcome outcome : all_outcomes()) EXPECT_EQ(parse_outcome(name_of(outcome)), outcome);
  EXPECT_EQ(parse_outcome("failed"), std::nullopt);
  EXPECT_EQ(parse_outcome(""), std::nullopt);
}

// Element types: names, sizes and rounding units.

TEST(DType, IsFoundByTheNameItGoesBy) {
  ASSERT_EQ(all_dtypes().size(), 14U);
  for (const DType type : all_dtypes()) EXPECT_EQ(parse_dtype(name_of(type)), type);
}

TEST(DType, IsNotFoundByAnyOtherName) {
  for (const char* name : {"", "f", "F32", "float", "f32 ", "i24", "e4m3fn", "fp8"}) {
    EXPECT_EQ(parse_dtype(name), std::nullopt) << name;
  }
}

TEST(DType, KnowsItsSizeInBytes) {
  std::vector<std::size_t> sizes;
  for (const DType type : all_dtypes()) sizes.push_back(size_of(type));
  EXPECT_THAT(sizes, testing::ElementsAre(1, 1, 2, 2, 4, 4, 8, 8, 1, 1, 2, 2, 4, 8));
}

TEST(DType, HasARoundingUnitOnlyWhenFloating) {
  EXPECT_EQ(epsilon_of(DType::e4m3), 0.125);
  EXPECT_EQ(epsilon_of(DType::e5m2), 0.25);
  EXPECT_EQ(epsilon_of(DType::f16), 0.0009765625);
  EXPECT_EQ(epsilon_of(DType::bf16), 0.0078125);
  EXPECT_EQ(epsilon_of(DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon_of(DType::f64), std::numeric_limits<double>::epsilon());
  for (const DType type : all_dtypes()) {
    EXPECT_EQ(is_floating(type), epsilon_of(type) > 0) << name_of(type);
  }
}

// Scope: names and their values.

TEST(Scope, FindsWhatWasSetLast) {
  Scope scope;
  scope.set("tile", std::int64_t{32});
  scope.set("tile", std::string("wide"));
  ASSERT_NE(scope.find("tile"), nullptr);
  EXPECT_EQ(*scope.find("tile"), Value(std::string("wide")));
  EXPECT_EQ(scope.values().size(), 1U);
}

TEST(Scope, HasNoValueForOtherNames) {
  Scope scope;
  scope.set("device.warp_size", std::int64_t{32});
  EXPECT_EQ(scope.find("device"), nullptr);
  scope.erase("device.warp_size");
  EXPECT_EQ(scope.find("device.warp_size"), nullptr);
  scope.erase("device.warp_size");  // erasing what is not there changes nothing
  EXPECT_TRUE(scope.values().empty());
}

TEST(Scope, ListsNamesInOrder) {
  Scope scope;
  for (const char* name : {"n", "block", "m"}) scope.set(name, true);
  std::string names;
  for (const auto& [name, value] : scope.values()) names += name + " ";
  EXPECT_EQ(names, "block m n ");
}

// Content keys are stored, so the hash must be the same on every machine and for ever.

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

// Medians and quantiles of few and many numbers.

TEST(Statistics, TheMedianIsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 4}), 4.5);
}

TEST(Statistics, AQuantileIsTheNearestRank) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({7}, 0.95), 7);
  const std::vector<double> values = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.25), 3);
  EXPECT_EQ(quantile(values, 0.5), 5);
  EXPECT_EQ(quantile(values, 0.75), 8);
  EXPECT_EQ(quantile(values, 0.95), 10);
  EXPECT_EQ(quantile(values, 1), 10);
}

// Long loops on all cores: every element once, and the first fault of all.

TEST(InParallel, CallsForEachElementOnce) {
  for (const std::size_t count : {0, 1, 1000, 65'536, 1'000'003}) {
    std::vector<int> calls(count);
    in_parallel(count, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) ++calls[i];
    });
    EXPECT_TRUE(std::ranges::all_of(calls, [](int each) { return each == 1; })) << count;
  }
}

TEST(InParallel, ThrowsWhatTheLowestRangeThrew) {
  const auto first_fault_from = [](std::size_t first_bad) -> std::string {
    return test::error_of<std::runtime_error>(
        [&] {
          in_parallel(1'000'000, [&](std::size_t first, std::size_t last) {
            const std::size_t bad = std::max(first, first_bad);
            if (bad < last) throw std::runtime_error(std::to_string(bad));
          });
        },
        "none");
  };
  for (const std::size_t bad : {0, 17, 700'000, 999'999}) {
    EXPECT_EQ(first_fault_from(bad), std::to_string(bad));
  }
  EXPECT_EQ(first_fault_from(1'000'000), "none");
}

}  // namespace
}  // namespace kiln
