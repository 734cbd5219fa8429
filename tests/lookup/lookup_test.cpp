// The lookup chain, told as a story: a database fills up around one device, and a kernel asks it.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/evidence.hpp"
#include "db/session_options.hpp"
#include "lookup/warm_start.hpp"
#include "spec/parse_spec.hpp"
#include "templates/renderer.hpp"
#include "tests/db/scale.hpp"
#include "wisdom/shipped.hpp"

namespace kiln {
namespace {

using test::some_device;
using ::testing::ElementsAre;

class Lookup : public ::testing::Test {
 protected:
  BestRecord tuned(const std::string& problem_text, std::int64_t block_size,
                   const DeviceInfo& device = some_device()) {
    BestRecord best = test::scale_best(spec_, problem_text, block_size, device);
    best.session = ++sessions_;
    return best;
  }

  /// With the source that its config gives now, as a session publishes it.
  BestRecord measured(BestRecord best) const {
    const Setting setting(spec_, Problem::parse(spec_, best.key.problem), best.device_info);
    Evidence evidence;
    evidence.source = Renderer(spec_).source_hash(setting, best.config).value();
    best.evidence = to_text(evidence);
    return best;
  }

  Match ask(const std::string& problem_text, const std::vector<BestRecord>& bests,
            const DeviceInfo& device = some_device()) {
    Result<Match> match = lookup({spec_, Problem::parse(spec_, problem_text), device}, bests);
    EXPECT_TRUE(match) << match.failure().message;
    return *match;
  }

  static DeviceInfo sibling() {
    DeviceInfo device = some_device();
    device.name = "Test GPU NVL";
    return device;
  }
  static DeviceInfo cousin() {
    DeviceInfo device = some_device();
    device.name = "Older GPU";
    device.architecture = "sm_80";
    device.compute_capability = 80;
    return device;
  }
  static DeviceInfo stranger() {
    DeviceInfo device = some_device();
    device.name = "Other GPU";
    device.vendor = "other";
    device.architecture = "x100";
    return device;
  }

