// What other tuners recorded, by the program: it becomes bests where its tunables are those of a
// kernel.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "foreign_cache.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kForeignKernels = KILN_SOURCE_DIR "/tests/cli/kernels";
const std::vector<CachedConfig> kSmall = {{64, 1, 0.5}, {128, 1, 0.4}};

class ForeignWisdomTest : public TuningTest {
 protected:
  void write_caches(const std::vector<CachedConfig>& small = kSmall) const {
    write("small.json", cache_of("4096", small));
    write("large.json", cache_of("8192", {{64, 2, 0.9}}));
  }

  [[nodiscard]] Output import(const std::string& problem, const Words& more = {}) const {
    Words words = {"db",    "import",    "small.json",    "large.json",   "--kernel",
                   "scale", "--problem", problem,         "--device",     "opencl",
                   "--db",  "kiln.db",   "--kernel-path", kForeignKernels};
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
  }
};

TEST_F(ForeignWisdomTest, TheFastestConfigOfEachProblemIsImportedOnceAndStale) {
  write_caches();
  EXPECT_EQ(import("n={0}").out,
            "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
  EXPECT_EQ(import("n={0}").out,
            "kiln.db: 0 bests imported, 2 there before, 0 bad lines left out\n");
  const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", "kiln.db",
                                "--kernel-path", kForeignKernels, "--json"});
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config_text"], "plain:block_size=128,items=1");
  EXPECT_EQ(match["stale"], true);
  EXPECT_EQ(match["tuned"]["time_ns"], 400000.0);
}

// 32 elements of a block are the default; 64 come first in the file.
TEST_F(ForeignWisdomTest, TheDefaultConfigIsKnownByWhatItIs) {
  write_caches({{64, 1, 0.5}, {128, 1, 0.4}, {32, 1, 0.8}});
  ASSERT_EQ(import("n={0}").exit_code, 0);
  const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", "kiln.db",
                                "--kernel-path", kForeignKernels, "--json"});
  EXPECT_EQ(match["tuned"]["default_time_ns"], 800000.0);
  const std::string shown = kiln("show 1 --db kiln.db").out;
  EXPECT_THAT(shown, HasSubstr("imported: the best and 1 config around it"));
  EXPECT_THAT(shown, HasSubstr("2.00x over the default config"));
  EXPECT_EQ(shown.find("winner, default"), std::string::npos) << shown;
}

TEST_F(ForeignWisdomTest, FilesMayBeCompressed) {
  write_caches();
  write_gzip("small.json", cache_of("4096", kSmall));
  EXPECT_EQ(kiln("db import small.json --db kiln.db").err.substr(0, 57),
            "kiln: error: small.json: this is a cache of Kernel Tuner:");
  EXPECT_EQ(import("n={0}").out,
            "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
}

TEST_F(ForeignWisdomTest, OfSeveralFilesTheFasterBestCounts) {
  write("fast.json", cache_of("4096", {{64, 1, 0.5}, {128, 1, 0.4}}));
  write("slow.json", cache_of("4096", {{64, 1, 0.5}, {128, 1, 0.6}}));
  for (const auto& [first, second] : {std::pair("fast", "slow"), std::pair("slow", "fast")}) {
    const std::string database = std::string(first) + ".db";
    const Output output =
        kiln({"db", "import", std::string(first) + ".json", std::string(second) + ".json",
              "--kernel", "scale", "--problem", "n={0}", "--device", "opencl", "--db", database,
              "--kernel-path", kForeignKernels});
    ASSERT_EQ(output.exit_code, 0) << output.err;
    const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", database,
                                  "--kernel-path", kForeignKernels, "--json"});
    EXPECT_EQ(match["tuned"]["time_ns"], 400000.0) << first << " comes first";
  }
}

TEST_F(ForeignWisdomTest, AKernelIsGivenByItsFolderOrByTheNameOfItsSpec) {
  write_caches();
  copy_kernel("tests/cli/kernels/scale", "vectors");
  const Output by_folder = kiln(
      "db import small.json large.json --kernel ./vectors --problem n={0} --device opencl --db "
      "kiln.db");
  EXPECT_EQ(by_folder.out, "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n")
      << by_folder.err;
  const Json match =
      kiln_json("best scale --problem n=4096 --db kiln.db --kernel-path vectors --json");
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config_text"], "plain:block_size=128,items=1");
}

