// The device's own scale: ceilings, tools.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "device_fixture.hpp"
#include "templates/library.hpp"
#include "templates/reference.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/problem_bench.hpp"
#include "tuner/checks/problem_data.hpp"
#include "tuner/checks/toolbox.hpp"
#include "tuner/device/ceilings.hpp"

namespace kiln {
namespace {

using testing::Each;
using ::testing::HasSubstr;
using testing::UnorderedElementsAre;

// How large results typically are is known even where there are few, and these are small by chance.

// The largest error that the sum of 56 numbers between -1 and 1 in any order was seen to have.
constexpr float kRounding = 4e-7F;

// Operations up to which the CPU loop is the reference.
constexpr double kByCpuLoop = 1e9;
constexpr double kByDeviceReference = 0;

class ScaleTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) toolbox_.emplace(*device_, *toolbox_compiler_);
  }

  /// Runs the default config on the inputs for timing, changes the sum by `change` and checks it.
  void check_sum(ProblemBench& bench, float change, bool is_right) {
    const Config config = Setting(spec_, problem_, device_->info()).default_config();
    const auto plan = Setting(spec_, problem_, device_->info()).plan(config);
    if (!binary_) {
      const auto made =
          compiler_->compile(Renderer(spec_).render({spec_, problem_, device_->info()}, config));
      ASSERT_TRUE(made) << made.failure().message;
      binary_ = *made;
    }
    auto run = ConfigRun::load(bench.bench(), *plan, *binary_);
    ASSERT_TRUE(run) << run.failure().message;
    ASSERT_TRUE(run->run_once(InputSet::timing));
    const BufferLookup find = [&](const std::string& name) {
      return bench.bench().data.find(name, InputSet::timing);
    };
    float sum = 0;
    const auto bytes = std::as_writable_bytes(std::span(&sum, 1));
    ASSERT_TRUE(device_->download(*find("out"), 0, bytes));
    sum += change;
    ASSERT_TRUE(device_->upload(*find("out"), 0, bytes));
    const auto found = bench.expected(InputSet::timing).check(*device_, *toolbox_, find);
    ASSERT_TRUE(found) << found.failure().message;
    EXPECT_EQ(found->mismatch.empty(), is_right) << found->mismatch;
  }

  const KernelSpec spec_ = KernelLibrary().load("reduce");
  const Problem problem_ = Problem::parse(spec_, "n=56");
  std::optional<Toolbox> toolbox_;
  std::optional<Binary> binary_;
};

// An element that is too large for its type says nothing of the others, and squares of f64 may be
// too large for f64.
TEST_F(ScaleTest, IsThatOfWhatTheTypeHolds) {
  struct Story {
    DType dtype;
    double large;   // in the first element
    double stored;  // what the type makes of it
    double other;   // in the second, which the kernel leaves at 0
  };
  for (const Story& story :
       {Story{DType::f32, 1e60, std::numeric_limits<double>::infinity(), 1},
        Story{DType::e4m3, 10000, 448, 400}, Story{DType::f64, 1e200, 1e200, 1e190}}) {
    SCOPED_TRACE(name_of(story.dtype));
    HostArray reference(reference_dtype(story.dtype), {2});
    reference.set(0, story.large);
    reference.set(1, story.other);
    const ProblemData::Output output{
        .name = "y", .dtype = story.dtype, .shape = {2}, .count = 2, .access = Access::write};
    const auto expected = ExpectedOutputs::from_arrays(*device_, {output}, {{"y", reference}}, {});
    ASSERT_TRUE(expected);
    HostArray values(story.dtype, {2});
    values.set(0, story.stored);
    auto memory = OwnedBuffer::allocate(*device_, values.data.size());
    ASSERT_TRUE(memory);
    ASSERT_TRUE(device_->upload(memory->get(), 0, values.data));
    const auto found = expected->check(*device_, *toolbox_,
                                       [&](const std::string& /*name*/) { return &memory->get(); });
    ASSERT_TRUE(found) << found.failure().message;
    EXPECT_FALSE(found->mismatch.empty());
  }
}

// What is left of the 56 numbers that these seeds draw is 0.0008 to 0.06, where 4.3 is typical: the
// error of a sum belongs to its terms.
TEST_F(ScaleTest, IsThatOfTheTermsWhereASumCancels) {
  const ProblemBench::Tools tools{*device_, *compiler_, *toolbox_};
  for (const std::uint64_t seed : {41U, 803U, 1324U, 2328U}) {
    SCOPED_TRACE(seed);
    auto bench = ProblemBench::create(tools, spec_, problem_, seed, kByCpuLoop);
    ASSERT_TRUE(bench) << bench.failure().message;
    check_sum(**bench, 0, true);
    check_sum(**bench, kRounding, true);
    check_sum(**bench, -kRounding, true);
    check_sum(**bench, 0.001F, false);
  }
}

