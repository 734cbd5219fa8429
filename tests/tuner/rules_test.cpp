// Tolerance, run limits, shrunk problems and the choice of finalists.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "templates/library.hpp"
#include "tuner/rules/finalists.hpp"
#include "tuner/rules/shrink_problem.hpp"
#include "tuner/rules/tolerance.hpp"
#include "tuner/workers/device_client.hpp"

namespace kiln {
namespace {

TEST(RunLimit, FollowsTheBestTimeKnownBetweenAFloorAndACap) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const DeviceDeadlines deadlines;
  EXPECT_EQ(run_limit(deadlines, 0), seconds(60)) << "nothing is known yet";
  EXPECT_EQ(run_limit(deadlines, 1e3), seconds(2)) << "the floor";
  EXPECT_EQ(run_limit(deadlines, 0.1e9), seconds(5)) << "50 times 100 ms";
  EXPECT_EQ(run_limit(deadlines, 3e9), seconds(60)) << "the cap";
  EXPECT_EQ(run_limit(deadlines, 1e300), seconds(60)) << "no overflow";
}

TEST(RunLimit, OfFinalsHasRoomForTheFewestRoundsAndAHang) {
  using std::chrono::seconds;
  const DeviceDeadlines deadlines;
  FinalsJob job;
  job.configs.resize(4);
  EXPECT_GE(finals_limit(deadlines, 12e9, job), seconds(4 * 8 * 12)) << "runs of 12 s";
  EXPECT_EQ(finals_limit(deadlines, 1e5, job), seconds(60 + 4 * 2 * 60 + 10)) << "the floor";
  job.rounds.min_rounds = 50;
  EXPECT_GE(finals_limit(deadlines, 12e9, job), seconds(4 * 50 * 12));
}

TEST(Tolerance, IntegersMustBeExact) {
  EXPECT_EQ(default_tolerance(DType::i32, 1e6, 1000), (Tolerance{0, 0}));
  EXPECT_EQ(stated_tolerance(DType::u8, 0.5, 1000), (Tolerance{0, 0}));
  EXPECT_EQ(stated_tolerance(DType::u8, 1, 1000), (Tolerance{0, 1})) << "unless the spec says so";
}

TEST(Tolerance, GrowsWithTheRootOfTheSumAndWithTheScale) {
  const Tolerance one = default_tolerance(DType::f32, 1, 10);
  EXPECT_NEAR(one.relative, 14 * epsilon_of(DType::f32), 1e-9);
  EXPECT_DOUBLE_EQ(one.absolute, 10 * one.relative);
  const Tolerance many = default_tolerance(DType::f32, 1'000'000, 10);
  EXPECT_NEAR(many.relative, 4010 * epsilon_of(DType::f32), 1e-6);
}

TEST(Tolerance, HalvesAreRoundedOnceAndSummedInF32) {
  const Tolerance half = default_tolerance(DType::f16, 4096, 1);
  EXPECT_NEAR(half.relative, 2 * epsilon_of(DType::f16) + 264 * epsilon_of(DType::f32), 1e-9);
  const Tolerance byte = default_tolerance(DType::e4m3, 4096, 1);
  EXPECT_NEAR(byte.relative, 2 * epsilon_of(DType::e4m3) + 264 * epsilon_of(DType::f32), 1e-9);
  EXPECT_LT(default_tolerance(DType::f64, 4096, 1).relative, 1e-12);
  const double cut = default_tolerance(DType::f32, 4096, 1, 0x1p-10).relative;
  EXPECT_DOUBLE_EQ(cut, default_tolerance(DType::f32, 4096, 1).relative + 4 * 0x1p-10);
}

constexpr const char* kMatrixSpec = R"(
name = "matrix"
summary = "a matrix with a leading dimension"
[problem.rows]
type = "int"
min = 1
[problem.columns]
type = "int"
min = 1
[problem.stride]
type = "int"
default = "columns"
[problem.window]
type = "int"
specialize = true
default = 5
[[problem_rules]]
require = "stride >= columns"
because = "rows must not overlap"
[[problem_rules]]
require = "columns >= 4"
because = "vectors have four elements"
[[arguments]]
name = "out"
access = "write"
dtype = "f32"
shape = ["rows", "stride"]
[verify]
reference = "matrix"
cpu_operations = "rows * columns * window"
[[variants]]
name = "only"
summary = "the only one"
template = "only.inja"
[[variants.steps]]
entry = "only"
grid = ["rows"]
block = [1]
arguments = ["out"]
)";

TEST(ShrinkProblem, HalvesTheLargestSizesAndLetsDefaultsFollow) {
  const KernelSpec spec = parse_spec(kMatrixSpec, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "rows=1000,columns=60000");
  EXPECT_EQ(cpu_operations({spec, problem, device}), 3e8);
  const Problem small = shrink_problem({spec, problem, device}, 1e5);
  EXPECT_LE(cpu_operations({spec, small, device}), 1e5);
  EXPECT_EQ(small.integer("stride"), small.integer("columns"));
  EXPECT_EQ(small.integer("window"), 5);
}

