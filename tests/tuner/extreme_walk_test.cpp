// A kernel that passes over one element in some hundreds is found out, whichever it is.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/extreme_walk.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "core/setting.hpp"
#include "device_fixture.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

class ExtremeWalkTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) toolbox_.emplace(*device_, *toolbox_compiler_);
  }
  [[nodiscard]] ProblemBench::Tools tools() { return {*device_, *compiler_, *toolbox_}; }

  std::unique_ptr<ExtremeWalk> walk_of(const std::string& kernel, const std::string& problem,
                                       std::size_t max_places = 1000) {
    spec_ = KernelLibrary().load(kernel);
    problem_ = Problem::parse(spec_, problem);
    auto walk = ExtremeWalk::create(tools(), spec_, *problem_, 1, max_places);
    EXPECT_TRUE(walk) << walk.failure().message;
    return std::move(*walk);
  }

  /// Walks with the config, the first `from` of whose source was replaced.
  Status check(ExtremeWalk& walk, const std::string& text, const std::string& from = "",
               const std::string& to = "") {
    const Config config = Setting(spec_, *problem_, device_->info()).parse(text);
    Source source = Renderer(spec_).render({spec_, *problem_, device_->info()}, config);
    const std::size_t place = source.text.find(from);
    EXPECT_NE(place, std::string::npos) << source.text;
    source.text.replace(place, from.size(), to);
    const Result<Binary> binary = compiler_->compile(source);
    EXPECT_TRUE(binary) << binary.failure().message;
    const auto plan = Setting(spec_, *problem_, device_->info()).plan(config);
    auto bench = ProblemBench::create(tools(), spec_, *problem_, 1, 1e9);
    EXPECT_TRUE(bench) << bench.failure().message;
    Result<ConfigRun> run = ConfigRun::load((*bench)->bench(), *plan, *binary);
    EXPECT_TRUE(run) << run.failure().message;
    return walk.check(config, *run);
  }

  std::optional<Toolbox> toolbox_;
  KernelSpec spec_;
  std::optional<Problem> problem_;
};

// Load 1 of a thread is 65 elements on instead of 64: element 64 of each tile is nobody's.
TEST_F(ExtremeWalkTest, FindsTheElementThatIsPassedOver) {
  const auto walk = walk_of("reduce", "n=500 op=max");
  ASSERT_TRUE(walk);
  const std::string config =
      "grid_stride:block_size=64,load_bytes=4,unroll=4,accumulators=1,"
      "blocks_per_unit=4,streaming=false,finish=tree";
  EXPECT_TRUE(check(*walk, config));
  const Status status = check(*walk, config, "LOAD_4(in + i + 64)", "LOAD_4(in + i + 65)");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().outcome, Outcome::wrong_result);
  // Where element 64 is the largest; it lies before the place that is told.
  EXPECT_THAT(status.failure().message,
              HasSubstr("n=500 results=1 dtype=f32 op=max map=x source=array axis=last, with the "
                        "extremes of its input in one of 501 places after the other (the first "
                        "index): 1 of 501 elements of 'out' are wrong; the first is out[65, 0]"));
}

TEST_F(ExtremeWalkTest, GoesThroughTheFirstAndTheLastElement) {
  const auto walk = walk_of("reduce", "n=100 op=min");
  ASSERT_TRUE(walk);
  const std::string config = "atomic:block_size=32";
  EXPECT_TRUE(check(*walk, config));
  const Status last = check(*walk, config, "if (i < n)", "if (i < n - 1)");
  ASSERT_FALSE(last);
  EXPECT_THAT(last.failure().message, HasSubstr("1 of 101 elements of 'out' are wrong; the first "
                                                "is out[99, 0]"));
  const Status first = check(*walk, config, "if (i < n)", "if (i > 0 && i < n)");
  ASSERT_FALSE(first);
  EXPECT_THAT(first.failure().message, HasSubstr("1 of 101 elements of 'out' are wrong; the first "
                                                 "is out[0, 0]"));
}

// Of two blocks, the one that is done last is taken for the only one.
TEST_F(ExtremeWalkTest, FindsTheBlockWhoseResultIsLostAtAFewPlaces) {
  const auto walk = walk_of("reduce", "n=5000 op=max", 5);
  ASSERT_TRUE(walk);
  const std::string config =
      "ticket:block_size=256,load_bytes=16,unroll=4,accumulators=1,"
      "blocks_per_unit=4,streaming=false,finish=tree";
  EXPECT_TRUE(check(*walk, config));
  const Status status = check(*walk, config, "if (GRID_X == 1)", "if (GRID_X == 2)");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.failure().message, HasSubstr("in one of 5 places after the other"));
}

TEST_F(ExtremeWalkTest, ChecksEveryOutputOfEveryRow) {
  const auto walk = walk_of("arg_reduce", "n=50 results=6 op=max");
  ASSERT_TRUE(walk);
  EXPECT_TRUE(check(*walk, "naive"));
}

TEST_F(ExtremeWalkTest, IsNothingWhereNoInputIsARamp) {
  EXPECT_FALSE(walk_of("reduce", "n=500"));
  EXPECT_FALSE(walk_of("transpose", "rows=20 cols=30"));
}

}  // namespace
}  // namespace kiln