TEST_F(ForeignWisdomTest, OneBadRowCostsThatRow) {
  write_caches({{64, 1, 0.5}, {128, 1, 0.4}, {64, 2, 0.0}});
  const Output refused = import("n={0}");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, StartsWith("kiln: error: small.json:7:"));
  EXPECT_TRUE(refused.err.ends_with("nothing was imported; --skip-bad imports the rest\n"))
      << refused.err;
  const Output rest = import("n={0}", {"--skip-bad"});
  EXPECT_EQ(rest.out, "kiln.db: 2 bests imported, 0 there before, 1 bad line left out\n");
}

TEST_F(ForeignWisdomTest, OfAnotherObjectiveNothingIsPublished) {
  write("t4.json",
        R"({"results": [{"configuration": {"block_size": 64, "items": 1}, "invalidity": "correct",
        "objectives": ["energy"], "measurements": [{"name": "time", "value": 1, "unit": "ms"},
        {"name": "energy", "value": 2, "unit": "J"}]}]})");
  const Output output =
      kiln({"db", "import", "t4.json", "--kernel", "scale", "--problem", "n=4096", "--device",
            "opencl", "--db", "kiln.db", "--kernel-path", kForeignKernels});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.err,
            "kiln: error: t4.json: its objective is energy; expected time: only bests for "
            "time can be imported\n"
            "nothing was imported; --skip-bad imports the rest\n");
}

TEST_F(ForeignWisdomTest, ATimeHasTheUnitOfItsMeasurementAndAMissingOneIsSaid) {
  const auto imported = [&](const std::string& unit) {
    write("t4.json", R"({"results": [{"configuration": {"block_size": 64, "items": 1},
          "invalidity": "correct", "measurements": [{"name": "TotalDuration", "value": 900.25, "unit": ")" +
                         unit + "\"}]}]}");
    const Output output =
        kiln({"db", "import", "t4.json", "--kernel", "scale", "--problem", "n=4096", "--device",
              "opencl", "--db", unit + "kiln.db", "--kernel-path", kForeignKernels});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", unit + "kiln.db",
                                  "--kernel-path", kForeignKernels, "--json"});
    return std::pair(match["tuned"]["time_ns"].get<double>(), output.err);
  };
  EXPECT_EQ(imported("Microseconds"), std::pair(900250.0, std::string()));
  EXPECT_EQ(imported(""),
            std::pair(900250000.0, std::string("kiln: warning: t4.json: states no unit of time: "
                                               "taken as milliseconds, as Kernel Tuner writes "
                                               "them\n")));
}

TEST_F(ForeignWisdomTest, WhatDoesNotFitIsNamed) {
  write_caches();
  EXPECT_TRUE(import("n={1}").err.starts_with(
      "kiln: error: small.json: has 1 sizes ('4096'), the problem 'n={1}' asks for more"));
  std::string renamed = cache_of("4096", kSmall);
  for (std::size_t at = 0; (at = renamed.find("items", at)) != std::string::npos; ++at)
    renamed.replace(at, 5, "elems");
  write("small.json", renamed);
  const Output output = import("n={0}");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_TRUE(
      output.err.starts_with("kiln: error: small.json: its tunables (block_size, elems) are "
                             "those of no variant of scale; expected one of:\n"))
      << output.err;
}

TEST_F(ForeignWisdomTest, AnExportAsT4HoldsTheTrialsOfTheSession) {
  const Output tuned = kiln(tune_scale("--trials 6 --strategy random"));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_EQ(kiln("db export t4 --format t4 --db kiln.db").exit_code, 0);
  const Json file =
      Json::parse(read_text(std::filesystem::directory_iterator(folder_ / "t4")->path()));
  EXPECT_EQ(file["results"].size(), 6);
  for (const Json& result : file["results"]) {
    EXPECT_EQ(result["invalidity"], "correct");
    EXPECT_TRUE(result["configuration"].contains("block_size"));
    EXPECT_GT(result["measurements"][0]["value"].get<double>(), 0);
    EXPECT_FALSE(result["times"]["runtimes"].empty());
  }
}

}  // namespace
}  // namespace kiln::cli
