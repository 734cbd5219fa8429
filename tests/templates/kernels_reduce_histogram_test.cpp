// What reduce, arg_reduce and histogram compute (their CPU loops), and that every variant renders
// for every kind of device.
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
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/reference.hpp"
#include "templates/renderer.hpp"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

HostArray flat_array_of(DType type, const std::vector<double>& values) {
  HostArray array(type, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) array.set(i, values[i]);
  return array;
}

/// A kernel's CPU loop as a function from named inputs to the elements of its one output.
class Reference {
 public:
  explicit Reference(const std::string& kernel) : spec_(KernelLibrary().load(kernel)) {}

  std::vector<double> operator()(const std::string& problem,
                                 std::map<std::string, HostArray> arrays,
                                 const std::map<std::string, double>& scalars = {}) const {
    const Problem parsed = Problem::parse(spec_, problem);
    const bool histogram = spec_.name == "histogram";
    const std::string output = histogram ? "counts" : "out";
    const bool whole = histogram || parsed.text_of("dtype") == "i32";
    arrays[output] =
        HostArray(whole ? DType::i64 : DType::f64, {histogram ? parsed.integer("bins") : 1});
    ReferenceCall call{parsed, arrays, scalars};
    find_reference(spec_.verify.reference)(call);
    std::vector<double> result;
    for (std::size_t i = 0; i < arrays[output].count(); ++i)
      result.push_back(arrays[output].get(i));
    return result;
  }

 private:
  KernelSpec spec_;
};

// ---- reduce: what it computes

TEST(ReduceReference, SumsMinimaMaximaAndDotProducts) {
  const Reference reduce("reduce");
  const HostArray in = flat_array_of(DType::f32, {4, -1.5, 3});
  const HostArray other = flat_array_of(DType::f32, {2, 2, -1});
  EXPECT_THAT(reduce("n=3", {{"in", in}}), ElementsAre(5.5));
  EXPECT_THAT(reduce("n=3,op=min", {{"in", in}}), ElementsAre(-1.5));
  EXPECT_THAT(reduce("n=3,op=max", {{"in", in}}), ElementsAre(4));
  EXPECT_THAT(reduce("n=3,op=dot", {{"in", in}, {"other", other}}), ElementsAre(2));
}

TEST(ReduceReference, ASumInF64LosesNothingToTheOrderOfItsTerms) {
  const HostArray in = flat_array_of(DType::f64, {1, 1e100, 1, -1e100});
  EXPECT_THAT(Reference("reduce")("n=4,dtype=f64", {{"in", in}}), ElementsAre(2));
}

TEST(ReduceReference, WholeNumbersWrapAt32Bits) {
  const HostArray in = flat_array_of(DType::i32, {2147483647, 1, 2147483647, 1});
  const Reference reduce("reduce");
  EXPECT_THAT(reduce("n=2,dtype=i32", {{"in", flat_array_of(DType::i32, {2147483647, 1})}}),
              ElementsAre(-2147483648.0));
  EXPECT_THAT(reduce("n=4,dtype=i32", {{"in", in}}), ElementsAre(0));
  EXPECT_THAT(reduce("n=4,dtype=i32,op=max", {{"in", in}}), ElementsAre(2147483647));
}

TEST(ReduceReference, MapIsAFormulaOverTheElementItsIndexAndTheLength) {
  const HostArray in = flat_array_of(DType::f32, {1, 2, 3});
  EXPECT_THAT(Reference("reduce")("n=3,map='x*x + i/n'", {{"in", in}}), ElementsAre(14 + 1));
}

TEST(ReduceReference, IntegratesAFormulaOfTheIndexWithNoInputAtAll) {
  // The midpoint rule for 4 / (1 + t^2) over [0, 1] gives pi.
  const auto result =
      Reference("reduce")("n=1000,dtype=f64,source=index,map='4/(1+((i+0.5)/n)**2)/n'", {});
  EXPECT_NEAR(result[0], 3.14159265358979, 1e-6);
}

