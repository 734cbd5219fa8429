// A config that is right for its own problem and wrong for others is found out on these.
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
#include "tuner/session/session.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace kiln
