// Problems that are drawn and their limits; slots of compilers.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/drawn_problems.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "spec/parse_spec.hpp"
#include "templates/library.hpp"
#include "tuner/rules/problem_limits.hpp"
#include "tuner/rules/shrink_problem.hpp"
#include "tuner/workers/compile_slots.hpp"

namespace kiln {
namespace {

using Member = CompileSlots::Member;

// Problems drawn at random: legal, the same every time, and of all kinds.

constexpr double kOperations = 3e5;

struct Base {
  std::string kernel;
  std::string problem;
};

class DrawnProblems : public testing::Test {
 protected:
  std::vector<Problem> draw(const std::string& kernel, const std::string& base,
                            std::uint64_t seed) {
    spec_ = KernelLibrary().load(kernel);
    return draw(base, seed);
  }
  /// Problems of the spec at hand.
  std::vector<Problem> draw(const std::string& base, std::uint64_t seed) {
    ProblemDrawer drawer({spec_, Problem::parse(spec_, base), device_}, {kOperations, seed});
    std::vector<Problem> drawn;
    while (drawn.size() < kWanted) {
      std::optional<Problem> next = drawer.next();
      if (!next) break;
      drawn.push_back(std::move(*next));
    }
    return drawn;
  }
  template <typename Is>
  static auto count(const std::vector<Problem>& drawn, const Is& is) {
    return std::count_if(drawn.begin(), drawn.end(), is);
  }

  static constexpr std::size_t kWanted = 112;  ///< twice as many as a config is put through
  KernelSpec spec_;
  DeviceInfo device_ = device_for_architecture("opencl", "opencl");
};

TEST_F(DrawnProblems, AreLegalOthersAndSmall) {
  const std::vector<Base> bases = {{"reduce", "n=2^20"},
                                   {"reduce", "n=48 results=64 axis=first op=min"},
                                   {"reduce", "n=1000 source=index"},
                                   {"arg_reduce", "n=1024 results=8"},
                                   {"histogram", "n=8192 dtype=i32 bins=64"},
                                   {"transpose", "rows=4096 cols=64 batch=3"},
                                   {"matmul", "m=4096 n=4096 k=4096 lda=5000"},
                                   {"convolution", "h=32 w=32 fh=5 fw=3 c=8 k=4 groups=4"},
                                   {"preprocess", "out_h=64 out_w=64 src_h=216 src_w=384 n=4"},
                                   {"preprocess",
                                    "out_h=24 out_w=40 src_h=31 src_w=60 n=2 format=nv12 "
                                    "filter=area fit=letterbox"}};
  for (const Base& base : bases) {
    const std::vector<Problem> drawn = draw(base.kernel, base.problem, 1);
    EXPECT_EQ(drawn.size(), kWanted) << base.kernel << ' ' << base.problem;
    const Problem tuned = Problem::parse(spec_, base.problem);
    for (auto problem = drawn.begin(); problem != drawn.end(); ++problem) {
      EXPECT_EQ(Problem::make(spec_, problem->fields()), *problem) << "no rule is broken";
      EXPECT_LE(cpu_operations({spec_, *problem, device_}), kOperations) << problem->text();
      EXPECT_LE(argument_elements({spec_, *problem, device_}), 4 * kOperations) << problem->text();
      EXPECT_TRUE(shares_source(spec_, tuned, *problem)) << problem->text();
      EXPECT_NE(*problem, tuned);
      EXPECT_EQ(std::find(drawn.begin(), problem, *problem), problem) << "drawn twice";
    }
  }
}

TEST_F(DrawnProblems, AreTheSameForTheSameSeed) {
  const std::vector<Problem> drawn = draw("matmul", "m=64 n=64 k=64", 1);
  EXPECT_EQ(draw("m=64 n=64 k=64", 1), drawn);
  EXPECT_NE(draw("m=64 n=64 k=64", 2), drawn);
}

TEST_F(DrawnProblems, HaveFullTilesTailsAndNextToNothing) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<Problem> drawn = draw("matmul", "m=64 n=64 k=64", seed);
    const auto all = [](const Problem& problem, const auto& holds) {
      return holds(problem.integer("m")) && holds(problem.integer("n")) &&
             holds(problem.integer("k"));
    };
    const auto is_full = [&](const Problem& problem) {
      return all(problem, [](std::int64_t size) { return size % 16 == 0; });
    };
    const auto is_tiny = [&](const Problem& problem) {
      return all(problem, [](std::int64_t size) { return size <= 8; });
    };
    const auto is_odd = [](const Problem& problem) {
      return problem.integer("m") % 2 == 1 && problem.integer("m") > 16;
    };
    const auto has_whole_vectors = [&](const Problem& problem) {
      return problem.integer("k") % 32 >= 8 && problem.integer("k") % 16 != 0 &&
             all(problem, [](std::int64_t size) { return size % 8 == 0; });
    };
    const auto is_loose = [](const Problem& problem) {
      return problem.integer("lda") != problem.integer("k");
    };
    EXPECT_GE(count(drawn, is_full), 12) << "of 112, seed " << seed;
    EXPECT_GE(count(drawn, is_tiny), 1) << "of 112, seed " << seed;
    EXPECT_GE(count(drawn, is_odd), 8) << "of 112, seed " << seed;
    EXPECT_GE(count(drawn, has_whole_vectors), 2) << "of 112, seed " << seed;
    EXPECT_GE(count(drawn, is_loose), 8) << "of 112, seed " << seed;
  }
}

