// `kiln replay`: recorded files of each format, and what is said of those that are none.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/device.hpp"
#include "db/store.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

double time_ms(int block, int unroll) { return 1.0 + 0.01 * block + (unroll == 2 ? 0 : 0.5); }

// A Kernel Tuner cache of 4 x 3 configs; one failed.
std::string cache_text() {
  std::string rows;
  for (const int block : {32, 64, 128, 256}) {
    for (const int unroll : {1, 2, 4}) {
      const bool failed = block == 256 && unroll == 4;
      rows += fmt::format(
          "{}\"{},{}\": {{\"block\": {}, \"unroll\": {}, \"time\": {}}}", rows.empty() ? "" : ",\n",
          block, unroll, block, unroll,
          failed ? "\"RuntimeFailedConfig\"" : fmt::format("{}", time_ms(block, unroll)));
    }
  }
  return "{\"kernel_name\": \"scale\", \"tune_params_keys\": [\"block\", \"unroll\"],\n"
         "\"tune_params\": {\"block\": [32, 64, 128, 256], \"unroll\": [1, 2, 4]},\n"
         "\"cache\": {\n" +
         rows + "}}\n";
}

// The same configs without the failed one.
std::string t4_text() {
  std::string results;
  for (const int block : {32, 64, 128, 256}) {
    for (const int unroll : {1, 2}) {
      results += fmt::format(
          "{}{{\"configuration\": {{\"block\": {}, \"unroll\": {}}}, \"invalidity\": \"correct\",\n"
          "\"measurements\": [{{\"name\": \"time\", \"value\": {}}}]}}",
          results.empty() ? "" : ",\n", block, unroll, time_ms(block, unroll));
    }
  }
  return "{\"results\": [" + results + "]}\n";
}

class Replaying : public ProgramTest {
 protected:
  void SetUp() override {
    write("cache.json", cache_text());
    write("t4.json", t4_text());
    write("empty.json", "");
    write("notes.txt", "what somebody wrote\n");
    write("plan.json", "{\"kernels\": 5}\n");
    std::filesystem::create_directory(folder_ / "folder");
  }

  /// A database with a session of `count` trials; the times ascend.
  void write_database(const std::string& name, int count) const {
    Store store(folder_ / name, Store::Mode::write);
    SessionRecord session;
    session.key.kernel = "scale";
    session.device_info = device_for_architecture("cuda", "sm_90a");
    session.problem_json = "{}";
    const SessionId id = store.begin_session(session);
    for (int i = 0; i < count; ++i) {
      Trial trial;
      trial.config = {"plain", {{"block", Value(std::int64_t{32} << i)}}};
      trial.time_ns = 1000 + 10 * i;
      store.append(id, i + 1, trial);
    }
    store.finish(id, SessionState::finished, 1, std::nullopt);
  }

  void expect_refusal(const Words& words, int exit_code, const std::string& message) const {
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, exit_code) << output.err;
    EXPECT_EQ(output.out, "");
    EXPECT_EQ(output.err, "kiln: error: " + message + "\n");
  }
};

TEST_F(Replaying, TellsTheSpaceAndTheScoresOfEachStrategy) {
  const Output output = kiln("replay cache.json --strategy exhaustive,random --seeds 2");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("recorded space  configs  failed  optimum   median  budget\n"
                                    "--------------  -------  ------  -------  -------  ------\n"
                                    "cache.json           12       1  1.32 ms  2.14 ms"));
  EXPECT_THAT(output.out,
              HasSubstr("strategy    score       25       50      100      200      400\n"));
  EXPECT_THAT(output.out, HasSubstr("100.00%"));
  EXPECT_THAT(output.err, HasSubstr("replay exhaustive: score "));
}

