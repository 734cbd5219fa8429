// What reduce, arg_reduce and histogram compute (their CPU loops), what they refuse and what shares
// a source.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "tests/templates/built_in_kernels.hpp"

namespace kiln::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<double> reduce(const std::string& problem, std::map<std::string, HostArray> arrays) {
  const bool whole = problem.find("dtype=i32") != std::string::npos;
  arrays["out"] = HostArray(whole ? DType::i64 : DType::f64, {1});
  return compute("reduce", problem, arrays, "out");
}

std::vector<double> histogram(const std::string& problem, const HostArray& in, std::int64_t bins,
                              const std::map<std::string, double>& range = {}) {
  return compute("histogram", problem, {{"in", in}, {"counts", HostArray(DType::i64, {bins})}},
                 "counts", range);
}

// ---- reduce: what it computes

TEST(ReduceReference, SumsMinimaMaximaAndDotProducts) {
  const HostArray in = array_of(DType::f32, {4, -1.5, 3});
  const HostArray other = array_of(DType::f32, {2, 2, -1});
  EXPECT_THAT(reduce("n=3", {{"in", in}}), ElementsAre(5.5));
  EXPECT_THAT(reduce("n=3,op=min", {{"in", in}}), ElementsAre(-1.5));
  EXPECT_THAT(reduce("n=3,op=max", {{"in", in}}), ElementsAre(4));
  EXPECT_THAT(reduce("n=3,op=dot", {{"in", in}, {"other", other}}), ElementsAre(2));
}

TEST(ReduceReference, ASumInF64LosesNothingToTheOrderOfItsTerms) {
  const HostArray in = array_of(DType::f64, {1, 1e100, 1, -1e100});
  EXPECT_THAT(reduce("n=4,dtype=f64", {{"in", in}}), ElementsAre(2));
}

TEST(ReduceReference, WholeNumbersWrapAt32Bits) {
  const HostArray in = array_of(DType::i32, {2147483647, 1, 2147483647, 1});
  EXPECT_THAT(reduce("n=2,dtype=i32", {{"in", array_of(DType::i32, {2147483647, 1})}}),
              ElementsAre(-2147483648.0));
  EXPECT_THAT(reduce("n=4,dtype=i32", {{"in", in}}), ElementsAre(0));
  EXPECT_THAT(reduce("n=4,dtype=i32,op=max", {{"in", in}}), ElementsAre(2147483647));
}

TEST(ReduceReference, MapIsAFormulaOverTheElementItsIndexAndTheLength) {
  const HostArray in = array_of(DType::f32, {1, 2, 3});
  EXPECT_THAT(reduce("n=3,map='x*x + i/n'", {{"in", in}}), ElementsAre(14 + 1));
}

TEST(ReduceReference, IntegratesAFormulaOfTheIndexWithNoInputAtAll) {
  // The midpoint rule for 4 / (1 + t^2) over [0, 1] gives pi.
  const auto result = reduce("n=1000,dtype=f64,source=index,map='4/(1+((i+0.5)/n)**2)/n'", {});
  EXPECT_NEAR(result[0], 3.14159265358979, 1e-6);
}

TEST(ReduceProblem, RefusesWhatMakesNoSenseWithItsReason) {
  EXPECT_THAT(refusal_of("reduce", "n=10,dtype=i32,map='x*x'"),
              HasSubstr("a formula is evaluated in floating point"));
  EXPECT_THAT(refusal_of("reduce", "n=10,op=dot,source=index"),
              HasSubstr("dot needs two vectors to read"));
  EXPECT_THAT(refusal_of("reduce", "n=0"), Not(HasSubstr("accepted")));
}

// ---- arg_reduce: what it computes

struct Found {
  std::int64_t index;
  double value;
  bool operator==(const Found& other) const {
    return index == other.index &&
           (value == other.value || (std::isnan(value) && std::isnan(other.value)));
  }
};

std::vector<Found> arg_reduce(const std::string& problem, const HostArray& in) {
  const KernelSpec spec = KernelLibrary().load("arg_reduce");
  const std::int64_t results = Problem::parse(spec, problem).integer("results");
  std::map<std::string, HostArray> arrays = {
      {"in", in},
      {"index", HostArray(DType::i64, {results})},
      {"value", HostArray(reference_dtype(in.dtype), {results})}};
  run_reference("arg_reduce", problem, arrays);
  std::vector<Found> found;
  for (std::size_t r = 0; r < arrays["index"].count(); ++r)
    found.push_back({arrays["index"].elements<std::int64_t>()[r], arrays["value"].get(r)});
  return found;
}

TEST(ArgReduceReference, FindsTheFirstOfEqualElementsInEachRow) {
  const HostArray in = array_of(DType::f32, {3, 1, 2, 1, 0, 7, 7, -7});
  EXPECT_THAT(arg_reduce("n=8", in), ElementsAre(Found{7, -7}));
  EXPECT_THAT(arg_reduce("n=4,results=2", in), ElementsAre(Found{1, 1}, Found{3, -7}));
  EXPECT_THAT(arg_reduce("n=4,results=2,op=max", in), ElementsAre(Found{0, 3}, Found{1, 7}));
}

