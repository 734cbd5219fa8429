// Steps bound to buffers: tensor maps are encoded once for the buffers of a sequence, and a launch
// passes them.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/launch_sequence.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paper_device.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;

/// Its maps begin with the address that they describe.
class MapDevice final : public PaperDevice {
 public:
  Result<TensorMapBytes> encode(const TensorMapPlan& plan, const Buffer& buffer) override {
    ++encoded;
    if (refused) return Failure{Outcome::launch_error, "refused: " + plan.name};
    TensorMapBytes map;
    const std::uintptr_t address = buffer.handle + buffer.offset;
    std::memcpy(map.bytes.data(), &address, sizeof address);
    return map;
  }
  Status launch(const Launch& launch) override {
    seen.clear();
    programmatic = launch.programmatic;
    for (const KernelArgument& argument : launch.arguments) {
      if (argument.kind != KernelArgument::Kind::tensor_map) continue;
      std::uintptr_t address = 0;
      std::memcpy(&address, argument.tensor_map->bytes.data(), sizeof address);
      seen.push_back(address);
    }
    return PaperDevice::launch(launch);
  }

  int encoded = 0;
  bool refused = false;
  bool programmatic = false;
  std::vector<std::uintptr_t> seen;  ///< addresses of the maps of the last launch
};

LaunchPlan plan_with_maps() {
  LaunchPlan plan;
  for (const char* name : {"a", "c"}) {
    BufferPlan& buffer = plan.buffers.emplace_back();
    buffer.name = name;
    buffer.count = 64;
    TensorMapPlan& map = plan.tensor_maps.emplace_back();
    map.name = std::string("map_") + name;
    map.buffer = name;
  }
  StepPlan& step = plan.steps.emplace_back();
  step.entry = "copy";
  step.arguments = {"map_c", "a", "map_a"};
  step.programmatic = true;
  return plan;
}

class Sequences : public ::testing::Test {
 protected:
  LaunchSequence bound_to(const Buffer& a, const Buffer& c) {
    return {plan_with_maps(), module_,
            [&](const std::string& name) { return name == "a" ? &a : &c; }};
  }

  MapDevice device_;
  PaperModule module_;
};

TEST_F(Sequences, EncodeTheMapsOfTheirBuffersOnce) {
  const LaunchSequence verify = bound_to({1000, 256, 0}, {2000, 256, 0});
  const LaunchSequence fenced = bound_to({3000, 256, 768}, {4000, 256, 0});
  EXPECT_EQ(device_.encoded, 0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(verify.enqueue(device_));
    EXPECT_THAT(device_.seen, ElementsAre(2000, 1000));
    ASSERT_TRUE(fenced.enqueue(device_));
    EXPECT_THAT(device_.seen, ElementsAre(4000, 3768));
    EXPECT_EQ(device_.encoded, 4) << "two maps for each of two sets of buffers";
  }
  EXPECT_TRUE(device_.programmatic);
}

TEST_F(Sequences, AMapThatCannotBeEncodedIsAFailureOfTheRun) {
  const LaunchSequence sequence = bound_to({1000, 256, 0}, {2000, 256, 0});
  device_.refused = true;
  const Status status = sequence.enqueue(device_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().message, "refused: map_c");
  EXPECT_EQ(device_.runs, 0);
}

}  // namespace
}  // namespace kiln
