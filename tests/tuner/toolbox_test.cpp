// The device's own fills and comparisons, in each of the element types of 8 and 16 bits.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/toolbox.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "device_fixture.hpp"
#include "templates/reference.hpp"
#include "tuner/checks/problem_data.hpp"

namespace kiln {
namespace {

using testing::Each;
using testing::UnorderedElementsAre;

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