TEST(ArgReduceReference, FindsTheFirstNanBeforeEveryNumberAndTakesTheZerosForEqual) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const HostArray odd = array_of(DType::f16, {infinity, -infinity, nan, 0, nan});
  EXPECT_THAT(arg_reduce("n=5,dtype=f16", odd), ElementsAre(Found{2, nan}));
  EXPECT_THAT(arg_reduce("n=5,dtype=f16,op=max", odd), ElementsAre(Found{2, nan}));
  const HostArray zeros = array_of(DType::f32, {1, 0.0, -0.0});
  EXPECT_THAT(arg_reduce("n=3", zeros), ElementsAre(Found{1, 0}));
}

TEST(ArgReduceReference, TellsWholeNumbersApartThatF32DoesNot) {
  const HostArray in = array_of(DType::i32, {2147483646, 2147483647, -2147483647, -2147483648.0});
  EXPECT_THAT(arg_reduce("n=4,dtype=i32", in), ElementsAre(Found{3, -2147483648.0}));
  EXPECT_THAT(arg_reduce("n=4,dtype=i32,op=max", in), ElementsAre(Found{1, 2147483647}));
}

// ---- histogram: what it computes

TEST(HistogramReference, AByteIsItsOwnBin) {
  const auto counts = histogram("n=4", array_of(DType::u8, {0, 255, 7, 255}), 256);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[7], 1);
  EXPECT_EQ(counts[255], 2);
}

TEST(HistogramReference, EvenBinsHoldTheirLowerEndAndNothingOutsideIsCounted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HostArray in = array_of(DType::f32, {0, 0.999, 1, 3.5, 4, -0.001, nan, 1e30, -1e30});
  const std::map<std::string, double> range = {{"low", 0}, {"high", 4}, {"scale", 1}};
  EXPECT_THAT(histogram("n=9,dtype=f32,bins=4", in, 4, range), ElementsAre(2, 1, 0, 1));
}

TEST(HistogramReference, TheSampleJustBelowTheTopStaysInTheLastBinEvenIfItsProductRoundsUp) {
  const float below = std::nextafter(1.0f, 0.0f);
  const std::map<std::string, double> range = {{"low", -1}, {"high", 1}, {"scale", 1.5}};
  ASSERT_EQ((below + 1.0f) * 1.5f, 3.0f) << "the product rounds up to the number of bins";
  EXPECT_THAT(histogram("n=1,dtype=f32,bins=3", array_of(DType::f32, {below}), 3, range),
              ElementsAre(0, 0, 1));
}

TEST(HistogramReference, TheRangeMaySpanAllOfI32) {
  const HostArray in = array_of(DType::i32, {-2147483648.0, -1000, 0, 2147483646});
  const std::map<std::string, double> range = {
      {"low", -2147483648.0}, {"high", 2147483647}, {"scale", std::ldexp(1.0, -31)}};
  EXPECT_THAT(histogram("n=4,dtype=i32,bins=2", in, 2, range), ElementsAre(2, 2));
}

TEST(HistogramProblem, BytesHave256Bins) {
  EXPECT_THAT(refusal_of("histogram", "n=10,dtype=u8,bins=64"), HasSubstr("a byte is its own bin"));
}

// ---- sources, launches, configs

TEST(ReduceSource, IsSharedByAllSizes) {
  const Rendered render("reduce");
  EXPECT_EQ(render("n=1000", "ticket"), render("n=268435456", "ticket"));
  EXPECT_NE(render("n=1000", "ticket"), render("n=1000,op=max", "ticket"));
}

TEST(ReducePlan, ATicketNeedsOneLaunchAndACounterThatItLeavesZero) {
  const KernelSpec spec = KernelLibrary().load("reduce");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec, "n=4097");
  const auto plan =
      Setting(spec, problem, device).plan(Setting(spec, problem, device).parse("ticket"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps.size(), 1u);
  ASSERT_NE(plan->find_buffer("tickets"), nullptr);
  EXPECT_TRUE(plan->find_buffer("tickets")->zeroed);
  EXPECT_FALSE(plan->find_buffer("partials")->zeroed);
}

TEST(ArgReducePlan, AKeyHasRoomForIndicesOf32BitsOnly) {
  const KernelSpec spec = KernelLibrary().load("arg_reduce");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const auto has_key = [&](const std::string& text) {
    const Problem problem = Problem::parse(spec, text);
    return spec.find_variant("key")->requires_->evaluate_bool(
        Setting(spec, problem, device).scope());
  };
  EXPECT_TRUE(has_key("n=2^32"));
  EXPECT_FALSE(has_key("n=4294967297"));
  EXPECT_FALSE(has_key("n=10,dtype=f64"));
}

TEST(HistogramPlan, APackedTileNeverOverflowsA16BitCounter) {
  EXPECT_THAT(objection_to("histogram", "n=1e9", "packed:block_size=1024,unroll=4"),
              HasSubstr("must not overflow before the next barrier"));
}

}  // namespace
}  // namespace kiln::test