TEST_F(Replaying, ReadsT4AndCompressedFilesAsWell) {
  write_gzip("cache.json.gz", cache_text());
  const Json json =
      kiln_json("replay t4.json cache.json.gz cache.json --strategy auto --seeds 3 --json");
  EXPECT_EQ(json["seeds"], 3);
  EXPECT_EQ(json["spaces"][0]["configs"], 8);
  EXPECT_EQ(json["spaces"][1]["configs"], 12);
  EXPECT_EQ(json["spaces"][1]["optimum_ns"], json["spaces"][2]["optimum_ns"]);
  const Json& scores = json["strategies"][0]["spaces"];
  EXPECT_EQ(scores[1], scores[2]) << "compressed or not, the same is found";
  EXPECT_EQ(scores[0]["share_of_optimum"]["25"], 1.0) << "all configs are tried by then";
}

TEST_F(Replaying, SearchesInTheSessionsOfADatabase) {
  write_database("some.db", 8);
  const Json json = kiln_json("replay some.db --json");
  EXPECT_EQ(json["spaces"][0]["name"], "some.db session 1");
  EXPECT_EQ(json["spaces"][0]["configs"], 8);
  EXPECT_EQ(json["spaces"][0]["optimum_ns"], 1000);
  EXPECT_EQ(json["strategies"][0]["strategy"], "auto") << "the default";
}

TEST_F(Replaying, RunsAllStrategies) {
  const Json json = kiln_json("replay t4.json --strategy all --seeds 1 --json");
  const auto files = std::filesystem::directory_iterator(KILN_SOURCE_DIR "/search/strategies");
  const auto count = std::count_if(begin(files), end(files), [](const auto& entry) {
    return entry.path().extension() == ".cpp";  // each is a strategy
  });
  EXPECT_EQ(json["strategies"].size(), static_cast<std::size_t>(count));
  for (const Json& strategy : json["strategies"]) {
    EXPECT_EQ(strategy["mean"]["share_of_optimum"]["25"], 1.0) << strategy;
  }
}

TEST_F(Replaying, RefusesWhatItCannotRead) {
  expect_refusal("replay empty.json", 3,
                 "empty.json: the file is empty; expected a Kernel Tuner cache or a T4 file");
  expect_refusal("replay notes.txt", 3,
                 "notes.txt: expected a Kernel Tuner cache (JSON with \"tune_params_keys\" and "
                 "\"cache\"), a T4 file (\"results\" and \"configuration\") or results of KTT; or, "
                 "for `kiln replay`, a database of Kiln");
  expect_refusal("replay none.json", 3,
                 "none.json: there is no such file; expected results of a tuner");
  expect_refusal("replay folder", 3, "folder: is a folder; expected results of a tuner");
  write("torn.json", cache_text().substr(0, 400));
  expect_refusal("replay cache.json torn.json", 3,
                 "torn.json:8:57: trial '64,2': the file ends here");
  write_gzip("torn.json.gz", cache_text());
  std::filesystem::resize_file(folder_ / "torn.json.gz", 100);
  const Output torn = kiln("replay torn.json.gz");
  EXPECT_EQ(torn.exit_code, 3);
  EXPECT_THAT(torn.err, StartsWith("kiln: error: torn.json.gz: the gzip file is damaged: "));
  write_database("short.db", 1);
  expect_refusal(
      "replay short.db", 3,
      "short.db: expected a session with at least two configs that ran, with different times");
}

TEST_F(Replaying, RefusesWrongOptions) {
  expect_refusal("replay", 2, "files is required (see kiln replay --help)");
  expect_refusal("replay cache.json --seeds 0", 2,
                 "--seeds: must be a whole number of 1 or more, not '0' (see kiln replay --help)");
  const Output unknown = kiln("replay cache.json --strategy auto,rndom");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(
      unknown.err.starts_with("kiln: error: --strategy: there is no strategy 'rndom'; did you mean "
                              "'random'? (there are: auto, "))
      << unknown.err;
}

}  // namespace
}  // namespace kiln::cli