TEST_F(DrawnProblems, HaveMoreOfWhatTheProblemHasOneOf) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<Problem> drawn = draw("convolution", "h=32 w=32 fh=3", seed);
    const auto has = [](const char* field) {
      return [field](const Problem& problem) { return problem.integer(field) > 1; };
    };
    for (const char* field : {"n", "c", "k", "groups"})
      EXPECT_GE(count(drawn, has(field)), 20) << field << ", of 112, seed " << seed;
    const auto mixes_channels = [](const Problem& problem) {
      const std::int64_t groups = problem.integer("groups");
      return groups > 1 && problem.integer("c") > groups && problem.integer("k") > groups;
    };
    EXPECT_GE(count(drawn, mixes_channels), 2) << "of 112, seed " << seed;
  }
}

constexpr const char* kWholeVectors = R"(
name = "whole"
summary = "whole vectors of four"
[problem.n]
type = "int"
min = 1
[problem.parts]
type = "int"
default = 1
[[problem_rules]]
require = "n % 4 == 0"
because = "vectors have four elements"
[[problem_rules]]
require = "parts <= n"
because = "no part is empty"
[[arguments]]
name = "out"
access = "write"
dtype = "f32"
shape = ["n"]
[verify]
formulas = { out = "0" }
cpu_operations = "1"
[[variants]]
name = "only"
summary = "the only one"
template = "only.inja"
[[variants.steps]]
entry = "only"
grid = [1]
block = [1]
arguments = ["out"]
)";

TEST_F(DrawnProblems, KeepToRulesOfTheUsersOwn) {
  spec_ = parse_spec(kWholeVectors, "whole/spec.toml");
  const std::vector<Problem> drawn = draw("n=1024", 1);
  EXPECT_EQ(drawn.size(), kWanted);
  EXPECT_GE(count(drawn, [](const Problem& problem) { return problem.integer("n") == 4; }), 1);
  EXPECT_GE(count(drawn, [](const Problem& problem) { return problem.integer("n") > 512; }), 8);
  EXPECT_GE(count(drawn, [](const Problem& problem) { return problem.integer("parts") > 1; }), 8);
  for (const Problem& problem : drawn)
    EXPECT_LE(problem.integer("n"), 4 * kOperations)
        << "a loop that costs nothing still has memory";
}

TEST_F(DrawnProblems, AreNoneWhereNoSizeMayChange) {
  std::string text = kWholeVectors;
  for (const char* field : {"[problem.n]\n", "[problem.parts]\n"})
    text.insert(text.find(field) + std::string(field).size(), "specialize = true\n");
  spec_ = parse_spec(text, "whole/spec.toml");
  EXPECT_TRUE(draw("n=1024", 1).empty());
}

// Problems that no config can run are known before anything is tried.