std::string refusal(const std::string& kernel, const std::string& problem) {
  try {
    Problem::parse(KernelLibrary().load(kernel), problem);
    return "accepted";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(ReduceProblem, RefusesWhatMakesNoSenseWithItsReason) {
  EXPECT_THAT(refusal("reduce", "n=10,dtype=i32,map='x*x'"),
              HasSubstr("a formula is evaluated in floating point"));
  EXPECT_THAT(refusal("reduce", "n=10,op=dot,source=index"),
              HasSubstr("dot needs two vectors to read"));
  EXPECT_THAT(refusal("reduce", "n=0"), Not(HasSubstr("accepted")));
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
  const Problem parsed = Problem::parse(spec, problem);
  const std::int64_t results = parsed.integer("results");
  std::map<std::string, HostArray> arrays = {
      {"in", in},
      {"index", HostArray(DType::i64, {results})},
      {"value", HostArray(reference_dtype(in.dtype), {results})}};
  const std::map<std::string, double> no_scalars;
  ReferenceCall call{parsed, arrays, no_scalars};
  find_reference(spec.verify.reference)(call);
  std::vector<Found> found;
  for (std::size_t r = 0; r < arrays["index"].count(); ++r)
    found.push_back({arrays["index"].elements<std::int64_t>()[r], arrays["value"].get(r)});
  return found;
}

TEST(ArgReduceReference, FindsTheFirstOfEqualElementsInEachRow) {
  const HostArray in = flat_array_of(DType::f32, {3, 1, 2, 1, 0, 7, 7, -7});
  EXPECT_THAT(arg_reduce("n=8", in), ElementsAre(Found{7, -7}));
  EXPECT_THAT(arg_reduce("n=4,results=2", in), ElementsAre(Found{1, 1}, Found{3, -7}));
  EXPECT_THAT(arg_reduce("n=4,results=2,op=max", in), ElementsAre(Found{0, 3}, Found{1, 7}));
}

TEST(ArgReduceReference, FindsTheFirstNanBeforeEveryNumberAndTakesTheZerosForEqual) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const HostArray odd = flat_array_of(DType::f16, {infinity, -infinity, nan, 0, nan});
  EXPECT_THAT(arg_reduce("n=5,dtype=f16", odd), ElementsAre(Found{2, nan}));
  EXPECT_THAT(arg_reduce("n=5,dtype=f16,op=max", odd), ElementsAre(Found{2, nan}));
  const HostArray zeros = flat_array_of(DType::f32, {1, 0.0, -0.0});
  EXPECT_THAT(arg_reduce("n=3", zeros), ElementsAre(Found{1, 0}));
}

TEST(ArgReduceReference, TellsWholeNumbersApartThatF32DoesNot) {
  const HostArray in =
      flat_array_of(DType::i32, {2147483646, 2147483647, -2147483647, -2147483648.0});
  EXPECT_THAT(arg_reduce("n=4,dtype=i32", in), ElementsAre(Found{3, -2147483648.0}));
  EXPECT_THAT(arg_reduce("n=4,dtype=i32,op=max", in), ElementsAre(Found{1, 2147483647}));
}

// ---- histogram: what it computes

TEST(HistogramReference, AByteIsItsOwnBin) {
  const auto counts =
      Reference("histogram")("n=4", {{"in", flat_array_of(DType::u8, {0, 255, 7, 255})}});
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[7], 1);
  EXPECT_EQ(counts[255], 2);
}

TEST(HistogramReference, EvenBinsHoldTheirLowerEndAndNothingOutsideIsCounted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HostArray in = flat_array_of(DType::f32, {0, 0.999, 1, 3.5, 4, -0.001, nan, 1e30, -1e30});
  const std::map<std::string, double> range = {{"low", 0}, {"high", 4}, {"scale", 1}};
  EXPECT_THAT(Reference("histogram")("n=9,dtype=f32,bins=4", {{"in", in}}, range),
              ElementsAre(2, 1, 0, 1));
}

TEST(HistogramReference, TheSampleJustBelowTheTopStaysInTheLastBinEvenIfItsProductRoundsUp) {
  const float below = std::nextafter(1.0f, 0.0f);
  const std::map<std::string, double> range = {{"low", -1}, {"high", 1}, {"scale", 1.5}};
  ASSERT_EQ((below + 1.0f) * 1.5f, 3.0f) << "the product rounds up to the number of bins";
  EXPECT_THAT(Reference("histogram")("n=1,dtype=f32,bins=3",
                                     {{"in", flat_array_of(DType::f32, {below})}}, range),
              ElementsAre(0, 0, 1));
}

TEST(HistogramReference, TheRangeMaySpanAllOfI32) {
  const HostArray in = flat_array_of(DType::i32, {-2147483648.0, -1000, 0, 2147483646});
  const std::map<std::string, double> range = {
      {"low", -2147483648.0}, {"high", 2147483647}, {"scale", std::ldexp(1.0, -31)}};
  EXPECT_THAT(Reference("histogram")("n=4,dtype=i32,bins=2", {{"in", in}}, range),
              ElementsAre(2, 2));
}

TEST(HistogramProblem, BytesHave256Bins) {
  EXPECT_THAT(refusal("histogram", "n=10,dtype=u8,bins=64"), HasSubstr("a byte is its own bin"));
}

// ---- all three: every variant on every kind of device

