// Results of other tuners by the program.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "foreign_cache.hpp"
#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

using ::testing::EndsWith;
using ::testing::Not;

// Results of KTT and caches of Kernel Tuner by the program: what becomes a best of which problem,
// and what is said of a file that does not fit.

class ForeignResultsTest : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    for (const Json& entry : Json::parse(kiln("devices --json").out)) {
      if (entry["backend"] == "opencl") device_ = entry["devices"][0]["name"];
    }
    ASSERT_FALSE(device_.empty());
  }

  /// An example of tests/core/foreign, as if it were measured on the device of this machine.
  [[nodiscard]] std::string example(const std::string& name) const {
    std::string text =
        read_text(std::string(KILN_SOURCE_DIR) + "/tests/interchange/foreign/" + name);
    for (const std::string theirs : {"NVIDIA GeForce RTX 3080", "GeForce RTX 3080"}) {
      for (std::size_t at = text.find(theirs); at != std::string::npos;
           at = text.find(theirs, at + device_.size())) {
        text.replace(at, theirs.size(), device_);
      }
    }
    return text;
  }

  /// Imports `text` for the kernel scale.
  [[nodiscard]] Output import(const std::string& text, const std::string& problem,
                              const Words& more = {}) const {
    write("f.json", text);
    return kiln(Words({"db", "import", "f.json", "--kernel", "scale", "--problem", problem,
                       "--device", "opencl", "--db", "kiln.db", "--kernel-path", kKernels}) +
                more);
  }

  [[nodiscard]] Json best(const std::string& problem) const {
    return kiln_json({"best", "scale", "--problem", problem, "--db", "kiln.db", "--kernel-path",
                      kKernels, "--json"});
  }

  static constexpr const char* kKernels = KILN_SOURCE_DIR "/tests/cli/kernels";
  std::string device_;  // its name
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST_F(ForeignResultsTest, OfKttGiveTheFastestConfigThatRanOnce) {
  const std::string text = example("ktt.json");
  const Output first = import(text, "n=4194304");
  EXPECT_EQ(first.out, "kiln.db: 1 best imported, 0 there before, 0 bad lines left out\n")
      << first.err;
  EXPECT_EQ(import(text, "n=4194304").out,
            "kiln.db: 0 bests imported, 1 there before, 0 bad lines left out\n");
  const Json match = best("n=4194304");
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config_text"], "plain:block_size=128,items=2");
  EXPECT_EQ(match["stale"], true);
  EXPECT_EQ(match["tuned"]["time_ns"], 11250.0);
}

TEST_F(ForeignResultsTest, OfKttThatDoNotFitAreRefused) {
  const std::string text = example("ktt.json");
  const auto refusal = [&](const std::string& from, const std::string& to) {
    const Output output = import(replaced(text, from, to), "n=4194304");
    EXPECT_EQ(output.exit_code, 3);
    return output.err;
  };
  EXPECT_EQ(refusal("Microseconds", "Jiffies"),
            "kiln: error: f.json: expected \"TimeUnit\" to be s, ms, us or ns, or their names in "
            "full, not 'Jiffies'\n");
  EXPECT_EQ(refusal("\"Ok\"", "\"Fine\""),
            "kiln: error: f.json:12:5: result 1: expected \"Status\" to be Ok, ComputationFailed, "
            "ValidationFailed, CompilationFailed or DeviceLimitsExceeded, found \"Fine\"\n"
            "nothing was imported; --skip-bad imports the rest\n");
  EXPECT_THAT(refusal(device_, "Another GPU"),
              StartsWith("kiln: error: f.json: was measured on 'Another GPU'; expected '"));
  std::string renamed = text;
  for (std::size_t at = renamed.find("\"items\""); at != std::string::npos;
       at = renamed.find("\"items\"")) {
    renamed.replace(at, 7, "\"WPT\"");
  }
  const Output unknown = import(renamed, "n=4194304");
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.err, StartsWith("kiln: error: f.json: its tunables (WPT, block_size) are "
                                      "those of no variant of scale; expected one of:\n"));
}

TEST_F(ForeignResultsTest, OfKttThatAreCutAreImportedUpToThereIfAsked) {
  const std::string text = example("ktt.json");
  const std::string cut = text.substr(0, text.find("\"Status\": \"DeviceLimitsExceeded\""));
  const Output refused = import(cut, "n=4194304");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("result '3': the file ends here"));
  const Output rest = import(cut, "n=4194304", {"--skip-bad"});
  EXPECT_EQ(rest.out, "kiln.db: 1 best imported, 0 there before, 1 bad line left out\n")
      << rest.err;
}

TEST_F(ForeignResultsTest, ThatBecomeTheSameProblemAreRefused) {
  write("a.json", cache_of("4096", {{64, 1, 0.5}}));
  write("b.json", cache_of("8192", {{64, 1, 0.9}}));
  const Output output =
      kiln(fmt::format("db import a.json b.json --kernel scale --problem n=4096 --device opencl "
                       "--db kiln.db --kernel-path {}",
                       kKernels));
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.err,
            "kiln: error: b.json: becomes the problem n=4096, as a.json does; name in --problem "
            "what tells them apart: {0}\n"
            "nothing was imported; --skip-bad imports the rest\n");
}

