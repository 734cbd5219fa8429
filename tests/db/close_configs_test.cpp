// Close configs: what a row's evidence says of configs, whoever wrote it.
// SPDX-License-Identifier: Apache-2.0
#include "db/close_configs.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/scale.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;

class EvidenceOfABest : public ::testing::Test {
 protected:
  /// "CONFIG SLOWDOWN" of each that a row with this evidence knows behind its best.
  [[nodiscard]] std::vector<std::string> known(const std::string& evidence) const {
    BestRecord best = test::scale_best(spec_, "n=4096", 64);
    best.time_ns = 100;
    best.evidence = evidence;
    std::vector<std::string> texts;
    for (const CloseConfig& each : known_configs(best)) {
      texts.push_back(each.config + " " + std::to_string(each.slowdown).substr(0, 4));
    }
    EXPECT_EQ(texts.front(), "vector:block_size=64 1.00");
    texts.erase(texts.begin());
    return texts;
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(EvidenceOfABest, AreReadFromTheFinalsOnEachOnce) {
  EXPECT_THAT(known(R"({"first": [{"config": "d", "slowdown": 3}, {"config": "b", "slowdown": 9}],
                        "rule": {"text": "]}", "count": 20},
                        "close": [{"slowdown": 1.125, "config": "c"}, {"config": "b", "slowdown": 2}],
                        "finalists": [{"config": "b", "median_ns": 150, "samples_ns": [1.5e2, 150]}]})"),
              ElementsAre("b 1.50", "c 1.12", "d 3.00"));
  EXPECT_THAT(known(R"({"close":[{"config":"a\"b\\","slowdown":2}]})"), ElementsAre("a\"b\\ 2.00"));
}

TEST_F(EvidenceOfABest, WhatAConfigNeedsIsReadWhereverItStands) {
  BestRecord best = test::scale_best(spec_, "n=4096", 64);
  best.time_ns = 100;
  best.evidence = R"({"finalists": [{"config": "b", "median_ns": 150}],
                      "close": [{"config": "b", "slowdown": 2, "registers": 40, "shared_bytes": 0},
                                {"config": "c", "slowdown": 2, "registers": -7, "shared_bytes": 1e9},
                                {"config": "d", "slowdown": 2, "registers": "8"}]})";
  const std::vector<CloseConfig> known = known_configs(best);
  ASSERT_EQ(known.size(), 4U);
  EXPECT_EQ(known[1].registers, 40);
  EXPECT_EQ(known[1].shared_bytes, 0);
  EXPECT_DOUBLE_EQ(known[1].slowdown, 1.5) << "that of the finals";
  for (const std::size_t other : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    EXPECT_EQ(known[other].registers, -1) << other;
    EXPECT_EQ(known[other].shared_bytes, -1) << other;
  }
}

TEST_F(EvidenceOfABest, WhatIsNoEntryIsLeftOut) {
  EXPECT_THAT(known(R"({"close":[1,"a",null,[],{},{"config":1,"slowdown":2},{"config":"a"},
                        {"config":"a","slowdown":"2"},{"config":"a","slowdown":null},
                        {"config":"b","slowdown":2},
                        {"config":"c","slowdown":3,"like":{"config":"d","slowdown":1},
                         "seen":[{"config":"e","slowdown":1}]},[4,"f"],[{"slowdown":5}]],
               "other":{"close":[{"config":"g","slowdown":1}]},
               "rule":[{"config":"h","slowdown":1}]})"),
              ElementsAre("b 2.00", "c 3.00"));
}

TEST_F(EvidenceOfABest, EvidenceThatCannotBeReadLeavesTheBestAlone) {
  for (const std::string evidence :
       {"", "null", "[]", "7", "{", R"({"close")", R"({"close":[{"config":"a","slowdown":2}])",
        R"({"close":[{"config":"a","slowdown":2}]}})", R"({"close":[{"config":"a\)",
        R"({"close":[{"config":"a","slowdown":nan}]})"}) {
    EXPECT_THAT(known(evidence), ElementsAre()) << evidence;
  }
}

// A line of wisdom may have 1 MiB: that must not cost every lookup near it seconds.
TEST_F(EvidenceOfABest, OfALongListOnlyTheFirstAreRead) {
  std::string list;
  for (int i = 0; i < 30000; ++i) {
    list += (i == 0 ? R"({"config":"c)" : R"(,{"config":"c)") + std::to_string(i) +
            R"(","slowdown":1})";
  }
  const std::string evidence =
      R"({"finalists":[],"close":[)" + list + R"(],"first":[)" + list + "]}";
  EXPECT_EQ(known(evidence).size(), kMaxListed);
}

}  // namespace
}  // namespace kiln