TEST_F(ScaleTest, IsKnownByTheDeviceReferenceToo) {
  const ProblemBench::Tools tools{*device_, *compiler_, *toolbox_};
  auto bench = ProblemBench::create(tools, spec_, problem_, 2328, kByDeviceReference);
  ASSERT_TRUE(bench) << bench.failure().message;
  check_sum(**bench, kRounding, true);
  check_sum(**bench, 0.001F, false);
}

TEST_F(ScaleTest, StaysKnownWhenInputsAreDrawnAnew) {
  const ProblemBench::Tools tools{*device_, *compiler_, *toolbox_};
  auto bench = ProblemBench::create(tools, spec_, problem_, 1, kByCpuLoop);
  ASSERT_TRUE(bench) << bench.failure().message;
  for (const std::uint64_t seed : {41U, 803U, 1324U, 2328U}) {
    SCOPED_TRACE(seed);
    ASSERT_TRUE((*bench)->reseed(seed));
    check_sum(**bench, kRounding, true);
    check_sum(**bench, 0.001F, false);
  }
}

// Ceilings on a real device: the figures are finite and positive, and the memory is given back.
// Speeds are not asserted.

bool is_rate(double value) { return std::isfinite(value) && value > 0; }

class CeilingsTest : public DeviceTest {};

/// Refuses every source, and remembers how many it saw.
class RefusingCompiler : public Compiler {
 public:
  Result<Binary> compile(const Source&) override {
    ++refused;
    return Failure{Outcome::compile_error, "no more today", false};
  }
  int refused = 0;
};

TEST_F(CeilingsTest, EveryRateIsMeasured) {
  const Result<Ceilings> ceilings = measure_ceilings(*device_, *compiler_);
  ASSERT_TRUE(ceilings) << ceilings.failure().message;
  EXPECT_TRUE(is_rate(ceilings->read_bytes_per_s)) << ceilings->read_bytes_per_s;
  EXPECT_TRUE(is_rate(ceilings->copy_bytes_per_s)) << ceilings->copy_bytes_per_s;
  EXPECT_TRUE(is_rate(ceilings->f32_flops)) << ceilings->f32_flops;
  EXPECT_EQ(is_rate(ceilings->f64_flops), device_->info().has_f64) << ceilings->f64_flops;
  // A wrong count of bytes or of multiply-adds would be off by more than any machine is.
  EXPECT_LT(ceilings->copy_bytes_per_s, 1e14);
  EXPECT_LT(ceilings->read_bytes_per_s, 1e14);
  EXPECT_LT(ceilings->f32_flops, 1e16);
  EXPECT_GT(ceilings->f32_flops, 1e7);
}

TEST_F(CeilingsTest, ShapesThatDoNotCompileArePassedOverAndTheLastOneIsReported) {
  RefusingCompiler refusing;
  const Result<Ceilings> ceilings = measure_ceilings(*device_, refusing);
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.failure().outcome, Outcome::compile_error);
  EXPECT_EQ(ceilings.failure().message, "no more today");
  EXPECT_GT(refusing.refused, 1);
}

/// Where there is no GPU, the text of its kernels is looked at at least.
TEST(CeilingsTemplates, TheDefaultOfEveryVariantRendersForEveryBackend) {
  const KernelSpec spec = KernelLibrary::load_ceilings();
  const Renderer renderer(spec);
  const Problem problem = Problem::parse(spec, "words=65536");
  for (const DeviceInfo& device :
       {device_for_architecture("cuda", "sm_90a"), device_for_architecture("hip", "gfx90a"),
        device_for_architecture("opencl", "opencl")}) {
    for (const Variant& variant : spec.variants) {
      const Config config = Setting(spec, problem, device).default_config(variant);
      const Source source = renderer.render({spec, problem, device}, config);
      EXPECT_EQ(source.entries, std::vector<std::string>{variant.steps.front().entry.text()})
          << device.backend;
      const bool streams = variant.name.starts_with("stream");
      EXPECT_THAT(source.text,
                  HasSubstr(streams ? "LOAD_16(in + 4 * (first + u * 256))" : "FMA(x[c], a, b)"));
    }
  }
}

TEST(CeilingsTemplates, TheTemplatesHoldNothingToComplainOf) {
  EXPECT_TRUE(lint(KernelLibrary::load_ceilings()).empty());
}

// The device's own fills and comparisons, in each of the element types of 8 and 16 bits.

constexpr std::int64_t kCount = 10000;

class ToolboxTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) toolbox_.emplace(*device_, *toolbox_compiler_);
  }

  OwnedBuffer upload(const HostArray& array) {
    Result<OwnedBuffer> buffer = OwnedBuffer::allocate(*device_, array.data.size());
    EXPECT_TRUE(buffer) << buffer.failure().message;
    EXPECT_TRUE(device_->upload(buffer->get(), 0, array.data));
    return std::move(*buffer);
  }

  std::vector<double> filled(DType dtype, const std::string& kind, double low, double high) {
    HostArray array(dtype, {kCount});
    const OwnedBuffer buffer = upload(array);
    Fill fill;
    fill.kind = kind;
    fill.low = low;
    fill.high = high;
    fill.seed = 5;
    const Status status = toolbox_->fill(buffer.get(), dtype, kCount, fill);
    EXPECT_TRUE(status) << status.failure().message;
    EXPECT_TRUE(device_->download(buffer.get(), 0, array.data));
    std::vector<double> values;
    for (std::size_t i = 0; i < array.count(); ++i) values.push_back(array.get(i));
    return values;
  }

  BufferDifference compared(const HostArray& values, const HostArray& reference, double absolute) {
    const OwnedBuffer one = upload(values);
    const OwnedBuffer other = upload(reference);
    const auto count = static_cast<std::int64_t>(values.count());
    const auto found =
        toolbox_->compare(one.get(), other.get(), values.dtype, count, Tolerance{0, absolute});
    EXPECT_TRUE(found) << found.failure().message;
    return *found;
  }

  std::optional<Toolbox> toolbox_;
};

