// How large results typically are is known even where there are few, and these are small by chance.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "device_fixture.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/problem_bench.hpp"

namespace kiln {
namespace {

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

}  // namespace
}  // namespace kiln