  KernelSpec spec_ = test::scale_spec();
  SessionId sessions_ = 0;
};

TEST_F(Lookup, AnEmptyDatabaseAnswersWithTheDefault) {
  const Match match = ask("n=4096", {});
  EXPECT_EQ(match.grade, Grade::fallback);
  EXPECT_EQ(name_of(match.grade), "default");
  EXPECT_EQ(match.config.text(), "vector:block_size=64");
  EXPECT_EQ(match.distance, 0);
  EXPECT_FALSE(match.stale);
  EXPECT_FALSE(match.best);
  EXPECT_EQ(match.reason,
            "nothing tuned for this kernel on a device like this one: the spec's default config");
  EXPECT_THAT(match.steps, ElementsAre("default: this config: chosen"));
}

TEST_F(Lookup, ARowOfTheTimingThatIsAskedForComesFirst) {
  BestRecord eager = tuned("n=4096", 128);
  BestRecord graph = tuned("n=4096", 512);
  graph.key.timing = Timing::graph;
  const auto ask_for = [&](Timing timing, const std::vector<BestRecord>& bests,
                           const char* problem = "n=4096") {
    return *lookup({spec_, Problem::parse(spec_, problem), some_device()}, bests, timing);
  };
  for (const auto& bests : {std::vector{eager, graph}, std::vector{graph, eager}}) {
    EXPECT_EQ(ask_for(Timing::eager, bests).config.text(), "vector:block_size=128");
    EXPECT_EQ(ask_for(Timing::graph, bests).config.text(), "vector:block_size=512");
    EXPECT_EQ(ask_for(Timing::graph, bests, "n=5000").config.text(), "vector:block_size=512");
    EXPECT_FALSE(ask_for(Timing::graph, bests).other_timing);
  }
  const Match other = ask_for(Timing::graph, {eager});
  EXPECT_EQ(other.grade, Grade::exact);
  EXPECT_TRUE(other.other_timing);
  EXPECT_EQ(other.reason,
            "tuned for this problem on this device (Test GPU); measured eagerly, not in a graph");
  EXPECT_EQ(ask_for(Timing::eager, {graph}).reason,
            "tuned for this problem on this device (Test GPU); measured in a graph, not eagerly");
  // Of two that are near, the one of this timing.
  BestRecord near_graph = tuned("n=16384", 64);
  near_graph.key.timing = Timing::graph;
  const Match near = ask_for(Timing::graph, {tuned("n=8192", 256), near_graph}, "n=10000");
  EXPECT_EQ(near.best->config.text(), "vector:block_size=64");
}

// Two kernels may have one name: what they compute tells them apart.
TEST_F(Lookup, ARowOfAnotherKernelOfThatNameIsNeverAsked) {
  BestRecord same = tuned("n=4096", 512);
  add_option(same.key.options, session_option::kComputes, computation_hash(spec_));
  EXPECT_EQ(ask("n=4096", {same}).grade, Grade::exact);

  std::string text = test::kScaleSpec;
  text.replace(text.find("out = \"2 *"), 10, "out = \"3 *");
  KernelSpec tripled = parse_spec(text, "scale/spec.toml");
  tripled.files = spec_.files;
  spec_ = tripled;
  const Match other = ask("n=4096", {same});
  EXPECT_EQ(other.grade, Grade::fallback);
  EXPECT_EQ(other.reason,
            "nothing tuned for this kernel on a device like this one: the spec's default config "
            "(there is a best of another kernel named 'scale', with other arguments, problem or "
            "verification)");
  EXPECT_TRUE(warm_configs({spec_, Problem::parse(spec_, "n=4096"), some_device()},
                           std::vector<BestRecord>{same}, 4)
                  .empty());
}

// A row of an older Kiln knows its template alone, and answers all the same.
TEST_F(Lookup, ARowWithoutASourceIsJudgedByItsTemplate) {
  const BestRecord row = tuned("n=4096", 512);
  EXPECT_FALSE(ask("n=4096", {row}).stale);
  spec_.files["vector.inja"] += " // a comment";
  const Match match = ask("n=4096", {row});
  EXPECT_EQ(match.grade, Grade::exact);
  EXPECT_EQ(match.config.text(), "vector:block_size=512");
  EXPECT_TRUE(match.stale);
  EXPECT_EQ(match.reason,
            "tuned for this problem on this device (Test GPU); stale: the template of 'vector' has "
            "changed");
}

TEST_F(Lookup, AnotherTextOfTheTemplateThatGivesTheSameSourceIsFresh) {
  spec_.files["vector.inja"] = "one {{ block_size }}; // two";
  const BestRecord row = measured(tuned("n=4096", 512));
  for (const char* same : {"one {{ block_size }}; // three", "{# four #}one   {{ block_size }};",
                           "one {{ 2 * block_size - block_size }};"}) {
    spec_.files["vector.inja"] = same;
    EXPECT_FALSE(ask("n=4096", {row}).stale) << same;
  }
  spec_.files["vector.inja"] = "one {{ block_size + 1 }};";
  const Match match = ask("n=4096", {row});
  EXPECT_TRUE(match.stale);
  EXPECT_EQ(match.reason,
            "tuned for this problem on this device (Test GPU); stale: the source of 'vector' has "
            "changed");
}

// Small blocks keep their source, large ones get another.
TEST_F(Lookup, ARowOfAnotherSourceIsPassedOverForTheNextFewDoublings) {
  const std::vector<BestRecord> rows = {measured(tuned("n=4096", 512)),
                                        measured(tuned("n=32768", 128))};
  EXPECT_EQ(ask("n=8192", rows).config.text(), "vector:block_size=512");
  spec_.files["vector.inja"] = "the {{ choose(block_size > 256, \"new\", \"\") }} template";
  const Match match = ask("n=8192", rows);
  EXPECT_FALSE(match.stale);
  EXPECT_EQ(match.config.text(), "vector:block_size=128");
  EXPECT_THAT(match.steps.front(),
              ::testing::HasSubstr("passed over: the source of 'vector' has changed"));
  const Match far = ask("n=1024", {rows[0], measured(tuned("n=1048576", 128))});
  EXPECT_TRUE(far.stale) << "ten doublings are further than four";
  EXPECT_EQ(far.config.text(), "vector:block_size=512");
}

TEST_F(Lookup, RowsThatAllHaveAnotherSourceAnswerAsTheyDid) {
  std::vector<BestRecord> rows;
  for (const char* problem : {"n=4096", "n=5000", "n=6000", "n=16384", "n=32768", "n=65536"})
    rows.push_back(measured(tuned(problem, problem[2] == '4' ? 512 : 128)));
  const Match before = ask("n=4000", rows);
  spec_.files["vector.inja"] = "another template";
  const Match match = ask("n=4000", rows);
  EXPECT_TRUE(match.stale);
  EXPECT_EQ(match.config, before.config);
  EXPECT_EQ(match.best->key.problem, before.best->key.problem);
}

TEST_F(Lookup, ARowWhoseConfigIsIllegalWhereItWasMeasuredIsStale) {
  BestRecord row = measured(tuned("n=4096", 512));
  row.device_info.max_threads_per_block = 256;
  EXPECT_TRUE(ask("n=4096", {row}).stale);
}

TEST_F(Lookup, ShippedRowsAnswerTheKernelThatComesWithKilnAlone) {
  BestRecord shipped = tuned("n=4096", 512);
  shipped.layer = kShippedLayer;
  EXPECT_EQ(ask("n=4096", {shipped}).grade, Grade::exact) << "the built-in kernel itself";
  spec_.shipped_computation = computation_hash(spec_);
  EXPECT_EQ(ask("n=4096", {shipped}).grade, Grade::exact) << "a copy of it";
  spec_.shipped_computation = "another";
  EXPECT_EQ(ask("n=4096", {shipped}).grade, Grade::fallback) << "a stranger of its name";
}

TEST_F(Lookup, WhatIsComputedDoesNotChangeWithWordsAndTemplates) {
  const std::string before = computation_hash(spec_);
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = test::kScaleSpec;
    text.replace(text.find(from), from.size(), to);
    return computation_hash(parse_spec(text, "scale/spec.toml"));
  };
  EXPECT_EQ(with("one load of several", "some other words about"), before);
  EXPECT_EQ(with("[64, 128, 256, 512, 1024]", "[64, 128]"), before);
  EXPECT_NE(with("shape = [\"n * stride\"]", "shape = [\"n\"]"), before);
  EXPECT_NE(with("access = \"write\"", "access = \"read_write\""), before);
  EXPECT_NE(with("out = \"2 * source\"", "out = \"3 * source\""), before);
}

TEST_F(Lookup, WalksFromTheSameProblemToTheSameVendor) {
  const BestRecord exact = tuned("n=4096", 512);
  const BestRecord near = tuned("n=2048", 256);
  const BestRecord far = tuned("n=1048576", 1024);
  const BestRecord same_arch = tuned("n=16384", 128, sibling());
  const BestRecord same_vendor = tuned("n=4096", 256, cousin());
  const BestRecord unrelated = tuned("n=4096", 1024, stranger());

  std::vector<BestRecord> all = {unrelated, same_vendor, same_arch, far, near, exact};
  Match match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::exact);
  EXPECT_EQ(match.config.text(), "vector:block_size=512");
  EXPECT_EQ(match.distance, 0);
  EXPECT_EQ(match.reason, "tuned for this problem on this device (Test GPU)");
  EXPECT_EQ(match.best->session, exact.session);

