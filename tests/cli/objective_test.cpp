// Objectives beside time, Pareto lists and comparisons, as a user asks for them.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/pareto.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kScaleKernel = KILN_SOURCE_DIR "/tests/cli/kernels/scale";

class ObjectiveProgram : public TuningTest {
 protected:
  [[nodiscard]] Json best(const Words& more) const {
    return kiln_json(
        Words(fmt::format("best {} --problem n=100 --db kiln.db --json", kScaleKernel)) + more);
  }
  [[nodiscard]] Json compare(const Words& more, const std::string& rounds = "8") const {
    return kiln_json(Words({"compare", kScaleKernel, "--problem", "n=100", "--device", "opencl",
                            "--rounds", rounds, "--json"}) +
                     more);
  }
};

TEST_F(ObjectiveProgram, ABestForAMetricIsFoundByThatNameAlone) {
  Words words = tune_scale("--objective covered --strategy exhaustive --trials 29");
  const Output tuned = kiln(words);
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("\ncovered: 1 (default config 32)\n"));
  EXPECT_THAT(tuned.out, HasSubstr(" warm cache; "));

  const Json found = best("--objective covered");
  EXPECT_EQ(found["grade"], "exact");
  EXPECT_EQ(found["config_text"], "plain:block_size=1,items=1");
  EXPECT_EQ(found["tuned"]["objective"], "covered");
  EXPECT_EQ(found["tuned"]["value"], 1);
  EXPECT_EQ(best({})["grade"], "default") << "never in the place of time";

  words.emplace_back("--json");
  const Json session = kiln_json(words)["sessions"][0];
  EXPECT_EQ(session["objective"], "covered");
  EXPECT_EQ(session["value"], 1);
  EXPECT_EQ(session["default_value"], 32);
  EXPECT_EQ(session["throttled_trials"], 0);

  const Json row = kiln_json("show latest --json --db kiln.db")["rows"][0];
  EXPECT_EQ(row["metrics"]["covered"], 32);
  EXPECT_GT(row["metrics"]["bandwidth"], 0);
  EXPECT_EQ(row["samples"]["throttle"], "unknown");
}

TEST_F(ObjectiveProgram, AParetoListLeavesOutWhatIsBeatenInBoth) {
  ASSERT_EQ(kiln(tune_scale("--strategy exhaustive --trials 29")).exit_code, 0);
  const Json list = best("--pareto time,covered");
  EXPECT_EQ(list["configs"], 29);
  const Json& front = list["front"];
  ASSERT_GE(front.size(), 1U);
  EXPECT_LE(front.size(), 9U) << "no more than different values of covered";
  const Json rows = kiln_json("show latest --json --db kiln.db")["rows"];
  for (const Json& point : front) {
    for (const Json& row : rows) {
      const bool beaten =
          row["time_ns"] <= point["time"] && row["metrics"]["covered"] < point["covered"];
      EXPECT_FALSE(beaten) << row["config"] << " beats " << point["config"];
    }
  }
  const Output text = kiln(
      {"best", kScaleKernel, "--problem", "n=100", "--db", "kiln.db", "--pareto", "time,covered"});
  EXPECT_THAT(text.out, HasSubstr(" of 29 configs that have both values\n"));
}

