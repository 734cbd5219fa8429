// Portfolios, and the close configs and the likeness of problems that they and lookups go by.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/portfolio.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lookup/likeness.hpp"
#include "spec/parse_spec.hpp"
#include "tests/db/scale.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> configs_of(const std::vector<PortfolioMember>& members) {
  std::vector<std::string> configs;
  for (const PortfolioMember& member : members) configs.push_back(member.config);
  return configs;
}

TEST(Portfolio, OneConfigThatIsNearlyBestEverywhereReplacesTheSpecialists) {
  const std::vector<TunedProblem> problems = {{"p0", {{"a", 1}, {"all", 1.04}}},
                                              {"p1", {{"b", 1}, {"all", 1.01}}},
                                              {"p2", {{"c", 1}, {"all", 1.2}}}};
  const std::vector<PortfolioMember> members = find_portfolio(problems, 0.05).members;
  EXPECT_THAT(configs_of(members), ElementsAre("all", "c"));
  EXPECT_THAT(members[0].problems, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(members[0].worst, 1.04);
  EXPECT_THAT(members[1].problems, ElementsAre(2));
  EXPECT_THAT(configs_of(find_portfolio(problems, 0.001).members), ElementsAre("a", "b", "c"));
  EXPECT_THAT(configs_of(find_portfolio(problems, 0.5).members), ElementsAre("all"));
}

TEST(Portfolio, FindsTheSmallerSetThatGreedMisses) {
  // Greed takes "wide" (4 problems) and then needs two more; "left" and "right" cover all six.
  const std::vector<TunedProblem> problems = {
      {"p0", {{"left", 1}}},
      {"p1", {{"left", 1}, {"wide", 1}}},
      {"p2", {{"left", 1}, {"wide", 1}}},
      {"p3", {{"right", 1}, {"wide", 1}}},
      {"p4", {{"right", 1}, {"wide", 1}}},
      {"p5", {{"right", 1}}},
  };
  EXPECT_THAT(configs_of(find_portfolio(problems, 0.05).members), ElementsAre("left", "right"));
}

TEST(Portfolio, EachProblemGoesToTheMemberThatIsFastestForIt) {
  const std::vector<TunedProblem> problems = {{"p0", {{"a", 1}, {"b", 1.03}}},
                                              {"p1", {{"b", 1}, {"a", 1.2}}},
                                              {"p2", {{"a", 1}, {"b", 1.3}}}};
  const std::vector<PortfolioMember> members = find_portfolio(problems, 0.05).members;
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].config, "a");
  EXPECT_THAT(members[0].problems, ElementsAre(0, 2));
  EXPECT_EQ(members[0].worst, 1);
}

/// Problems that each have a few of many configs within reach, drawn by a fixed rule.
std::vector<TunedProblem> many_problems(std::size_t problems, std::size_t configs) {
  std::vector<TunedProblem> all;
  std::uint32_t random = 1;
  const auto draw = [&](std::size_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % below;
  };
  for (std::size_t i = 0; i < problems; ++i) {
    TunedProblem problem{std::to_string(i), {}};
    for (std::size_t c = 0; c < 6; ++c) {
      problem.configs.push_back({"c" + std::to_string(draw(configs)), c == 0 ? 1 : 1.04});
    }
    all.push_back(std::move(problem));
  }
  return all;
}

TEST(Portfolio, OfManyProblemsCoversAllAndSaysHowGoodItIs) {
  const std::vector<TunedProblem> problems = many_problems(5000, 400);
  const Portfolio portfolio = find_portfolio(problems, 0.05);
  std::size_t covered = 0;
  for (const PortfolioMember& member : portfolio.members) covered += member.problems.size();
  EXPECT_EQ(covered, problems.size());
  EXPECT_GT(portfolio.at_least, 1U);
  EXPECT_LE(portfolio.at_least, portfolio.members.size());
}

TEST(Portfolio, ThatIsProvedHasAsManyMembersAsAnyNeeds) {
  const std::vector<TunedProblem> apart = {{"p0", {{"a", 1}}}, {"p1", {{"b", 1}}}};
  EXPECT_EQ(find_portfolio(apart, 0.05).at_least, 2U);
  const std::vector<TunedProblem> ring = {
      {"p0", {{"a", 1}, {"b", 1}}}, {"p1", {{"b", 1}, {"c", 1}}}, {"p2", {{"c", 1}, {"a", 1}}}};
  EXPECT_EQ(find_portfolio(ring, 0.05).members.size(), 2U);
  EXPECT_EQ(find_portfolio(ring, 0.05).at_least, 2U) << "no single one covers all three";
}

TEST(Portfolio, NothingTunedIsNoPortfolio) {
  EXPECT_THAT(find_portfolio({}, 0.05).members, IsEmpty());
  const std::vector<TunedProblem> all_failed = {{"p0", {}}};
  EXPECT_THAT(find_portfolio(all_failed, 0.05).members, IsEmpty());
}

