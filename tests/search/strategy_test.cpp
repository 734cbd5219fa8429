// Strategies: one suite of stories for all of them, over an invented kernel whose times are a
// formula.
// SPDX-License-Identifier: Apache-2.0
#include "search/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "core/suggest.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "small_variant.hpp"
#include "spec/parse_spec.hpp"
#include "strategy_names.hpp"
#include "tests/core/example_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::small_variant;

const char* const kHillSpec = R"toml(name = "hill"
problem.n = { type = "int" }
arguments = [{ name = "out", access = "write", dtype = "f32", shape = ["n"] }]
[verify]
reference = "hill"
[[variants]]
name = "steep"
template = "steep.inja"
tunables.a = { values = [1, 2, 3, 4, 5, 6, 7, 8], default = 1 }
tunables.b = { values = [1, 2, 3, 4, 5, 6, 7, 8], default = 1 }
tunables.c = { values = [1, 2, 3, 4, 5, 6, 7, 8], default = 8 }
tunables.d = { values = [1, 2, 3, 4, 5, 6, 7, 8], default = 5 }
constraints = [{ require = "(a + b + c + d) % 7 != 0", because = "so that the hill has holes" }]
steps = [{ entry = "steep", grid = [1], block = [1], arguments = ["out"] }]
[[variants]]
name = "flat"
template = "flat.inja"
steps = [{ entry = "flat", grid = [1], block = [1], arguments = ["out"] }]
)toml";

enum class Size { whole, small };

// Thousands of configs, or (the first five values of each tunable) a few hundred.
Space hill_space(Size size = Size::whole) {
  std::string text = kHillSpec;
  while (size == Size::small && text.find(", 6, 7, 8]") != std::string::npos) {
    text.replace(text.find(", 6, 7, 8]"), 10, "]");
  }
  if (size == Size::small) text.replace(text.find("default = 8"), 11, "default = 5");
  const KernelSpec spec = parse_spec(text, "hill.toml");
  return Space::build(
      {spec, Problem::parse(spec, "n=1"), device_for_architecture("cuda", "sm_80")});
}

// Fastest at a=6, b=2, c=5, d=7, with ripples that make other places locally best; some configs
// fail.
Trial measure(const Space& space, std::size_t index) {
  Trial trial;
  trial.config = space.at(index);
  if (trial.config.variant == "flat") {
    trial.time_ns = 900;
    return trial;
  }
  const double best[4] = {6, 2, 5, 7};
  double ns = 100;
  for (std::size_t t = 0; t < 4; ++t) {
    const double value = as_double(trial.config.values[t].second);
    ns += 20 * std::abs(value - best[t]) + 15 * (static_cast<int>(value + best[t]) % 2);
  }
  if (trial.config.values[0].second == Value(std::int64_t{3})) {
    trial.outcome = Outcome::compile_error;
  } else {
    trial.time_ns = ns;
  }
  return trial;
}

// Runs a strategy with `batch` configs in flight; returns the configs in the order asked.
std::vector<std::size_t> run(Strategy& strategy, const Space& space, std::size_t trials,
                             std::size_t batch = 1) {
  std::vector<std::size_t> asked;
  std::deque<std::size_t> in_flight;
  while (true) {
    while (asked.size() < trials && in_flight.size() < batch) {
      const std::optional<std::size_t> index = strategy.ask();
      if (!index) break;
      asked.push_back(*index);
      in_flight.push_back(*index);
    }
    if (in_flight.empty()) return asked;
    const std::size_t done = in_flight.front();
    in_flight.pop_front();
    strategy.tell(done, measure(space, done));
  }
}

double best_of(const Space& space, const std::vector<std::size_t>& asked) {
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t index : asked) {
    const Trial trial = measure(space, index);
    if (trial.ok()) best = std::min(best, trial.time_ns);
  }
  return best;
}

class EveryStrategy : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Strategy> make(std::uint64_t seed = 1) {
    return make_strategy(GetParam(), space_, seed);
  }
  const Space space_ = hill_space(Size::small);
};

TEST_P(EveryStrategy, BeginsWithTheDefaultConfig) {
  EXPECT_EQ(make()->ask(), space_.default_index());
}

TEST_P(EveryStrategy, VisitsEveryConfigOnceAndEnds) {
  const auto strategy = make();
  const std::vector<std::size_t> asked = run(*strategy, space_, space_.size() + 1);
  EXPECT_EQ(asked.size(), space_.size());
  EXPECT_EQ(std::set<std::size_t>(asked.begin(), asked.end()).size(), space_.size());
  EXPECT_EQ(strategy->ask(), std::nullopt);
}

TEST_P(EveryStrategy, KeepsABatchInFlight) {
  const auto strategy = make();
  std::set<std::size_t> asked;
  for (int i = 0; i < 64; ++i) {
    const std::optional<std::size_t> index = strategy->ask();
    ASSERT_TRUE(index) << "nothing to propose with " << i << " configs in flight";
    EXPECT_TRUE(asked.insert(*index).second);
  }
}