TEST(ParetoFront, KeepsTheBestOfEachAndOneOfEquals) {
  EXPECT_EQ(pareto_front({{3, 1}, {1, 3}, {2, 2}, {2, 2}, {3, 3}, {1, 4}}),
            (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_TRUE(pareto_front({}).empty());
}

TEST_F(ObjectiveProgram, MistakesAreNamed) {
  const Output unknown = kiln(tune_scale("--objective cowered"));
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_EQ(unknown.err,
            "kiln: error: scale has no objective 'cowered'; did you mean 'covered'? (it has: time, "
            "energy, bandwidth, covered)\n");
  const Output energy = kiln(tune_scale("--objective energy"));
  EXPECT_EQ(energy.exit_code, 4);
  EXPECT_THAT(energy.err,
              HasSubstr("kiln: error: the objective 'energy' needs the device's energy, "
                        "which cannot be measured: the backend has no meter of energy\n"));
  ASSERT_EQ(kiln(tune_scale("--trials 2")).exit_code, 0);
  const Words ask = fmt::format("best {} --problem n=100 --db kiln.db --pareto", kScaleKernel);
  const auto pareto = [&](const char* text) {
    Words words = ask;
    words.emplace_back(text);
    return kiln(words);
  };
  EXPECT_EQ(pareto("time").exit_code, 2);
  EXPECT_EQ(pareto("time").err,
            "kiln: error: --pareto: expected two objectives such as time,energy, not 'time'\n");
  EXPECT_EQ(pareto("time,joy").exit_code, 3);
  EXPECT_EQ(pareto("time,energy").exit_code, 1);
  EXPECT_THAT(pareto("time,energy").err, HasSubstr("has both time and energy\n"));
}

TEST_F(ObjectiveProgram, GraphsNeedABackendThatHasThem) {
  const std::string sentence =
      "kiln: error: --timing graph is not possible here: the backend has no graphs of captured "
      "launches\n";
  const Output tuned = kiln(tune_scale("--timing graph"));
  EXPECT_EQ(tuned.exit_code, 4);
  EXPECT_THAT(tuned.err, HasSubstr(sentence));
  const Output compared = kiln(fmt::format(
      "compare {} --problem n=100 --device opencl --config default --timing graph", kScaleKernel));
  EXPECT_EQ(compared.exit_code, 4);
  EXPECT_THAT(compared.err, HasSubstr(sentence));
}

TEST_F(ObjectiveProgram, CopiesAreComparedInPairs) {
  const Json report = compare("--config default --copies 3 --finals 2");
  EXPECT_EQ(report["finals"], 2);
  EXPECT_EQ(report["cache"], "cold");
  ASSERT_EQ(report["configs"].size(), 3U);
  for (const Json& entry : report["configs"]) {
    EXPECT_EQ(entry["config"], "plain:block_size=32,items=1");
    EXPECT_EQ(entry["samples_ns"].size(), 16U);
    EXPECT_EQ(entry["wrong"], "");
  }
  EXPECT_EQ(report["configs"][0]["ratio"]["middle"], 1);
  EXPECT_EQ(report["configs"][0]["verdict"], "-");
  EXPECT_EQ(report["pairs"]["count"], 12);
}

TEST_F(ObjectiveProgram, StoredBestsAreComparedByTheirSessions) {
  ASSERT_EQ(kiln(tune_scale("--trials 3")).exit_code, 0);
  const Json stored = best({});
  const Json report = compare("--db kiln.db --session 1 --config best --warm-cache");
  ASSERT_EQ(report["configs"].size(), 2U);
  EXPECT_EQ(report["cache"], "warm");
  EXPECT_EQ(report["configs"][0]["config"], stored["config_text"]);
  EXPECT_EQ(report["configs"][1]["config"], stored["config_text"]);
  const Output missing = kiln(fmt::format(
      "compare {} --problem n=100 --device opencl --db kiln.db --session 7", kScaleKernel));
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err, "kiln: error: kiln.db has no session 7\n");
}

TEST_F(ObjectiveProgram, NothingIsComparedInPlaceOfWhatIsNotThere) {
  const auto compare_with = [&](const Words& more) {
    return kiln(Words(fmt::format("compare {} --problem n=100 --device opencl", kScaleKernel)) +
                more);
  };
  const Output no_file = compare_with({"--db", "nosuch.db"});
  EXPECT_EQ(no_file.exit_code, 5);
  EXPECT_THAT(no_file.err, StartsWith("kiln: error: nosuch.db: there is no such database"));
  EXPECT_EQ(compare_with({"--db", "nosuch.db", "--config", "default", "--session", "1"}).exit_code,
            5);
  const Output nothing = compare_with({});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, StartsWith("kiln: error: there is no best of scale for n=100 "));
}

TEST_F(ObjectiveProgram, TooFewRoundsAreNoVerdict) {
  const Json report = compare("--config default --copies 2", "2");
  EXPECT_EQ(report["configs"][1]["verdict"], "too few rounds");
  EXPECT_TRUE(report["configs"][1]["ratio"]["low"].is_null());
  EXPECT_EQ(report["pairs"]["tie"], 0);
  EXPECT_EQ(report["pairs"]["unmeasurable"], 2);
}

}  // namespace
}  // namespace kiln::cli