TEST(ShrinkProblem, KeepsToTheRulesOfTheProblem) {
  const KernelSpec spec = parse_spec(kMatrixSpec, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem small = shrink_problem({spec, Problem::parse(spec, "rows=3,columns=7"), device}, 1);
  EXPECT_EQ(small.integer("rows"), 1);
  EXPECT_EQ(small.integer("columns"), 4);
}

// A size that nobody gave is as large as one that was given.
TEST(ShrinkProblem, HalvesASizeWhoseDefaultIsANumber) {
  std::string text = kMatrixSpec;
  const std::string rows = "[problem.rows]\ntype = \"int\"\n";
  text.insert(text.find(rows) + rows.size(), "default = 60000\n");
  const KernelSpec spec = parse_spec(text, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem small = shrink_problem({spec, Problem::parse(spec, "columns=1000"), device}, 1e5);
  EXPECT_LE(cpu_operations({spec, small, device}), 1e5);
}

TEST(ShrinkProblem, LeavesASmallProblemAlone) {
  const KernelSpec spec = parse_spec(kMatrixSpec, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "rows=10,columns=20");
  EXPECT_EQ(shrink_problem({spec, problem, device}, 1e6), problem);
}

TEST(BorderProblems, AreWhereAConfigGetsItsSecondBlockAndItsThird) {
  std::string text = kMatrixSpec;
  const std::string grid = "grid = [\"rows\"]";
  text.replace(text.find(grid), grid.size(), "grid = [\"ceil_div(columns, 100)\"]");
  const KernelSpec spec = parse_spec(text, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "rows=64,columns=128");
  const Config config = Setting(spec, problem, device).default_config();
  const std::vector<Problem> borders = border_problems({spec, problem, device}, config, 5e4);
  ASSERT_EQ(borders.size(), 3U) << "whatever rows there are, there is one block";
  EXPECT_EQ(borders[0].integer("rows"), 2);
  EXPECT_EQ(borders[0].integer("columns"), 101);
  EXPECT_EQ(borders[1].integer("columns"), 151);
  EXPECT_EQ(borders[2].integer("columns"), 227);
  EXPECT_TRUE(border_problems({spec, problem, device}, config, 300).empty()) << "too long a loop";
}

TEST(ExtraProblems, HaveTailsWholeVectorsAndNextToNothing) {
  const KernelSpec spec = parse_spec(kMatrixSpec, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "rows=64,columns=128");
  const std::vector<Problem> extras = extra_problems({spec, problem, device}, 5e4);
  ASSERT_EQ(extras.size(), 10U);
  EXPECT_EQ(extras[0].integer("columns"), 125);
  EXPECT_EQ(extras[0].integer("rows"), 59);
  EXPECT_EQ(extras[1].integer("columns"), 112);
  EXPECT_EQ(extras[1].integer("rows"), 48);
  EXPECT_EQ(extras[2].integer("rows"), 2);
  EXPECT_EQ(extras[2].integer("columns"), 128) << "fewer than four are against a rule";
  EXPECT_EQ(extras[3].integer("rows"), 33) << "one past a power of two";
  EXPECT_EQ(extras[3].integer("columns"), 65);
  for (const Problem& extra : extras) {
    EXPECT_EQ(extra.integer("stride"), extra.integer("columns")) << "the default follows";
    EXPECT_EQ(extra.integer("window"), 5) << "compile-time fields stay";
  }
}

TEST(ExtraProblems, AreLargeInOneDirectionOnly) {
  const KernelSpec spec = parse_spec(kMatrixSpec, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "rows=64,columns=128");
  std::vector<std::string> shapes;
  for (const Problem& extra : extra_problems({spec, problem, device}, 5e4))
    shapes.push_back(extra.text_of("rows") + "x" + extra.text_of("columns"));
  // Fewer than four columns are against a rule: there they stay as they are.
  const std::vector<std::string> stretched = {"65x128", "2x4095", "17x513",
                                              "2x4097", "63x128", "257x33"};
  EXPECT_EQ(std::vector<std::string>(shapes.begin() + 4, shapes.end()), stretched);
}

TEST(ExtraProblems, HaveManyOfWhatTheProblemHasOneOf) {
  const KernelSpec spec = KernelLibrary().load("convolution");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "h=32 w=32 fh=5 fw=3 stride=2");
  const std::vector<Problem> extras = extra_problems({spec, problem, device}, 3e5);
  const auto has_many = [](const Problem& extra) {
    return extra.integer("n") > 4 && extra.integer("c") > 4 && extra.integer("k") > 4 &&
           extra.integer("groups") == 1;
  };
  EXPECT_EQ(std::count_if(extras.begin(), extras.end(), has_many), 2);
}

TEST(ExtraProblems, AreLargerThanASmallProblem) {
  const KernelSpec spec = parse_spec(kMatrixSpec, "matrix/spec.toml");
  const DeviceInfo device = device_for_architecture("opencl", "opencl");
  const Problem problem = Problem::parse(spec, "rows=64,columns=128");
  const std::vector<Problem> extras = extra_problems({spec, problem, device}, 2e5);
  ASSERT_EQ(extras.size(), 11U);
  EXPECT_EQ(extras[0].integer("columns"), 253);
  EXPECT_EQ(extras[0].integer("rows"), 123);
  EXPECT_EQ(extras[4].integer("columns"), 256) << "full tiles";
  EXPECT_EQ(extras[4].integer("rows"), 128);
}

TrialRecord record(std::int64_t sequence, const std::string& variant, double ns) {
  TrialRecord stored;
  stored.sequence = sequence;
  stored.trial.config.variant = variant;
  stored.trial.outcome = ns > 0 ? Outcome::ok : Outcome::wrong_result;
  stored.trial.time_ns = ns;
  if (ns > 0) stored.trial.samples.ns = {ns * 0.99, ns, ns * 1.01};
  return stored;
}

/// As the samples of a search choose them.
Finalists finalists_of(const std::vector<TrialRecord>& trials) {
  const Config usual{"default", {}};
  return choose_finalists(trials, usual, choose_contenders(trials, usual, kMaxFinalists));
}

TEST(Finalists, AreTheDefaultAndTheBestWhoseSamplesOverlap) {
  const std::vector<TrialRecord> trials = {record(1, "default", 500), record(2, "good", 101),
                                           record(3, "wrong", 0),     record(4, "best", 100),
                                           record(5, "slow", 150),    record(6, "close", 102)};
  const Finalists finalists = finalists_of(trials);
  ASSERT_EQ(finalists.trials.size(), 4U);
  EXPECT_EQ(finalists.default_index, 0U);
  EXPECT_EQ(finalists.trials[0]->sequence, 1);
  EXPECT_EQ(finalists.trials[1]->sequence, 2);
  EXPECT_EQ(finalists.trials[2]->sequence, 4);
  EXPECT_EQ(finalists.trials[3]->sequence, 6);
}

TEST(Finalists, DoWithoutADefaultThatFailed) {
  const std::vector<TrialRecord> trials = {record(1, "default", 0), record(2, "good", 100)};
  const Finalists finalists = finalists_of(trials);
  ASSERT_EQ(finalists.trials.size(), 1U);
  EXPECT_FALSE(finalists.default_index.has_value());
  EXPECT_TRUE(finalists_of({record(1, "default", 0)}).trials.empty());
}

TEST(Finalists, AreTheFirstOfTheContenders) {
  const std::vector<TrialRecord> trials = {record(1, "default", 500), record(2, "a", 100),
                                           record(3, "b", 101),       record(4, "c", 101.5),
                                           record(5, "d", 102),       record(6, "slow", 150)};
  const Config usual{"default", {}};
  const std::vector<const TrialRecord*> contenders = choose_contenders(trials, usual, 16);
  ASSERT_EQ(contenders.size(), 4U) << "all that overlap with the best";
  EXPECT_EQ(contenders.front()->sequence, 2);
  EXPECT_EQ(choose_contenders(trials, usual, 2).size(), 2U);
  // The semi-finals turned their order round.
  const Finalists finalists =
      choose_finalists(trials, usual, {contenders[3], contenders[2], contenders[1], contenders[0]});
  ASSERT_EQ(finalists.trials.size(), 4U);
  EXPECT_EQ(finalists.trials[0]->sequence, 1);
  EXPECT_EQ(finalists.trials[1]->sequence, 3);
  EXPECT_EQ(finalists.trials[3]->sequence, 5);
}

TEST(SemiFinals, RankByTheRatiosOfTheSameRounds) {
  // The device grows slower by half; a wild sample hits the best.
  const std::vector<std::vector<double>> scores = {
      {103, 113, 123, 143, 153}, {100, 110, 900, 140, 150}, {101, 111, 121, 141, 151}};
  EXPECT_EQ(rank_rounds(scores), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_TRUE(rank_rounds({}).empty());
}

TEST(Finalists, LeaveTheirSamplesAsEvidence) {
  const std::vector<TrialRecord> trials = {record(1, "default", 100), record(2, "good", 99)};
  const Evidence evidence = evidence_of(finalists_of(trials), {{100, 102}, {99, 97}});
  ASSERT_EQ(evidence.finalists.size(), 2U);
  EXPECT_EQ(evidence.finalists[1].config, "good");
  EXPECT_EQ(evidence.finalists[1].sequence, 2);
  EXPECT_EQ(evidence.finalists[1].median_ns, 98);
  EXPECT_EQ(evidence.finalists[1].ns, (std::vector<double>{99, 97}));
}

}  // namespace
}  // namespace kiln