constexpr const char* kLimitedSpec = R"(
name = "tiny"
summary = "y = x"
[problem.n]
type = "int"
[[arguments]]
name = "x"
access = "read"
dtype = "f32"
shape = ["n"]
[[arguments]]
name = "y"
access = "write"
dtype = "u8"
shape = ["n"]
[[arguments]]
name = "n"
access = "scalar"
dtype = "TYPE"
value = "n"
[verify]
formulas = { y = "x" }
[[variants]]
name = "v"
summary = "s"
template = "v.inja"
[[variants.steps]]
entry = "k"
grid = [1]
block = [1]
arguments = ["x", "y", "n"]
)";

std::string fault(const std::string& type, const std::string& problem) {
  std::string text = kLimitedSpec;
  text.replace(text.find("TYPE"), 4, type);
  const KernelSpec spec = parse_spec(text, "spec.toml");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Status fits = check_problem_fits({spec, Problem::parse(spec, problem), device});
  return fits ? "" : fits.failure().message;
}

TEST(ProblemLimits, HoldWhatFits) {
  EXPECT_EQ(fault("i32", "n=1e6"), "");
  EXPECT_EQ(fault("i64", "n=1e10"), "");
}

TEST(ProblemLimits, NameAScalarThatItsTypeCannotHold) {
  EXPECT_EQ(fault("i32", "n=3e9"), "scalar 'n' = 3000000000 does not fit in i32");
}

TEST(ProblemLimits, NameTheMemoryThatIsMissing) {
  EXPECT_THAT(fault("i64", "n=2.4e12"),
              ::testing::MatchesRegex("needs 12 TB for its arguments \\(9.6 TB for 'x'\\), the "
                                      "device has [0-9.]+ GB"));
  EXPECT_EQ(fault("i64", "n=4e18"), "'x' is too large: its size in bytes exceeds 2^63");
}

TEST(ProblemLimits, NameANegativeShape) {
  EXPECT_THAT(fault("i64", "n=-4"), ::testing::HasSubstr("negative number of elements"));
}

// How sessions that run at the same time share the cores for their compilers.

std::size_t take_all(Member& member) {
  std::size_t taken = 0;
  while (member.take()) ++taken;
  return taken;
}

TEST(CompileSlots, OneSessionMayHaveThemAllWhileNoOtherAsks) {
  CompileSlots slots(4, 2);
  Member first(&slots);
  Member second(&slots);
  EXPECT_EQ(take_all(first), 4U);
  EXPECT_FALSE(second.take());
}

TEST(CompileSlots, WhatBecomesFreeGoesToTheSessionBelowItsShare) {
  CompileSlots slots(4, 2);
  Member first(&slots);
  Member second(&slots);
  ASSERT_EQ(take_all(first), 4U);
  ASSERT_FALSE(second.take());
  first.give_back();
  EXPECT_FALSE(first.take()) << "the second one waits";
  EXPECT_TRUE(second.take());
  first.give_back();
  EXPECT_TRUE(first.take()) << "nobody waits any more";
}

TEST(CompileSlots, WhoRestsDoesNotHoldUpOthers) {
  CompileSlots slots(2, 2);
  Member first(&slots);
  Member second(&slots);
  ASSERT_EQ(take_all(first), 2U);
  ASSERT_FALSE(second.take());
  second.rest();
  first.give_back();
  EXPECT_TRUE(first.take());
}

TEST(CompileSlots, OfASessionThatEndedAreFree) {
  CompileSlots slots(2, 2);
  Member first(&slots);
  {
    Member second(&slots);
    const bool taken = second.take();
    ASSERT_TRUE(taken);
    const CompileSlot slot(second);
  }
  EXPECT_EQ(take_all(first), 2U);
}

TEST(CompileSlots, WorkersOfASessionAreTwiceItsShareAtMost) {
  EXPECT_EQ(CompileSlots(120, 8).most_of_one(), 30U);
  EXPECT_EQ(CompileSlots(6, 2).most_of_one(), 6U);
  EXPECT_EQ(CompileSlots(1, 4).most_of_one(), 1U);
  EXPECT_EQ(CompileSlots(0, 4).count(), 1U);
}

TEST(CompileSlots, WithoutThemNothingIsLimited) {
  Member alone(nullptr);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(alone.take());
}

}  // namespace
}  // namespace kiln