TEST_P(EveryStrategy, VisitsEveryConfigInBatchesToo) {
  const auto strategy = make();
  const std::vector<std::size_t> asked = run(*strategy, space_, space_.size() + 1, 16);
  EXPECT_EQ(std::set<std::size_t>(asked.begin(), asked.end()).size(), space_.size());
}

TEST_P(EveryStrategy, ProposesTheSameForTheSameSeed) {
  EXPECT_EQ(run(*make(5), space_, 300, 4), run(*make(5), space_, 300, 4));
}

TEST_P(EveryStrategy, NeverAsksForWhatItWasTold) {
  const auto strategy = make();
  std::set<std::size_t> told;
  for (std::size_t index = 0; index < space_.size(); index += 2) {
    strategy->tell(index, measure(space_, index));
    told.insert(index);
  }
  const std::vector<std::size_t> asked = run(*strategy, space_, space_.size());
  EXPECT_EQ(asked.size(), space_.size() - told.size());
  for (const std::size_t index : asked) EXPECT_EQ(told.count(index), 0u);
}

TEST_P(EveryStrategy, GoesOnWhenEverythingFails) {
  const auto strategy = make();
  Trial failed;
  failed.outcome = Outcome::launch_error;
  std::size_t asked = 0;
  while (const std::optional<std::size_t> index = strategy->ask()) {
    strategy->tell(*index, failed);
    ++asked;
  }
  EXPECT_EQ(asked, space_.size());
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, ::testing::ValuesIn(test::strategy_names()),
                         [](const auto& strategy) { return strategy.param; });

TEST(Strategies, AreTheFilesOfTheirFolderWithTheDefaultFirst) {
  std::set<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(KILN_SOURCE_DIR "/search/strategies")) {
    if (file.path().extension() == ".cpp") names.insert(file.path().stem().string());
  }
  ASSERT_EQ(names.erase("auto"), 1u);
  std::vector<std::string> expected = {"auto"};
  expected.insert(expected.end(), names.begin(), names.end());
  EXPECT_EQ(test::strategy_names(), expected);
}

TEST(Strategies, RefusesAnUnknownName) {
  const Space space = hill_space();
  EXPECT_EQ(test::error_of<UsageError>([&] { return make_strategy("locale", space, 1); }),
            "there is no strategy 'locale'; did you mean 'local'? (there are: " +
                comma_list(test::strategy_names()) + ")");
}

// Random search needs hundreds of trials for what these find in a hundred, seed after seed.
TEST(Strategies, ThatLearnFindMoreThanRandomSearch) {
  const Space space = hill_space();
  const auto mean_best = [&](const std::string& name) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      sum += best_of(space, run(*make_strategy(name, space, seed), space, 100, 4)) / 6;
    }
    return sum;
  };
  const double random = mean_best("random");
  for (const std::string& name : test::strategy_names({"random", "exhaustive"})) {
    EXPECT_LT(mean_best(name), random) << name;
  }
}

TEST(Auto, FindsTheBestOfThousandsInAHundred) {
  const Space space = hill_space();
  for (const std::size_t batch : {std::size_t{1}, std::size_t{8}}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      if (best_of(space, run(*make_strategy("auto", space, seed), space, 100, batch)) == 100) {
        ++found;
      }
    }
    EXPECT_GE(found, 7) << "of 10, with " << batch << " in flight";
  }
}

// Five pairs of tunables that must grow together: each step of one alone makes things worse.
double ridge_ns(const Config& config) {
  double ns = 1500;
  for (std::size_t pair = 0; pair < 10; pair += 2) {
    const double a = as_double(config.values[pair].second);
    const double b = as_double(config.values[pair + 1].second);
    ns += 40 * std::abs(a - b) - 30 * std::min(a, b);
  }
  return ns;
}

TEST(Auto, ClimbsRidgesInABillionConfigs) {
  std::vector<test::SmallTunable> tunables;
  for (char name = 'a'; name < 'a' + 10; ++name)
    tunables.push_back({std::string(1, name), test::up_to(8)});
  const Space space = Space::build(test::small_variant(tunables, {}));
  int close = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto strategy = make_strategy("auto", space, seed);
    double best = std::numeric_limits<double>::infinity();
    std::deque<std::size_t> in_flight;
    for (int trials = 0; trials < 400; ++trials) {
      while (in_flight.size() < 8) in_flight.push_back(*strategy->ask());
      Trial trial;
      trial.config = space.at(in_flight.front());
      trial.time_ns = ridge_ns(trial.config);
      best = std::min(best, trial.time_ns);
      strategy->tell(in_flight.front(), trial);
      in_flight.pop_front();
    }
    close += best <= 330 ? 1 : 0;
  }
  EXPECT_GE(close, 7) << "of 8 came within a step of the 300 at the top";
}