  all.pop_back();
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.config.text(), "vector:block_size=256");
  EXPECT_DOUBLE_EQ(match.distance, 1);
  EXPECT_EQ(match.reason, "nearest problem tuned on this device: n=2048 (distance 1)");

  all.pop_back();
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::same_arch) << "two doublings and a sibling, in place of eight";
  EXPECT_DOUBLE_EQ(match.distance, 2);
  EXPECT_EQ(match.reason,
            "nearest problem tuned on another device of architecture sm_90a (Test GPU NVL): "
            "n=16384 (distance 2)");

  match = ask("n=1048576 stride=2", all);
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.reason, "nearest problem tuned on this device: n=1048576 (distance 0)");

  all.resize(2);
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::same_vendor);
  EXPECT_EQ(match.reason, "tuned for this problem on another device of nvidia (Older GPU)");

  all.resize(1);
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::fallback);
}

TEST_F(Lookup, OneProblemTunedHereDoesNotHideWhatASiblingKnowsOfAllOthers) {
  const std::vector<BestRecord> bests = {tuned("n=1048576", 1024), tuned("n=2048", 128, sibling()),
                                         tuned("n=8192", 256, sibling())};
  EXPECT_EQ(ask("n=1048576", bests).grade, Grade::exact);
  Match match = ask("n=2048", bests);
  EXPECT_EQ(match.grade, Grade::same_arch);
  EXPECT_EQ(match.config.text(), "vector:block_size=128");
  EXPECT_EQ(match.reason,
            "tuned for this problem on another device of architecture sm_90a (Test GPU NVL)");
  match = ask("n=524288", bests);
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.config.text(), "vector:block_size=1024");
}

