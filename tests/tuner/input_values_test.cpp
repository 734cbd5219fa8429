// Values of inputs, drawn or from a file.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/input_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tests/support/error_of.hpp"
#include "tuner/checks/npy.hpp"

namespace kiln {
namespace {

using testing::Contains;
using ::testing::ElementsAre;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Values on edges, and what lies around inputs.

Fill fill(const std::string& kind, double low, double high, std::uint64_t seed) {
  Fill made;
  made.kind = kind;
  made.low = low;
  made.high = high;
  made.seed = seed;
  return made;
}
Fill uniform(double low, double high) { return fill("uniform", low, high, 7); }

TEST(EdgeValues, AreTheEndsTheThresholdsAndTheirNeighbours) {
  const double thresholds[] = {5, 40};
  EXPECT_THAT(edge_values(uniform(-3, 9), DType::i32, thresholds),
              UnorderedElementsAre(-3, -2, 8, 9, -1, 0, 1, 4, 5, 6))
      << "40 lies outside";
}

TEST(EdgeValues, LeaveOutTheHighEndOfRealRangesAndStepByTheElementType) {
  const float below = std::nextafterf(1.0F, 0.0F);
  const auto f32 = edge_values(uniform(0.5, 1), DType::f32, {});
  EXPECT_THAT(f32, UnorderedElementsAre(0.5, std::nextafterf(0.5F, 1.0F), below));
  const auto f16 = edge_values(uniform(0.5, 1), DType::f16, {});
  EXPECT_THAT(f16, UnorderedElementsAre(0.5, 0.5 + 0x1p-11, 1 - 0x1p-11));
  const auto f64 = edge_values(uniform(0.5, 1), DType::f64, {});
  EXPECT_THAT(f64, Contains(std::nextafter(1.0, 0.0)));
  EXPECT_THAT(f64, Not(Contains(1.0)));
}

// Beyond the largest number of an 8-bit float there is none, and no infinity either.
TEST(EdgeValues, EndWithTheLargestNumberOfTheType) {
  EXPECT_THAT(edge_values(uniform(0, 1000), DType::e4m3, {}),
              UnorderedElementsAre(0, 0x1p-9, 416, 448));
  EXPECT_THAT(edge_values(uniform(-1e9, 1), DType::e5m2, {}),
              UnorderedElementsAre(-57344, -49152, 0.875, 0x1p-16, -0x1p-16, 0));
  EXPECT_THAT(edge_values(uniform(-128, 127), DType::i8, {}),
              UnorderedElementsAre(-128, -127, 126, 127, -1, 0, 1));
}

TEST(EdgeValues, TakeThePlaceOfEveryFourthElementAndOfBothEnds) {
  HostArray array(DType::f32, {10, 100});
  for (std::size_t i = 0; i < array.count(); ++i) array.set(i, 9);
  const double values[] = {1, 2};
  place_values(array, values, 3);
  std::multiset<double> held;
  for (std::size_t i = 0; i < array.count(); ++i) held.insert(array.get(i));
  EXPECT_NE(array.get(0), 9);
  EXPECT_NE(array.get(999), 9);
  EXPECT_NEAR(static_cast<double>(held.count(1)), 125, 40);
  EXPECT_NEAR(static_cast<double>(held.count(2)), 125, 40);
}

/// Where the largest and the smallest element of a rising row of `length` are put.
struct Extremes {
  std::size_t largest;
  std::size_t smallest;
};
Extremes extremes(std::int64_t length, std::uint64_t seed) {
  HostArray array(DType::f64, {length});
  for (std::size_t i = 0; i < array.count(); ++i) array.set(i, static_cast<double>(i));
  exchange_ends(array, seed);
  Extremes places{array.count(), array.count()};
  std::set<double> held;
  for (std::size_t i = 0; i < array.count(); ++i) {
    held.insert(array.get(i));
    if (array.get(i) == static_cast<double>(length - 1)) places.largest = i;
    if (array.get(i) == 0) places.smallest = i;
  }
  EXPECT_EQ(held.size(), array.count()) << "nothing is lost";
  return places;
}

TEST(ExchangedEnds, MoveTheExtremesToEveryPlaceInAVector) {
  std::set<std::size_t> largest;
  std::set<std::size_t> smallest;
  for (std::uint64_t seed = 100; seed < 132; seed += 2) {
    largest.insert(extremes(50, seed).largest % 16);
    smallest.insert(extremes(50, seed).smallest % 16);
  }
  EXPECT_THAT(largest, SizeIs(16));
  EXPECT_THAT(smallest, SizeIs(16));
  EXPECT_EQ(extremes(1, 3).largest, 0U);
}

// A kernel that walks on by 257 where its block has 256 threads passes over these.
TEST(ExchangedEnds, MoveTheExtremesNextToMultiplesOfPowersOfTwo) {
  std::set<std::size_t> at;
  for (std::uint64_t seed = 1; seed < 2000; seed += 2) at.insert(extremes(1024, seed).largest);
  for (const std::size_t place : {255, 256, 257, 511, 512, 513, 767, 768, 769, 1023})
    EXPECT_THAT(at, Contains(place));
  EXPECT_THAT(at, Not(Contains(37))) << "next to a multiple of 4 only";
}

// Rows that follow each other have theirs in places of their own.
TEST(ExchangedEnds, DependOnTheRow) {
  HostArray array(DType::f32, {2, 50});
  for (std::size_t i = 0; i < array.count(); ++i) array.set(i, static_cast<double>(i));
  exchange_ends(array, 100);
  EXPECT_EQ(array.get(extremes(50, 100).largest), 49);
  EXPECT_EQ(array.get(50 + extremes(50, 101).largest), 99);
}

std::pair<double, double> range_of(const HostArray& array, std::size_t row) {
  std::vector<double> values;
  for (std::size_t i = 0; i < 3; ++i) values.push_back(array.get(row * 3 + i));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

/// Rows of these three elements, shifted in turn.
HostArray shifted(DType dtype, const std::vector<double>& elements, const Fill& fill) {
  HostArray array(dtype, {5, 3});
  for (std::size_t i = 0; i < array.count(); ++i) array.set(i, elements[i % 3]);
  shift_rows(array, fill);
  return array;
}

// A maximum that begins at 0 in place of the least number is right wherever one is above 0.
TEST(ShiftedRows, LieAroundAtAboveAndBelowZeroInTurn) {
  for (const DType dtype : {DType::f16, DType::f64}) {
    const HostArray array = shifted(dtype, {-1, 0, 1}, fill("ramp", -1, 1, 10));
    EXPECT_EQ(range_of(array, 0), std::pair(-1.0, 1.0));
    EXPECT_EQ(range_of(array, 1), std::pair(0.0, 0.5));
    EXPECT_EQ(range_of(array, 2), std::pair(-0.5, 0.0));
    EXPECT_EQ(range_of(array, 3), std::pair(0.25, 0.75));
    EXPECT_EQ(range_of(array, 4), std::pair(-0.75, -0.25));
    EXPECT_LT(array.get(9), array.get(10)) << "they keep their order";
  }
}

TEST(ShiftedRows, StayWholeNumbersOfTheirRange) {
  for (const DType dtype : {DType::f32, DType::i32, DType::i8, DType::e4m3, DType::e5m2}) {
    const HostArray array = shifted(dtype, {-3, 1, 3}, fill("integers", 0, 1, 10));
    EXPECT_EQ(range_of(array, 0), std::pair(-3.0, 3.0));
    EXPECT_EQ(range_of(array, 1), std::pair(0.0, 2.0));
    EXPECT_EQ(range_of(array, 2), std::pair(-2.0, 0.0));
    EXPECT_EQ(range_of(array, 3), std::pair(1.0, 3.0));
    EXPECT_EQ(range_of(array, 4), std::pair(-3.0, -1.0));
  }
}

TEST(ShiftedRows, HaveZerosOfBothSigns) {
  const HostArray array = shifted(DType::f16, {1, 1, 1}, fill("integers", 0, 1, 1));
  EXPECT_FALSE(std::signbit(array.get(0)));
  EXPECT_TRUE(std::signbit(array.get(1)));
}

// A range that a kernel counts on is kept.
TEST(ShiftedRows, StayWhereThereIsNoSign) {
  EXPECT_EQ(range_of(shifted(DType::u8, {1, 3, 7}, fill("integers", 0, 1, 1)), 0),
            std::pair(1.0, 7.0));
  EXPECT_EQ(range_of(shifted(DType::i32, {0, 1, 9}, fill("ramp", 0, 9, 1)), 1),
            std::pair(0.0, 9.0));
  EXPECT_EQ(range_of(shifted(DType::f32, {2, 3, 4}, fill("ramp", 2, 4, 1)), 0),
            std::pair(2.0, 4.0));
  const HostArray steep = shifted(DType::f64, {-0.5, 3, 8}, fill("ramp", -0.5, 8, 10));
  EXPECT_GE(range_of(steep, 4).first, -0.5);
}

double element(const ZoneBytes& zone, std::size_t index) {
  float value = 0;
  std::memcpy(&value, zone.data() + index * sizeof value, sizeof value);
  return value;
}

TEST(InputZone, HoldsTheLargestTheSmallestAndPlausibleElementsInTurn) {
  const ZoneBytes behind = input_zone(uniform(2, 3), DType::f32, ZoneSide::behind, 0);
  EXPECT_EQ(element(behind, 0), HUGE_VAL);
  EXPECT_EQ(element(behind, 1), -HUGE_VAL);
  EXPECT_GE(element(behind, 2), 2);
  EXPECT_LT(element(behind, 2), 3);
  const ZoneBytes before = input_zone(uniform(2, 3), DType::f32, ZoneSide::before, 1);
  const std::size_t last = kRedZoneBytes / sizeof(float) - 1;
  EXPECT_EQ(element(before, last), -HUGE_VAL) << "the nearest to the buffer comes first";
  EXPECT_GE(element(before, last - 1), 2);
  EXPECT_EQ(element(before, last - 2), HUGE_VAL);
}

// .npy files of strangers: what is read, and one sentence for each thing that is not.

std::string npy_of(const std::string& header, std::size_t bytes, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (unsigned i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(header.size() >> 8 * i & 255U);
  return file + header + std::string(bytes, '\0');
}

std::string fault_of(const std::string& file) {
  return test::error_of<InputError>([&] { return parse_npy(file, "x.npy"); }, "no fault");
}

TEST(Npy, HoldsItsShapeAndElements) {
  for (const char version : {1, 2, 3}) {
    const std::string file =
        npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n", 48, version);
    const NpyArray array = parse_npy(file, "x.npy");
    EXPECT_THAT(array.shape, ElementsAre(3, 4));
    EXPECT_EQ(array.data.size(), 48U);
    EXPECT_TRUE(array.holds(DType::f32));
    EXPECT_FALSE(array.holds(DType::i32));
  }
  EXPECT_EQ(
      parse_npy(npy_of("{'shape': (), 'fortran_order': True, 'descr': '<f8'}", 8), "x").count(), 1);
}

TEST(Npy, TypesThatNumpyHasNotAreTheirBits) {
  const auto holds = [](const char* descr, std::size_t bytes, DType dtype) {
    return parse_npy(npy_of(std::string("{'descr': '") + descr +
                                "', 'fortran_order': False, 'shape': (1,)}",
                            bytes),
                     "x.npy")
        .holds(dtype);
  };
  EXPECT_TRUE(holds("|V2", 2, DType::bf16));
  EXPECT_TRUE(holds("<u2", 2, DType::bf16));
  EXPECT_FALSE(holds("<f2", 2, DType::bf16));
  EXPECT_TRUE(holds("|u1", 1, DType::e4m3));
  EXPECT_TRUE(holds("|V1", 1, DType::e5m2));
  EXPECT_FALSE(holds("|V1", 1, DType::u8));
  EXPECT_TRUE(holds("|b1", 1, DType::u8));
  EXPECT_FALSE(holds("|b1", 1, DType::e4m3));
}

TEST(Npy, MistakesHaveASentence) {
  const auto header = [](const std::string& descr, const std::string& order,
                         const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + "}";
  };
  EXPECT_EQ(fault_of("PK"), "x.npy: is no .npy file; expected one as numpy.save() writes it");
  EXPECT_EQ(fault_of(npy_of("{}", 0, 9)),
            "x.npy: is of version 9 of the .npy format; expected 1, 2 or 3");
  EXPECT_EQ(fault_of(npy_of(header(">f4", "False", "(1,)"), 4)),
            "x.npy: has elements of type '>f4'; expected little-endian numbers of an element type "
            "that Kiln knows, such as '<f4'");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "True", "(2, 2)"), 16)),
            "x.npy: is in Fortran order; expected C order (numpy.ascontiguousarray)");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "False", "(2,)"), 4)),
            "x.npy: holds 4 bytes of elements, and its shape asks for 8");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "False", "(4294967296, 4294967296)"), 4)),
            "x.npy: holds 4 bytes of elements, and its shape asks for more than any file holds");
  EXPECT_EQ(fault_of(npy_of(header("<f4", "False", "(-1,)"), 4)),
            "x.npy: byte 61 of its header: expected a whole number of 0 or more");
  EXPECT_EQ(fault_of(npy_of("{'descr': '<f4', 'shape': (1,)}", 4)),
            "x.npy: byte 41 of its header: expected the keys descr, fortran_order and shape");
  EXPECT_EQ(fault_of(npy_of("{'size': 3}", 4)),
            "x.npy: byte 18 of its header: the key 'size' is unknown or appears twice; expected "
            "descr, fortran_order and shape, once each");
}

}  // namespace
}  // namespace kiln