struct ReductionCase {
  std::string kernel;
  std::string problem;
};

constexpr const char* kMostElements = "n=4294967295";  // that a histogram counts

class EveryVariant : public testing::TestWithParam<ReductionCase> {
 protected:
  static std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> all;
    for (const char* name : {"sm_75", "sm_80", "sm_90a", "sm_120"})
      all.push_back(device_for_architecture("cuda", name));
    for (const char* name : {"gfx906", "gfx90a", "gfx1030"})
      all.push_back(device_for_architecture("hip", name));
    all.push_back(device_for_architecture("opencl", "opencl"));
    return all;
  }
};

TEST_P(EveryVariant, ItsDefaultConfigIsLegalAndRendersEveryKernelThatItLaunches) {
  const KernelSpec spec = KernelLibrary().load(GetParam().kernel);
  const Renderer renderer(spec);
  const Problem problem = Problem::parse(spec, GetParam().problem);
  for (const DeviceInfo& device : devices()) {
    for (const Variant& variant : spec.variants) {
      if (variant.requires_ &&
          !variant.requires_->evaluate_bool(Setting(spec, problem, device).scope()))
        continue;
      SCOPED_TRACE(device.architecture + " " + variant.name);
      const Config config = Setting(spec, problem, device).default_config(variant);
      const auto plan = Setting(spec, problem, device).plan(config);
      // HIP cannot launch a thread for each of so many elements.
      if (device.backend == "hip" && variant.name == "global_atomic" &&
          GetParam().problem == kMostElements) {
        ASSERT_FALSE(plan);
        EXPECT_THAT(plan.failure().message, HasSubstr("this device takes at most 4294967295"));
        continue;
      }
      ASSERT_TRUE(plan) << plan.failure().message;
      const Source source = renderer.render({spec, problem, device}, config);
      for (const StepPlan& step : plan->steps) {
        if (step.kind == StepKind::launch) {
          EXPECT_THAT(source.text, HasSubstr(" " + step.entry + "("));
        }
      }
      EXPECT_THAT(source.text, Not(HasSubstr("{{")));
    }
  }
}

std::vector<ReductionCase> cases() {
  std::vector<ReductionCase> all;
  for (const char* problem :
       {"n=1", "n=1000003", "n=77,dtype=f64", "n=77,dtype=i32,op=min", "n=77,dtype=f16,op=dot",
        "n=77,dtype=bf16,op=max", "n=77,dtype=i32,op=dot", "n=77,map='x*x'",
        "n=1e9,source=index,map='sin(2*pi*i/n)**2'"}) {
    all.push_back({"reduce", problem});
  }
  for (const char* problem : {"n=1", "n=5e9", "n=77,dtype=f64,op=max", "n=1000,results=1000",
                              "n=3,results=1e6,dtype=f16", "n=1e8,results=3,dtype=i32"}) {
    all.push_back({"arg_reduce", problem});
  }
  for (const char* problem :
       {"n=1", "n=1000003,distribution=constant", kMostElements, "n=77,dtype=f32,bins=2",
        "n=77,dtype=i32,bins=1000", "n=77,dtype=f32,bins=65536"}) {
    all.push_back({"histogram", problem});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(ReduceAndHistogram, EveryVariant, testing::ValuesIn(cases()));

TEST(ReduceAndHistogram, TheirTemplatesLintClean) {
  for (const char* kernel : {"reduce", "arg_reduce", "histogram"}) {
    std::vector<std::string> messages;
    for (const LintFinding& finding : lint(KernelLibrary().load(kernel))) {
      messages.push_back(to_text(finding.where) + ": " + finding.message);
    }
    EXPECT_THAT(messages, IsEmpty()) << kernel;
  }
}

TEST(ReduceAndHistogram, SizesThatShareAConfigShareTheirSource) {
  const KernelSpec spec = KernelLibrary().load("reduce");
  const Renderer renderer(spec);
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const auto text_for = [&](const std::string& text) {
    const Problem problem = Problem::parse(spec, text);
    return renderer.render({spec, problem, device}, Setting(spec, problem, device).parse("ticket"))
        .text;
  };
  EXPECT_EQ(text_for("n=1000"), text_for("n=268435456"));
  EXPECT_NE(text_for("n=1000"), text_for("n=1000,op=max"));
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
  const KernelSpec spec = KernelLibrary().load("histogram");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec, "n=1e9");
  const Status status =
      Setting(spec, problem, device)
          .check(Setting(spec, problem, device).parse("packed:block_size=1024,unroll=4"));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.failure().message, HasSubstr("must not overflow before the next barrier"));
}

}  // namespace
}  // namespace kiln