TEST_F(Lookup, OfProblemsAsNearTheOneTunedHereGoesFirst) {
  const std::vector<BestRecord> bests = {tuned("n=8192", 128, sibling()), tuned("n=2048", 256)};
  EXPECT_EQ(ask("n=4096", bests).grade, Grade::near_size);
}

TEST_F(Lookup, AnotherElementTypeOrBackendIsNoNeighbour) {
  DeviceInfo through_opencl = some_device();
  through_opencl.backend = "opencl";
  EXPECT_EQ(ask("n=4096 dtype=f64", {tuned("n=4096", 512)}).grade, Grade::fallback);
  EXPECT_EQ(ask("n=4096", {tuned("n=4096", 512, through_opencl)}).grade, Grade::fallback);
}

TEST_F(Lookup, AFieldWithoutWeightIsNearButNotExact) {
  const Match match = ask("n=4096 stride=2", {tuned("n=4096", 512)});
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.distance, 0);
}

TEST_F(Lookup, AFreshRowGoesBeforeANearerStaleOne) {
  BestRecord old_driver = tuned("n=4096", 512);
  old_driver.key.driver = "550.1";
  Match match = ask("n=4096", {old_driver});
  EXPECT_TRUE(match.stale);
  EXPECT_EQ(match.grade, Grade::exact);
  EXPECT_EQ(match.reason,
            "tuned for this problem on this device (Test GPU); stale: driver 550.1 is now 580.10");

  BestRecord old_everything = tuned("n=2048", 256);
  old_everything.key.driver = "550.1";
  old_everything.key.compiler = "nvrtc 12.4";
  old_everything.template_hash = "0000000000000000";
  match = ask("n=4096", {old_everything});
  EXPECT_EQ(match.reason,
            "nearest problem tuned on this device: n=2048 (distance 1); stale: driver 550.1 is now "
            "580.10, compiler "
            "nvrtc 12.4 is now nvrtc 13.0, the template of 'vector' has changed");

  match = ask("n=4096", {old_everything, tuned("n=1024", 128)});
  EXPECT_FALSE(match.stale);
  EXPECT_EQ(match.config.text(), "vector:block_size=128");
}

TEST_F(Lookup, AStaleRowCountsAsFurtherAwayNotAsLost) {
  BestRecord old_driver = tuned("n=4096", 512);
  old_driver.key.driver = "550.1";
  const Match match = ask("n=8192", {old_driver, tuned("n=1024", 128)});
  EXPECT_TRUE(match.stale) << "one doubling and a driver are nearer than three doublings";
  EXPECT_EQ(match.config.text(), "vector:block_size=512");
  EXPECT_DOUBLE_EQ(match.distance, 1) << "the distance is that of the problems";
}

