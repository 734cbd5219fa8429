// The road of a user: tune, ask, look, sweep.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/json.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kScaleFolder = KILN_SOURCE_DIR "/tests/cli/kernels/scale";

class Tuning : public TuningTest {
 protected:
  void tune_three_trials() const {
    const Output output = kiln(tune_scale("--trials 3"));
    ASSERT_EQ(output.exit_code, 0) << output.err;
    EXPECT_THAT(output.out, StartsWith("kernel  problem"));
    EXPECT_THAT(output.out, HasSubstr("\nsession 1: 3 of 29 configs in "));
    EXPECT_THAT(output.err, StartsWith("scale n=100: 29 configs on "));
  }

  void ask() const {
    const Words best = {"best", kScaleFolder, "--db", "kiln.db", "--json", "--problem"};
    const auto ask_for = [&](const std::string& problem) {
      Words words = best;
      words.push_back(problem);
      return kiln_json(words);
    };
    const Json exact = ask_for("n=100");
    EXPECT_EQ(exact["grade"], "exact");
    EXPECT_EQ(exact["distance"], 0);
    EXPECT_EQ(exact["tuned"]["trials"], 3);
    EXPECT_GT(exact["tuned"]["time_ns"], 0);

    const Json near = ask_for("n=400");
    EXPECT_EQ(near["grade"], "near_size");
    EXPECT_DOUBLE_EQ(near["distance"].get<double>(), 2);
    EXPECT_EQ(near["tuned"]["problem"]["n"], 100);
    // Times that differ by noise let another of the three tried ones fit the larger problem better.
    const std::string reason = near["reason"].get<std::string>();
    const std::string nearest = "nearest problem tuned on this device: n=100 (distance 2)";
    EXPECT_THAT(reason, StartsWith(nearest));
    if (near["config"] == exact["config"]) {
      EXPECT_EQ(reason, nearest);
    } else {
      const std::string difference =
          difference_text(config_from_json(near["config"]), config_from_json(exact["config"]));
      EXPECT_THAT(reason, HasSubstr("its config with " + difference));
      EXPECT_THAT(reason, HasSubstr(" is expected to be closer to the best"));
    }
  }

  void ask_in_words() const {
    const Json info = kiln_json("db info kiln.db --json");
    const Output output = kiln({"best", kScaleFolder, "--db", "kiln.db", "--problem", "n=100",
                                "--explain", "--device", info["devices"][0]});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_THAT(output.out, StartsWith("kernel   scale  n=100\ndevice   opencl/"));
    EXPECT_THAT(output.out, HasSubstr("\ngrade    exact: "));
    EXPECT_THAT(output.out, HasSubstr("\n  - exact: "));
  }