TEST(Auto, TriesTheDefaultOfEveryVariantFirst) {
  const Space space = hill_space();
  EXPECT_EQ(run(*make_strategy("auto", space, 1), space, 2), space.default_indices());
}

TEST(Auto, LearnsWhichConfigsFail) {
  const Space space = hill_space();
  // One config in eight fails (a = 3); few of a hundred trials should be spent on those.
  std::size_t failed = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const std::size_t index : run(*make_strategy("auto", space, seed), space, 100)) {
      if (!measure(space, index).ok()) ++failed;
    }
  }
  EXPECT_LT(failed, 5 * 100 / 8);
}

// What fails depends on two tunables together. Each kind of failure counts the same.
TEST(Strategies, ThatLearnAvoidTheConfigsAroundFailures) {
  const Space space = hill_space();
  const std::vector<Outcome> kinds = {Outcome::constraint,   Outcome::compile_error,
                                      Outcome::launch_error, Outcome::wrong_result,
                                      Outcome::run_timeout,  Outcome::out_of_memory};
  const auto failures = [&](const std::string& name) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto strategy = make_strategy(name, space, seed);
      for (int i = 0; i < 120; ++i) {
        const std::size_t index = *strategy->ask();
        Trial trial = measure(space, index);
        const auto& values = trial.config.values;
        if (!values.empty() && as_double(values[2].second) + as_double(values[3].second) < 9) {
          trial.outcome = kinds[index % kinds.size()];
          trial.time_ns = 0;
        }
        strategy->tell(index, trial);
        count += !trial.ok() && i >= 40 ? 1 : 0;
      }
    }
    return count;
  };
  const int random = failures("random");
  EXPECT_GT(random, 130) << "of 320";
  for (const std::string& name : test::strategy_names({"random", "exhaustive"})) {
    EXPECT_LT(failures(name), 0.7 * random) << name;
  }
}

TEST(RandomSearch, SpreadsItsFirstConfigsOverTheValues) {
  const Space space = hill_space();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::set<std::string> values;
    for (const std::size_t index : run(*make_strategy("random", space, seed), space, 17)) {
      for (const auto& [name, value] : space.at(index).values) values.insert(name + to_text(value));
    }
    EXPECT_GE(values.size(), 30u) << "of 32, with seed " << seed;
  }
}

TEST(RandomSearch, DependsOnTheSeed) {
  const Space space = hill_space();
  EXPECT_NE(run(*make_strategy("random", space, 1), space, 100),
            run(*make_strategy("random", space, 2), space, 100));
}

TEST(LocalSearch, TriesTheDefaultOfEveryVariantFirst) {
  const Space space = hill_space();
  const auto strategy = make_strategy("local", space, 1);
  const std::vector<std::size_t> asked = run(*strategy, space, 2);
  EXPECT_EQ(asked, space.default_indices());
}

TEST(LocalSearch, FindsTheBestOfThousandsInAFewHundred) {
  const Space space = hill_space();
  ASSERT_GT(space.size(), 3000u);
  for (const std::size_t batch : {std::size_t{1}, std::size_t{8}}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto strategy = make_strategy("local", space, seed);
      if (best_of(space, run(*strategy, space, 300, batch)) == 100) ++found;
    }
    EXPECT_GE(found, 18) << "with " << batch << " in flight";
  }
}

TEST(LocalSearch, GoesOnFromTheBestThatItWasTold) {
  const Space space = hill_space();
  const auto strategy = make_strategy("local", space, 3);
  const KernelSpec spec = parse_spec(kHillSpec, "hill.toml");
  const Problem problem = Problem::parse(spec, "n=1");
  const Config near = Setting(spec, problem, device_for_architecture("cuda", "sm_80"))
                          .parse("steep:a=6,b=2,c=5,d=6");
  const std::size_t near_index = *space.index_of(near);
  for (const std::size_t index : space.default_indices()) {
    strategy->tell(index, measure(space, index));
  }
  strategy->tell(near_index, measure(space, near_index));
  const auto neighbours = space.neighbours(near_index, Neighbourhood::hamming);
  const std::optional<std::size_t> next = strategy->ask();
  ASSERT_TRUE(next);
  EXPECT_EQ(std::count(neighbours.begin(), neighbours.end(), *next), 1);
}

// ---- a strategy that breaks its word

class Repeats final : public StrategyBase {
 public:
  using StrategyBase::StrategyBase;

 private:
  std::optional<std::size_t> propose() override { return space().default_index(); }
};

TEST(StrategyBase, AConfigThatIsProposedTwiceIsADefectAndNoEndlessSession) {
  const Space space = Space::build(small_variant({{"width", {1, 2, 4}}}, {}));
  Repeats strategy(space, 1);
  EXPECT_EQ(strategy.ask(), space.default_index());
  EXPECT_THROW((void)strategy.ask(), std::logic_error);
}

}  // namespace
}  // namespace kiln