TEST(CloseConfigs, AreTheTrialsWithinAQuarterOfTheFastest) {
  std::vector<TrialRecord> trials;
  for (const double time : {140.0, 130.0, 100.0, 124.0, 110.0}) {
    TrialRecord record;
    record.sequence = trials.empty() ? kFirstTrials : kFirstTrials + 1;
    record.trial = test::some_trial(static_cast<std::int64_t>(time));
    record.trial.time_ns = time;
    record.trial.registers = static_cast<std::int64_t>(time) - 90;
    record.trial.shared_bytes = time < 120 ? 1024 : -1;
    trials.push_back(record);
  }
  trials.push_back({0, 1, test::some_trial(1, Outcome::wrong_result)});
  BestRecord best = test::some_best(100);
  Evidence evidence;
  add_close_configs(evidence, trials);
  best.evidence = to_text(evidence);
  const std::vector<CloseConfig> close = close_configs(best);
  ASSERT_EQ(close.size(), 3U);
  EXPECT_EQ(close[0].config, "vector:block_size=100");
  EXPECT_EQ(close[1].config, "vector:block_size=110");
  EXPECT_DOUBLE_EQ(close[1].slowdown, 1.1);
  EXPECT_EQ(close[1].registers, 20);
  EXPECT_EQ(close[1].shared_bytes, 1024);
  EXPECT_DOUBLE_EQ(close[2].slowdown, 1.24);
  EXPECT_EQ(close[2].shared_bytes, -1) << "the compiler did not tell";
  EXPECT_DOUBLE_EQ(slowdowns(trials).back().slowdown, 1.4);

  const std::vector<CloseConfig> known = known_configs(best);
  ASSERT_EQ(known.size(), 4U) << "140 was one of the first trials, 130 was not";
  EXPECT_EQ(known[2].config, close[2].config);
  EXPECT_EQ(known[3].config, "vector:block_size=140");
  EXPECT_DOUBLE_EQ(known[3].slowdown, 1.4);
  EXPECT_EQ(known[3].registers, 50);
}

TEST(CloseConfigs, BrokenEvidenceLeavesTheBestAlone) {
  BestRecord best = test::some_best(256);
  for (const char* evidence : {"", "[]", "{\"close\":7}", "{\"close\":[{\"config\":1}]}",
                               "{\"finalists\":[{\"config\":\"x\",\"median_ns\":\"y\"}]}"}) {
    best.evidence = evidence;
    ASSERT_EQ(close_configs(best).size(), 1U) << evidence;
    EXPECT_EQ(close_configs(best)[0].config, "vector:block_size=256");
  }
}

class LikenessTest : public ::testing::Test {
 protected:
  std::optional<Likeness> alike(const std::string& a, const std::string& b) const {
    return likeness(spec_, Problem::parse(spec_, a), Problem::parse(spec_, b));
  }
  KernelSpec spec_ = parse_spec(R"toml(
name = "fold"
summary = "a fold"
problem.n = { type = "int" }
problem.dtype = { type = "dtype", values = ["f16", "bf16", "f32"] }
problem.op = { type = "string", values = ["sum", "max"], default = "sum" }
arguments = [{ name = "x", access = "read_write", shape = ["n"], dtype = "dtype" }]
[verify.formulas]
x = "x"
[[variants]]
name = "only"
summary = "the only one"
template = "only.inja"
steps = [{ entry = "fold", grid = ["1"], block = ["1"], arguments = ["x"] }]
)toml",
                                "fold/spec.toml");
};

TEST_F(LikenessTest, SizesAreDoublingsAndChoicesCostTwoEach) {
  EXPECT_DOUBLE_EQ(alike("n=1024 dtype=f32", "n=4096 dtype=f32")->distance, 2);
  const std::optional<Likeness> other_op =
      alike("n=1024 dtype=f32 op=max", "n=4096 dtype=f32 op=sum");
  EXPECT_DOUBLE_EQ(other_op->distance, 4);
  EXPECT_THAT(other_op->unlike, ElementsAre("op"));
  EXPECT_DOUBLE_EQ(alike("n=1024 dtype=f16", "n=1024 dtype=bf16")->distance, 1);
  EXPECT_FALSE(alike("n=1024 dtype=f16", "n=1024 dtype=f32"));
}

TEST_F(LikenessTest, AnOddSizeTellsLittleOfAnEvenOne) {
  const auto gap = [&](const std::string& a, const std::string& b) {
    return alignment_gap(spec_, Problem::parse(spec_, a), Problem::parse(spec_, b));
  };
  EXPECT_DOUBLE_EQ(gap("n=4096 dtype=f32", "n=192 dtype=f32"), 0);
  EXPECT_DOUBLE_EQ(gap("n=4096 dtype=f32", "n=48 dtype=f32"), 0.5);
  EXPECT_DOUBLE_EQ(gap("n=4096 dtype=f32", "n=4095 dtype=f32"), 1.5);
  EXPECT_DOUBLE_EQ(gap("n=4098 dtype=f32", "n=4095 dtype=f32"), 0.25);
}

}  // namespace
}  // namespace kiln
