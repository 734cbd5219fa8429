// What other tuners recorded, by the program: wisdom of Kernel Launcher becomes bests where its
// tunables are those of a kernel.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kForeignKernels = KILN_SOURCE_DIR "/tests/cli/kernels";
constexpr const char* kWisdom =
    R"({"version":"1.0","key":"scale","objective":"time","tunable_parameters":["block_size","items"]}
{"config":[64,1],"problem_size":[4096],"environment":{},"time":0.5}
{"config":[128,1],"problem_size":[4096],"environment":{},"time":0.4}
{"config":[64,2],"problem_size":[8192],"environment":{},"time":0.9}
)";

class ForeignWisdomTest : public TuningTest {
 protected:
  [[nodiscard]] Output import(const std::string& problem) const {
    return kiln({"db", "import", "w.wisdom", "--kernel", "scale", "--problem", problem, "--device",
                 "opencl", "--db", "kiln.db", "--kernel-path", kForeignKernels});
  }
};

TEST_F(ForeignWisdomTest, TheFastestConfigOfEachProblemIsImportedOnceAndStale) {
  write("w.wisdom", kWisdom);
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
  write("w.wisdom",
        std::string(kWisdom) +
            "{\"config\":[32,1],\"problem_size\":[4096],\"environment\":{},\"time\":0.8}\n");
  ASSERT_EQ(import("n={0}").exit_code, 0);
  const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", "kiln.db",
                                "--kernel-path", kForeignKernels, "--json"});
  EXPECT_EQ(match["tuned"]["default_time_ns"], 800000.0);
  const std::string shown = kiln({"show", "1", "--db", "kiln.db"}).out;
  EXPECT_NE(shown.find("imported: the best and 1 config around it"), std::string::npos) << shown;
  EXPECT_NE(shown.find("2.00x over the default config"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("winner, default"), std::string::npos) << shown;
}

TEST_F(ForeignWisdomTest, FilesMayBeCompressed) {
  write_gzip("w.wisdom", kWisdom);
  EXPECT_EQ(kiln({"db", "import", "w.wisdom", "--db", "kiln.db"}).err.substr(0, 57),
            "kiln: error: w.wisdom: this is wisdom of Kernel Launcher:");
  EXPECT_EQ(import("n={0}").out,
            "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
}

TEST_F(ForeignWisdomTest, OfSeveralFilesTheFasterBestCounts) {
  std::string slow = kWisdom;
  slow.replace(slow.find("\"time\":0.4"), 10, "\"time\":0.6");
  write("fast.wisdom", kWisdom);
  write("slow.wisdom", slow);
  for (const auto& [first, second] : {std::pair("fast", "slow"), std::pair("slow", "fast")}) {
    const std::string database = std::string(first) + ".db";
    const Output output =
        kiln({"db", "import", std::string(first) + ".wisdom", std::string(second) + ".wisdom",
              "--kernel", "scale", "--problem", "n={0}", "--device", "opencl", "--db", database,
              "--kernel-path", kForeignKernels});
    ASSERT_EQ(output.exit_code, 0) << output.err;
    const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", database,
                                  "--kernel-path", kForeignKernels, "--json"});
    EXPECT_EQ(match["tuned"]["time_ns"], 400000.0) << first << " comes first";
  }
}

TEST_F(ForeignWisdomTest, AKernelIsGivenByItsFolderOrByTheNameOfItsSpec) {
  write("w.wisdom", kWisdom);
  copy_kernel("tests/cli/kernels/scale", "vectors");
  const Output by_folder = kiln({"db", "import", "w.wisdom", "--kernel", "./vectors", "--problem",
                                 "n={0}", "--device", "opencl", "--db", "kiln.db"});
  EXPECT_EQ(by_folder.out, "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n")
      << by_folder.err;
  const Json match = kiln_json({"best", "scale", "--problem", "n=4096", "--db", "kiln.db",
                                "--kernel-path", "vectors", "--json"});
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config_text"], "plain:block_size=128,items=1");
}

TEST_F(ForeignWisdomTest, WithoutAKernelTheFileIsNamed) {
  write("w.wisdom", kWisdom);
  const Output refused = kiln({"db", "import", "w.wisdom", "--db", "kiln.db"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_EQ(refused.err,
            "kiln: error: w.wisdom: this is wisdom of Kernel Launcher: say whose tunables it holds "
            "with --kernel and which problem it is with --problem\n");
}

TEST_F(ForeignWisdomTest, OneBadLineCostsThatLine) {
  std::string text = kWisdom;
  const std::string line = "{\"config\":[64,2]";
  text.insert(text.find(line), "# measured on the new node\n");
  write("w.wisdom", text);
  const Output refused = import("n={0}");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_EQ(refused.err,
            "kiln: error: w.wisdom:4:1: expected a value, found a comment, which JSON does not "
            "have\nnothing was imported; --skip-bad imports the rest\n");
  const Output rest =
      kiln({"db", "import", "w.wisdom", "--kernel", "scale", "--problem", "n={0}", "--device",
            "opencl", "--db", "kiln.db", "--kernel-path", kForeignKernels, "--skip-bad"});
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
  std::string text = kWisdom;
  write("w.wisdom", text);
  EXPECT_TRUE(import("n={1}").err.starts_with(
      "kiln: error: w.wisdom: has 1 sizes ('4096'), the problem 'n={1}' asks for more"));
  write("w.wisdom", text.replace(text.find("\"items\""), 7, "\"elems\""));
  const Output output = import("n={0}");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_TRUE(
      output.err.starts_with("kiln: error: w.wisdom: its tunables (block_size, elems) are "
                             "those of no variant of scale; expected one of:\n"))
      << output.err;
  write("w.wisdom",
        "{\"version\":\"1.0\",\"objective\":\"power\",\"tunable_parameters\":[\"a\"]}\n");
  EXPECT_EQ(import("n={0}").err,
            "kiln: error: w.wisdom:1: expected the objective \"time\", not \"power\"\n");
}

TEST_F(ForeignWisdomTest, AnExportAsT4HoldsTheTrialsOfTheSession) {
  const Output tuned = kiln(tune_scale({"--trials", "6", "--strategy", "random"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_EQ(kiln({"db", "export", "t4", "--format", "t4", "--db", "kiln.db"}).exit_code, 0);
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