  void look() const {
    const Json session = kiln_json("show latest --json --db kiln.db");
    EXPECT_EQ(session["id"], 1);
    EXPECT_EQ(session["state"], "finished");
    EXPECT_EQ(session["rows"].size(), 3U);
    EXPECT_EQ(session["rows"][0]["sequence"], 1);
    EXPECT_EQ(session["rows"][0]["config"]["tunables"]["block_size"], 32) << "the default first";

    const std::string list = kiln("show --db kiln.db").out;
    EXPECT_THAT(list, HasSubstr("\n      1  scale   n=100    "));
    const std::string one = kiln("show 1 --top 2 --db kiln.db").out;
    EXPECT_THAT(one, StartsWith("session 1: scale n=100 on "));
    EXPECT_THAT(one, HasSubstr("\nfinals "));
    EXPECT_THAT(one, HasSubstr("\nno failures\n"));
    EXPECT_THAT(one,
                HasSubstr("\n\nwhere the time of the last run's search went:\n  device: busy "));
    EXPECT_TRUE(session["time_use"]["device_s"].is_number());
    EXPECT_EQ(kiln("show 1 --failures --db kiln.db").out, "no failures\n");
    const std::string csv = kiln("show 1 --csv --sort trial --db kiln.db").out;
    EXPECT_THAT(csv, StartsWith("trial,outcome,time_ns,samples,compile_ns,registers,spill_bytes,"
                                "shared_bytes,variant,block_size,items,message\n1,ok,"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4) << csv;

    const Output missing = kiln("show 2 --db kiln.db");
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_EQ(missing.err,
              "kiln: error: there is no session '2'; expected a number that `kiln show` "
              "lists, or latest\n");
  }

  void check_and_publish() const {
    for (const Words& words :
         {Words("db info kiln.db --json"), Words("db info --db kiln.db --json")}) {
      const Json info = kiln_json(words);
      EXPECT_EQ(info["sessions"], 1);
      EXPECT_EQ(info["trials"], 3);
      EXPECT_EQ(info["bests"], 1);
    }
    EXPECT_THAT(kiln("db info kiln.db").out,
                HasSubstr(", 1 session, 3 trials (0 failed), 1 best\n"));
    EXPECT_EQ(kiln("db check kiln.db").out, "kiln.db: sound\n");
    EXPECT_EQ(kiln("db publish copy.db --db kiln.db").out, "copy.db: published from kiln.db\n");
    EXPECT_EQ(kiln_json("db info copy.db --json")["bests"], 1);
  }
};

TEST_F(Tuning, LeavesADatabaseThatAnswersEveryQuestion) {
  tune_three_trials();
  ask();
  ask_in_words();
  look();
  check_and_publish();
}

TEST_F(Tuning, AnswersTheSameCommandFromTheDatabase) {
  const Words words = tune_scale("--trials 2 --json");
  const Json first = kiln_json(words);
  EXPECT_EQ(first["sessions"][0]["trials"], 2);
  EXPECT_EQ(first["sessions"][0]["state"], "finished");
  EXPECT_EQ(kiln_json(words), first);
  Words in_text = tune_scale("--trials 2");
  EXPECT_THAT(kiln(in_text).out, HasSubstr("; answered from the database (--fresh tunes again);"));
}

TEST_F(Tuning, TellsTheNaiveTimeByTheClockOfTheFinals) {
  copy_kernel("tests/cli/kernels/scale", "scale");
  const std::string spec = read_text(folder_ / "scale/spec.toml");
  write("scale/spec.toml", spec + R"toml(
[[variants]]
name = "naive"
summary = "one element per thread"
template = "naive.inja"
[[variants.steps]]
entry = "scale_plain"
grid = ["ceil_div(n, 16)"]
block = ["16"]
arguments = ["x", "y", "n"]
)toml");
  write("scale/naive.inja",
        "KERNEL(16, 1, 1) scale_plain(GLOBAL const f32* RESTRICT x, GLOBAL f32* RESTRICT y, i64 n) "
        "{\n"
        "  const i64 i = (i64)BLOCK_X * 16 + THREAD_X;\n"
        "  if (i < n) y[i] = 2 * x[i];\n"
        "}\n");
  const Words words =
      "tune ./scale --problem n=100 --device opencl --trials 4 --warm-cache --db kiln.db --json";
  const Json tuned = kiln_json(words)["sessions"][0];
  const Json rows = kiln_json("show latest --json --db kiln.db")["rows"];
  const auto searched = [&](const Json& config) {
    for (const Json& row : rows) {
      if (row["config"] == config) return row["time_ns"].get<double>();
    }
    return 0.0;
  };
  // A config that nothing came near has no finals: its time is of the search, and so is the other.
  const bool had_finals = tuned["time_ns"] != searched(tuned["config"]);
  for (const Json& row : rows) {
    if (row["config"]["variant"] != "naive") continue;
    ASSERT_TRUE(tuned["naive_time_ns"].is_number());
    EXPECT_EQ(tuned["naive_time_ns"] == row["time_ns"], !had_finals) << tuned << row;
    return;
  }
  FAIL() << "the naive config was not tried: " << rows;
}

// The second kernel has no legal config: its row says so, the first one's stands.
TEST_F(Tuning, ASweepGoesOnAfterASessionThatFails) {
  copy_kernel("tests/cli/kernels/scale", "broken");
  edit("broken/spec.toml", "block_size * items <= 256", "block_size * items > 1024");
  edit("broken/spec.toml", "name = \"scale\"", "name = \"broken\"");
  copy_kernel("tests/cli/kernels/scale", "scale");
  write("plan.toml",
        "name = \"two\"\n\n[defaults]\ntrials = 2\n\n"
        "[[kernels]]\nkernel = \"./broken\"\nproblems = [\"n=100\"]\n\n"
        "[[kernels]]\nkernel = \"./scale\"\nproblems = [\"n=100\"]\n");
  const Words words = "sweep plan.toml --device opencl --warm-cache --db kiln.db";
  const Output output = kiln(words);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.err,
              HasSubstr("[1/2] broken n=100: warning: no config of broken is legal for n=100"));
  EXPECT_THAT(output.err, HasSubstr("[2/2] scale n=100: 29 configs on "));
  EXPECT_THAT(output.out, HasSubstr("\n  no config of broken is legal for n=100 on "));

  Words again = words;
  again.push_back("--json");
  const Json json = Json::parse(kiln(again).out);
  EXPECT_TRUE(json["sessions"][0].contains("error"));
  EXPECT_THAT(json["sessions"][1]["config_text"], StartsWith("plain:block_size="));
  EXPECT_EQ(json["sessions"][1]["session"], 1) << "answered from the database";

  again.insert(again.end(), {"--kernel", "scale"});
  const Json one = Json::parse(kiln(again).out);
  ASSERT_EQ(one["sessions"].size(), 1U);
  EXPECT_EQ(one["sessions"][0], json["sessions"][1]);
}

}  // namespace
}  // namespace kiln::cli