TEST_F(Lookup, RowsThatAreStaleAlikeAnswerAsOnTheMachineThatTunedThem) {
  const auto close = [](BestRecord best, const std::string& config, double slowdown) {
    best.evidence = Json{{"close", {{{"config", config}, {"slowdown", slowdown}}}}}.dump();
    return best;
  };
  std::vector<BestRecord> bests = {close(tuned("n=8192", 512), "vector:block_size=256", 1.1),
                                   close(tuned("n=65536", 256), "vector:block_size=512", 1.15)};
  const Match fresh = ask("n=12288", bests);
  EXPECT_EQ(fresh.config.text(), "vector:block_size=512") << "n=8192 is nearer by far";
  for (BestRecord& best : bests) best.key.driver = "another driver";
  const Match stale = ask("n=12288", bests);
  EXPECT_TRUE(stale.stale);
  EXPECT_EQ(stale.config, fresh.config);
  EXPECT_EQ(stale.steps.back(), fresh.steps.back());
}

TEST_F(Lookup, AnOddSizeIsAskedAfterAnEvenOneFurtherAway) {
  const Match match = ask("n=4096", {tuned("n=4095", 128), tuned("n=6144", 512)});
  EXPECT_EQ(match.config.text(), "vector:block_size=512");
}

TEST_F(Lookup, TheNeighboursTogetherSettleATieOfTheNearest) {
  BestRecord nearest = tuned("n=4096", 512);
  nearest.evidence =
      R"({"finalists":[],"close":[{"config":"vector:block_size=512","slowdown":1.0},)"
      R"({"config":"vector:block_size=256","slowdown":1.001}]})";
  const BestRecord other = tuned("n=16384", 256);
  const Match match = ask("n=8192", {nearest, other});
  EXPECT_EQ(match.config.text(), "vector:block_size=256");
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.reason, "nearest problem tuned on this device: n=16384 (distance 1)")
      << "as near as n=4096, and its own best needs no help";
  const Match nearer = ask("n=6144", {nearest, other});
  EXPECT_EQ(nearer.config.text(), "vector:block_size=256");
  EXPECT_EQ(nearer.reason,
            "nearest problem tuned on this device: n=4096 (distance 0.585); with the 2 nearest "
            "together, its config with block_size=256 instead of 512 is expected to be closer to "
            "the best");
  EXPECT_THAT(nearer.steps,
              ElementsAre("near_size: vector:block_size=512 from session 1: chosen",
                          "near_size: that config: expected within 1.31 times the best "
                          "time, by what 2 problems measured",
                          "near_size: this config: expected within 1.24 times the best "
                          "time, by what 2 problems measured: chosen instead"));
  EXPECT_EQ(ask("n=4096", {nearest, other}).config.text(), "vector:block_size=512") << "exact";
}

TEST_F(Lookup, TheNeighboursTunedOnASiblingAnswerTogetherToo) {
  BestRecord nearest = tuned("n=4096", 512, sibling());
  nearest.evidence = R"({"close":[{"config":"vector:block_size=256","slowdown":1.001}]})";
  const BestRecord other = tuned("n=16384", 256, sibling());
  const Match match = ask("n=6144", {nearest, other});
  EXPECT_EQ(match.grade, Grade::same_arch);
  EXPECT_EQ(match.config.text(), "vector:block_size=256");
  EXPECT_EQ(
      match.reason,
      "nearest problem tuned on another device of architecture sm_90a (Test GPU NVL): n=4096 "
      "(distance 0.585); with the 2 nearest together, its config with block_size=256 instead of "
      "512 is expected to be closer to the best");
  EXPECT_EQ(match.steps.back(),
            "same_arch: this config: expected within 1.24 times the best time, by what 2 problems "
            "measured: chosen instead");
  EXPECT_EQ(ask("n=4096", {nearest, other}).config.text(), "vector:block_size=512")
      << "the very problem: what is best for it there";
}

// 270336 elements are 2048 for each of 132 units, 1100 for each of 245.
TEST_F(Lookup, ATileThatFitsTheUnitsOfASiblingGivesWayWhereItDoesNotFitHere) {
  BestRecord nearest = tuned("n=270336", 1024, sibling());
  nearest.evidence = R"({"close":[{"config":"vector:block_size=256","slowdown":1.05}]})";
  EXPECT_EQ(ask("n=269280", {nearest}).config.text(), "vector:block_size=1024");
  DeviceInfo larger = some_device();
  larger.compute_units = 245;
  EXPECT_EQ(ask("n=269280", {nearest}, larger).config.text(), "vector:block_size=256");
}