template <typename Values>
std::set<double> distinct(const Values& values) {
  return {values.begin(), values.end()};
}

TEST_F(ToolboxTest, FillsUniformlyWithAllThatTheTypeHasInTheRange) {
  const std::vector<double> whole = filled(DType::i8, "uniform", -128, 127);
  EXPECT_EQ(distinct(whole).size(), 256U);
  EXPECT_EQ(*std::min_element(whole.begin(), whole.end()), -128);
  for (const DType dtype : {DType::e4m3, DType::e5m2}) {
    const std::vector<double> values = filled(dtype, "uniform", -1, 1);
    EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(-1), testing::Lt(1)))) << name_of(dtype);
    // Down to 2^-6, below which one draw in 64 lies: twice 6 binades of 8 or of 4 numbers.
    EXPECT_GT(distinct(values).size(), dtype == DType::e4m3 ? 96U : 48U) << name_of(dtype);
    double sum = 0;
    for (const double value : values) sum += value;
    EXPECT_NEAR(sum / kCount, 0, 0.03) << name_of(dtype);
  }
}

// 2.9 is nearer to 3 than to any number of these types below it.
TEST_F(ToolboxTest, FillsUniformlyBelowTheHighEndWhateverIsRounded) {
  for (const DType dtype : {DType::e4m3, DType::e5m2, DType::f16, DType::bf16, DType::f32}) {
    const std::vector<double> values = filled(dtype, "uniform", 2, 3);
    EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(2), testing::Lt(3)))) << name_of(dtype);
  }
}

TEST_F(ToolboxTest, FillsWithWholeNumbersThatEveryTypeHolds) {
  for (const DType dtype : {DType::i8, DType::e4m3, DType::e5m2}) {
    EXPECT_THAT(distinct(filled(dtype, "integers", 0, 1)), UnorderedElementsAre(-3, -1, 1, 3))
        << name_of(dtype);
  }
}

TEST_F(ToolboxTest, FillsARampWithOneSmallestAndOneLargestElement) {
  for (const DType dtype : {DType::i8, DType::e4m3, DType::e5m2}) {
    const double end = dtype == DType::i8 ? 100 : 1;
    const std::vector<double> values = filled(dtype, "ramp", -end, end);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end())) << name_of(dtype);
    EXPECT_EQ(values.front(), -end);
    EXPECT_GT(values[1], -end) << name_of(dtype);
    EXPECT_LT(values[values.size() - 2], end) << name_of(dtype);
    EXPECT_EQ(values.back(), end);
  }
}

TEST_F(ToolboxTest, ComparesWhatCodesStandFor) {
  for (const DType dtype : {DType::i8, DType::e4m3, DType::e5m2}) {
    HostArray reference(dtype, {300});
    for (std::size_t i = 0; i < 300; ++i) reference.set(i, static_cast<double>(i % 7) - 3);
    HostArray values = reference;
    EXPECT_EQ(compared(values, reference, 0).wrong, 0) << name_of(dtype);
    values.set(77, 4);  // 0 in the reference
    values.set(200, -4);
    const BufferDifference found = compared(values, reference, 0);
    EXPECT_EQ(found.wrong, 2) << name_of(dtype);
    EXPECT_EQ(found.first_wrong, 77) << name_of(dtype);
    EXPECT_EQ(compared(values, reference, 8).wrong, 0) << name_of(dtype);
  }
}

// What poisons an output, or lies in a zone, is no number that a kernel may have meant.
TEST_F(ToolboxTest, FindsPoisonInFloatingPointTypesOfEverySize) {
  for (const DType dtype : all_dtypes()) {
    if (!is_floating(dtype) || dtype == DType::f64) continue;
    HostArray reference(dtype, {5});
    HostArray poisoned = reference;
    const auto byte = static_cast<std::byte>(poison_byte(dtype));
    std::fill(poisoned.data.begin(), poisoned.data.end(), byte);
    EXPECT_TRUE(std::isnan(poisoned.get(0))) << name_of(dtype);
    EXPECT_EQ(compared(poisoned, reference, 1e30).wrong, 5) << name_of(dtype);
    EXPECT_EQ(compared(poisoned, poisoned, 0).wrong, 0) << name_of(dtype);
  }
}

}  // namespace
}  // namespace kiln