TEST_F(ForeignResultsTest, HaveSizesUnderTheNamesOfTheSpec) {
  copy_kernel("tests/cli/kernels/scale", "own");
  edit("own/spec.toml", "doc = \"elements\"\n",
       "doc = \"elements\"\n\n[problem.pad]\ntype = \"int\"\nmin = 0\ndefault = 0\n"
       "doc = \"elements that are skipped\"\n");
  write("f.json", R"({"kernel_name": "scale", "problem_size": "1", "tune_params_keys":
      ["block_size", "items", "n"], "tune_params": {"block_size": [64], "items": [1, 2],
      "n": [4096, 8192]}, "cache": {
      "64,1,4096": {"block_size": 64, "items": 1, "n": 4096, "time": 0.5},
      "64,2,8192": {"block_size": 64, "items": 2, "n": 8192, "time": 0.9}}})");
  const auto import_own = [&](const std::string& problem) {
    return kiln({"db", "import", "f.json", "--kernel", "./own", "--problem", problem, "--device",
                 "opencl", "--db", "kiln.db"});
  };
  const Output output = import_own("pad=0");
  EXPECT_EQ(output.out, "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n")
      << output.err;
  EXPECT_EQ(import_own("pad=0,n=4096").exit_code, 3) << "n has two values";
}

TEST_F(ForeignResultsTest, WithoutAKernelTheFileIsNamed) {
  write("ktt.json", example("ktt.json"));
  write("cache.json", cache_of("4096", {{64, 1, 0.5}}));
  for (const auto& [name, format] : {std::pair("ktt.json", "a file of results of KTT"),
                                     std::pair("cache.json", "a cache of Kernel Tuner")}) {
    const Output refused = kiln({"db", "import", name, "--db", "kiln.db"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_EQ(refused.err,
              std::string("kiln: error: ") + name + ": this is " + format +
                  ": say whose tunables it holds with --kernel and which problem it is with "
                  "--problem\n");
  }
}

TEST_F(ForeignResultsTest, OfAWholeSpaceAreReplayed) {
  write("ktt.json", example("ktt.json"));
  const Json json = kiln_json("replay ktt.json --json");
  EXPECT_EQ(json["spaces"][0]["configs"], 6);
  EXPECT_EQ(json["spaces"][0]["optimum_ns"], 11250.0);
}

// What other tuners recorded, by the program: it becomes bests where its tunables are those of a
// kernel.

constexpr const char* kForeignKernels = KILN_SOURCE_DIR "/tests/cli/kernels";
const std::vector<CachedConfig> kSmall = {{64, 1, 0.5}, {128, 1, 0.4}};

class ForeignWisdomTest : public TuningTest {
 protected:
  void write_caches(const std::vector<CachedConfig>& small = kSmall) const {
    write("small.json", cache_of("4096", small));
    write("large.json", cache_of("8192", {{64, 2, 0.9}}));
  }

  [[nodiscard]] Output import(const std::string& problem, const Words& more = {}) const {
    return kiln(Words({"db", "import", "small.json", "large.json", "--kernel", "scale", "--problem",
                       problem, "--device", "opencl", "--db", "kiln.db", "--kernel-path",
                       kForeignKernels}) +
                more);
  }
};

TEST_F(ForeignWisdomTest, TheFastestConfigOfEachProblemIsImportedOnceAndStale) {
  write_caches();
  EXPECT_EQ(import("n={0}").out,
            "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
  EXPECT_EQ(import("n={0}").out,
            "kiln.db: 0 bests imported, 2 there before, 0 bad lines left out\n");
  const Json match = kiln_json(fmt::format(
      "best scale --problem n=4096 --db kiln.db --kernel-path {} --json", kForeignKernels));
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config_text"], "plain:block_size=128,items=1");
  EXPECT_EQ(match["stale"], true);
  EXPECT_EQ(match["tuned"]["time_ns"], 400000.0);
}

// 32 elements of a block are the default; 64 come first in the file.
TEST_F(ForeignWisdomTest, TheDefaultConfigIsKnownByWhatItIs) {
  write_caches({{64, 1, 0.5}, {128, 1, 0.4}, {32, 1, 0.8}});
  ASSERT_EQ(import("n={0}").exit_code, 0);
  const Json match = kiln_json(fmt::format(
      "best scale --problem n=4096 --db kiln.db --kernel-path {} --json", kForeignKernels));
  EXPECT_EQ(match["tuned"]["default_time_ns"], 800000.0);
  const std::string shown = kiln("show 1 --db kiln.db").out;
  EXPECT_THAT(shown, HasSubstr("imported: the best and 1 config around it"));
  EXPECT_THAT(shown, HasSubstr("2.00x over the default config"));
  EXPECT_THAT(shown, Not(HasSubstr("winner, default")));
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
  EXPECT_THAT(refused.err, EndsWith("nothing was imported; --skip-bad imports the rest\n"));
  const Output rest = import("n={0}", {"--skip-bad"});
  EXPECT_EQ(rest.out, "kiln.db: 2 bests imported, 0 there before, 1 bad line left out\n");
}

TEST_F(ForeignWisdomTest, OfAnotherObjectiveNothingIsPublished) {
  write("t4.json",
        R"({"results": [{"configuration": {"block_size": 64, "items": 1}, "invalidity": "correct",
        "objectives": ["energy"], "measurements": [{"name": "time", "value": 1, "unit": "ms"},
        {"name": "energy", "value": 2, "unit": "J"}]}]})");
  const Output output =
      kiln(fmt::format("db import t4.json --kernel scale --problem n=4096 --device opencl --db "
                       "kiln.db --kernel-path {}",
                       kForeignKernels));
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
  EXPECT_THAT(
      import("n={1}").err,
      StartsWith(
          "kiln: error: small.json: has 1 sizes ('4096'), the problem 'n={1}' asks for more"));
  std::string renamed = cache_of("4096", kSmall);
  for (std::size_t at = 0; (at = renamed.find("items", at)) != std::string::npos; ++at)
    renamed.replace(at, 5, "elems");
  write("small.json", renamed);
  const Output output = import("n={0}");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err,
              StartsWith("kiln: error: small.json: its tunables (block_size, elems) are "
                         "those of no variant of scale; expected one of:\n"));
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