// Of 132 units: 2048 elements for each, or 1100, or 640.
TEST_F(Lookup, ATileThatDoesNotFitGivesWay) {
  BestRecord nearest = tuned("n=270336", 1024);
  nearest.evidence =
      R"({"finalists":[],"close":[{"config":"vector:block_size=1024","slowdown":1.0},)"
      R"({"config":"vector:block_size=256","slowdown":1.05}]})";
  EXPECT_EQ(ask("n=269280", {nearest}).config.text(), "vector:block_size=1024");
  const Match match = ask("n=145200", {nearest});
  EXPECT_EQ(match.config.text(), "vector:block_size=256")
      << "two tiles of 1024 for 1100 elements of a unit";
  EXPECT_EQ(
      match.reason,
      "nearest problem tuned on this device: n=270336 (distance 0.897); by how its tiles fit, "
      "its config with block_size=256 instead of 1024 is expected to be closer to the best");
  EXPECT_THAT(match.steps,
              ElementsAre("near_size: vector:block_size=1024 from session 1: chosen",
                          "near_size: that config: expected within 1.84 times the best "
                          "time, by what 1 problem measured",
                          "near_size: this config: expected within 1.68 times the best "
                          "time, by what 1 problem measured: chosen instead"));
}

TEST_F(Lookup, ANeighbourFurtherAwayAnswersWhereNothingOfTheNearestFits) {
  const BestRecord nearest = tuned("n=270336", 1024);
  const BestRecord other = tuned("n=84480", 128);
  EXPECT_EQ(ask("n=250800", {nearest, other}).config.text(), "vector:block_size=1024");
  EXPECT_EQ(ask("n=158400", {nearest, other}).config.text(), "vector:block_size=128");
}

TEST_F(Lookup, WhatOneBlockDidAloneTellsLittleOfTwo) {
  BestRecord nearest = tuned("n=1024", 1024);
  nearest.evidence = R"({"close":[{"config":"vector:block_size=512","slowdown":1.1}]})";
  BestRecord other = tuned("n=2048", 512);
  other.evidence = R"({"first":[{"config":"vector:block_size=1024","slowdown":1.3}]})";
  EXPECT_EQ(ask("n=1020", {nearest, other}).config.text(), "vector:block_size=512")
      << "1024 has no work";
  EXPECT_EQ(ask("n=1100", {nearest, other}).config.text(), "vector:block_size=512")
      << "two blocks of 1024 are known of n=2048, where they were slow";
  EXPECT_EQ(ask("n=1100", {nearest}).config.text(), "vector:block_size=512")
      << "of which two blocks were measured, if not three";
}

TEST_F(Lookup, SessionsOfOneProblemSpeakTogether) {
  BestRecord first = tuned("n=4096", 512);
  first.time_ns = 1000;
  BestRecord second = tuned("n=4096", 256);
  second.time_ns = 800;
  second.published_at = "2026-01-01T00:00:00Z";  // before the first
  EXPECT_EQ(ask("n=8192", {first}).config.text(), "vector:block_size=512");
  EXPECT_EQ(ask("n=8192", {first, second}).config.text(), "vector:block_size=256")
      << "it was faster there, though its session is not the newest";
  EXPECT_EQ(ask("n=8192", {second, first}).config.text(), "vector:block_size=256");
}

TEST_F(Lookup, ALayerThatComesFirstWinsATie) {
  BestRecord user = tuned("n=4096", 512);
  BestRecord shipped = tuned("n=4096", 128);
  shipped.published_at = "2030-01-01T00:00:00Z";
  shipped.layer = 1;
  EXPECT_EQ(ask("n=4096", {user, shipped}).config.text(), "vector:block_size=512");
  EXPECT_EQ(ask("n=4096", {shipped, user}).config.text(), "vector:block_size=512");
  EXPECT_EQ(ask("n=8192", {shipped, user}).config.text(), "vector:block_size=512");
}

