// Checks of problems that a config does not have.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/extra_checks.hpp"

#include <csignal>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "core/setting.hpp"
#include "device_fixture.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/extreme_walk.hpp"
#include "tuner/session/session.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

// A config that is right for its own problem and wrong for others is found out on these.

class ExtraChecksTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) toolbox_.emplace(*device_, *toolbox_compiler_);
  }

  /// Puts the config through all checks; the last `from` of its source was replaced.
  Result<double> check(const std::string& kernel, const std::string& problem_text,
                       const std::string& config_text, const std::string& from = "",
                       const std::string& to = "") {
    const ProblemBench::Tools tools{*device_, *compiler_, *toolbox_};
    const KernelSpec spec = KernelLibrary().load(kernel);
    const Problem problem = Problem::parse(spec, problem_text);
    const Config config = Setting(spec, problem, device_->info()).parse(config_text);
    Source source = Renderer(spec).render({spec, problem, device_->info()}, config);
    const std::size_t place = source.text.rfind(from);
    EXPECT_NE(place, std::string::npos) << source.text;
    source.text.replace(place, from.size(), to);
    const Result<Binary> binary = compiler_->compile(source);
    EXPECT_TRUE(binary) << binary.failure().message;
    const auto plan = Setting(spec, problem, device_->info()).plan(config);
    auto bench = ProblemBench::create(tools, spec, problem, 1, 1e9);
    EXPECT_TRUE(bench) << bench.failure().message;
    Result<ConfigRun> run = ConfigRun::load((*bench)->bench(), *plan, *binary);
    EXPECT_TRUE(run) << run.failure().message;
    ExtraChecks checks(tools, spec, problem, 1, TuneOptions().extra_operations);
    return checks.check(config, *run);
  }

  /// The config is right, and with the mistake wrong on the problem `where`.
  void expect_found(const std::string& problem, const std::string& config, const std::string& from,
                    const std::string& to, const std::string& where,
                    const std::string& kernel = "reduce") {
    const Result<double> right = check(kernel, problem, config);
    EXPECT_TRUE(right) << right.failure().message;
    const Result<double> mistaken = check(kernel, problem, config, from, to);
    ASSERT_FALSE(mistaken);
    EXPECT_EQ(mistaken.failure().outcome, Outcome::wrong_result);
    EXPECT_THAT(mistaken.failure().message, HasSubstr(where));
  }

  std::optional<Toolbox> toolbox_;
};

// Two blocks a row, of which one is taken for the only one: 4096 elements are one block's.
TEST_F(ExtraChecksTest, FindTheRowOfTwoBlocks) {
  expect_found("n=64 results=96",
               "row_split:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,"
               "streaming=false,finish=tree",
               "if (share == 1)", "if (share == 2)", "on n=4097 results=2 ");
}

// Likewise of a single row: the block that is done last has the answer.
TEST_F(ExtraChecksTest, FindTheMaximumOfTwoBlocks) {
  expect_found("n=8192 op=max",
               "ticket:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,"
               "streaming=false,finish=tree",
               "if (GRID_X == 1)", "if (GRID_X == 2)", "on n=");
}

// The partial results of a row stay what they are: 256 elements are one block's.
TEST_F(ExtraChecksTest, FindPartialResultsThatAreNotCombined) {
  expect_found("n=48 results=64 axis=first op=min", "wide",
               "value = block_combine(value, scratch);", ";", " axis=first");
}

// The last block of a row takes what its first thread read: the first of the other blocks' results.
// 8192 elements are one block's.
TEST_F(ExtraChecksTest, FindTheResultOfTheMiddleOfThreeBlocks) {
  expect_found("n=1021 results=8 dtype=f16",
               "relay:block_size=256,load_bytes=16,unroll=4,blocks_per_unit=8,streaming=false,"
               "test=load,finish=tree",
               "key = block_largest(key, scratch);", ";", "on n=18434 results=2 ", "arg_reduce");
}

// Only where the smallest element is a zero is it read again, here from the first row.
TEST_F(ExtraChecksTest, FindTheElementOfAnotherRow) {
  expect_found("n=1024 results=8",
               "key:block_size=256,load_bytes=16,unroll=4,blocks_per_unit=4,streaming=false,"
               "test=load,finish=tree,ending=ticket",
               "write_result(in + row * n, ATOMIC_MAX", "write_result(in, ATOMIC_MAX",
               "elements of 'value' are wrong", "arg_reduce");
}

// A partial result that becomes a little larger loses only to one that is as small, and only where
// it is not negative.
TEST_F(ExtraChecksTest, FindThePartialResultThatTheSecondLaunchWrites) {
  expect_found("n=1021 results=8 dtype=f16", "naive", "  const int share = shares[0];",
               "  ((GLOBAL unsigned char*)values)[0] = 0x5A; const int share = shares[0];",
               "elements of 'index' are wrong", "arg_reduce");
}

// Right wherever a row has an element above zero.
TEST_F(ExtraChecksTest, FindTheMaximumThatBeginsAtZero) {
  expect_found("n=8192 op=max",
               "ticket:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,"
               "streaming=false,finish=tree",
               "identity(void) { return -", "identity(void) { return 0 * -", "on n=");
}

// What is read there goes into the tile and from it nowhere: right wherever there is memory.
TEST_F(ExtraChecksTest, FindReadsPastTheEndThatNobodyUses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_TRUE(check("transpose", "rows=100 cols=70", "tile"));
  const auto run = [&] {
    static_cast<void>(check("transpose", "rows=100 cols=70", "tile", "r < height && in_c < width ?",
                            "r < height || in_c < width ?"));
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

// A kernel that passes over one element in some hundreds is found out, whichever it is.

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