TEST_F(Lookup, OfTwoThatMatchAlikeTheNewerOneIsTakenWhateverTheirOrder) {
  BestRecord older = tuned("n=4096", 512);
  BestRecord newer = tuned("n=4096", 128);
  newer.published_at = "2030-01-01T00:00:00Z";
  EXPECT_EQ(ask("n=4096", {older, newer}).config.text(), "vector:block_size=128");
  EXPECT_EQ(ask("n=4096", {newer, older}).config.text(), "vector:block_size=128");

  older.published_at = newer.published_at;  // then the text decides: "128" sorts before "512"
  EXPECT_EQ(ask("n=4096", {older, newer}).config.text(), "vector:block_size=128");
  EXPECT_EQ(ask("n=4096", {newer, older}).config.text(), "vector:block_size=128");

  const BestRecord smaller = tuned("n=1024", 256);  // as far away as n=4096
  const Match match = ask("n=2048", {smaller, older});
  EXPECT_EQ(match.config.text(), ask("n=2048", {older, smaller}).config.text());
}

TEST_F(Lookup, ACandidateIllegalHereIsPassedOverAndSaidSo) {
  const Match match = ask("n=300", {tuned("n=512", 512), tuned("n=4096", 256)});
  EXPECT_EQ(match.config.text(), "vector:block_size=256");
  ASSERT_EQ(match.steps.size(), 2U);
  EXPECT_THAT(
      match.steps[0],
      ::testing::StartsWith("near_size: vector:block_size=512 from session 1: passed over: "));
  EXPECT_THAT(match.steps[0], ::testing::HasSubstr("a block must have work"));
  EXPECT_EQ(match.steps[1], "near_size: this config from session 2: chosen");
}

TEST_F(Lookup, WhenEveryCandidateIsIllegalTheDefaultSaysSo) {
  BestRecord gone = tuned("n=4096", 256);
  gone.config.variant = "removed";
  BestRecord out_of_range = tuned("n=4096", 256);
  out_of_range.config.values = {{"block_size", std::int64_t{96}}};
  const Match match = ask("n=100", {tuned("n=512", 512), gone, out_of_range});
  EXPECT_EQ(match.grade, Grade::fallback);
  EXPECT_EQ(match.reason,
            "no tuned config is legal for this problem on this device: the spec's default config");
  EXPECT_EQ(match.steps.size(), 4U);
}

TEST_F(Lookup, ARowOfASpecWithoutATunableTakesItsDefault) {
  BestRecord older = tuned("n=4096", 256);
  older.config.values.clear();
  EXPECT_EQ(ask("n=4096", {older}).config.text(), "vector:block_size=64");
}

TEST_F(Lookup, RowsOfOtherSpecsAndBrokenRowsAreNotCandidates) {
  BestRecord other_kernel = tuned("n=4096", 256);
  other_kernel.key.kernel = "transpose";
  BestRecord unknown_field = tuned("n=4096", 256);
  unknown_field.problem_json = R"({"m": 3})";
  BestRecord broken = tuned("n=4096", 256);
  broken.problem_json = "{";
  BestRecord nothing_ok = tuned("n=4096", 256);
  nothing_ok.verdict = Verdict::none;
  const Match match = ask("n=4096", {other_kernel, unknown_field, broken, nothing_ok});
  EXPECT_EQ(match.grade, Grade::fallback);
  EXPECT_EQ(match.steps.size(), 1U);
}

TEST_F(Lookup, FailsOnlyWhereNoConfigIsLegal) {
  const Result<Match> match = lookup({spec_, Problem::parse(spec_, "n=32"), some_device()}, {});
  ASSERT_FALSE(match);
  EXPECT_EQ(match.failure().outcome, Outcome::constraint);
  EXPECT_THAT(match.failure().message, ::testing::HasSubstr("a block must have work"));
}

}  // namespace
}  // namespace kiln
