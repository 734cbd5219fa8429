// Results of KTT, of CLBlast's tuners and of nvbench, by the program: what becomes a best of which
// problem, and what is said of a file that does not fit.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

class ForeignResultsTest : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    for (const Json& entry : Json::parse(kiln({"devices", "--json"}).out)) {
      if (entry["backend"] == "opencl") device_ = entry["devices"][0]["name"];
    }
    ASSERT_FALSE(device_.empty());
  }

  /// An example of tests/core/foreign, as if it were measured on the device of this machine.
  [[nodiscard]] std::string example(const std::string& name) const {
    std::string text = read_text(std::string(KILN_SOURCE_DIR) + "/tests/core/foreign/" + name);
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
    Words words = {"db",        "import",        "f.json",   "--kernel", "scale",
                   "--problem", problem,         "--device", "opencl",   "--db",
                   "kiln.db",   "--kernel-path", kKernels};
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
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
  EXPECT_TRUE(refusal(device_, "Another GPU")
                  .starts_with("kiln: error: f.json: was measured on 'Another GPU'; expected '"));
  std::string renamed = text;
  for (std::size_t at = renamed.find("\"items\""); at != std::string::npos;
       at = renamed.find("\"items\"")) {
    renamed.replace(at, 7, "\"WPT\"");
  }
  const Output unknown = import(renamed, "n=4194304");
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(
      unknown.err.starts_with("kiln: error: f.json: its tunables (WPT, block_size) are "
                              "those of no variant of scale; expected one of:\n"))
      << unknown.err;
}

TEST_F(ForeignResultsTest, OfKttThatAreCutAreImportedUpToThereIfAsked) {
  const std::string text = example("ktt.json");
  const std::string cut = text.substr(0, text.find("\"Status\": \"DeviceLimitsExceeded\""));
  const Output refused = import(cut, "n=4194304");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("result '3': the file ends here"), std::string::npos) << refused.err;
  const Output rest = import(cut, "n=4194304", {"--skip-bad"});
  EXPECT_EQ(rest.out, "kiln.db: 1 best imported, 0 there before, 1 bad line left out\n")
      << rest.err;
}

TEST_F(ForeignResultsTest, OfClblastGiveTheirSizesByName) {
  const Output output = import(example("clblast_tuner.json"), "n={n}");
  EXPECT_EQ(output.out, "kiln.db: 1 best imported, 0 there before, 0 bad lines left out\n")
      << output.err;
  const Json match = best("n=4194304");
  EXPECT_EQ(match["grade"], "exact");
  EXPECT_EQ(match["config_text"], "plain:block_size=128,items=2");
  const Output unnamed = import(example("clblast_tuner.json"), "n={m}");
  EXPECT_EQ(unnamed.exit_code, 3);
  EXPECT_EQ(unnamed.err,
            "kiln: error: f.json: names n, alpha, precision, the problem 'n={m}' asks for another "
            "name\nnothing was imported; --skip-bad imports the rest\n");
}

TEST_F(ForeignResultsTest, OfClblastsDatabaseAreThoseOfTheKernelAndDevice) {
  const std::string text = example("clblast_database.json");
  const Output output = import(text, "n={n}");
  EXPECT_EQ(output.out, "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n");
  EXPECT_EQ(output.err,
            "kiln: warning: f.json: 2 of its 4 parts are passed over: they are of another device, "
            "or their tunables are not those of scale\n");
  EXPECT_EQ(best("n=4194304")["config_text"], "plain:block_size=128,items=2");
  EXPECT_EQ(best("n=8388608")["config_text"], "plain:block_size=64,items=4");
  EXPECT_EQ(import(text, "n={n}").out,
            "kiln.db: 0 bests imported, 2 there before, 0 bad lines left out\n");
}

TEST_F(ForeignResultsTest, ThatBecomeTheSameProblemAreRefused) {
  const std::string text = example("clblast_database.json");
  const Output output = import(text, "n=4096");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.err,
            "kiln: error: f.json: sections[1]: becomes the problem n=4096, as f.json: sections[0] "
            "does; name in --problem what tells them apart: {n}\n"
            "nothing was imported; --skip-bad imports the rest\n");
}

TEST_F(ForeignResultsTest, OfOtherKernelsAndDevicesAreNamed) {
  const std::string text =
      read_text(std::string(KILN_SOURCE_DIR) + "/tests/core/foreign/clblast_database.json");
  const Output output = import(text, "n={n}");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(
      output.err,
      "kiln: error: f.json: none of its 4 parts has the tunables of a variant of "
      "scale and was measured on '" +
          device_ +
          "'; it holds ScaleFast (block_size, items) on 'GeForce RTX 3080', ScaleFast "
          "(block_size, items) on 'GeForce GTX 1080', XaxpyFastest (VW, WGS, WPT) on 'GeForce "
          "RTX 3080'\n");
}

TEST_F(ForeignResultsTest, OfNvbenchAreTrialsOfTheProblemsThatTheAxesName) {
  const Output output = import(example("nvbench.json"), "n={Elements}");
  EXPECT_EQ(output.out, "kiln.db: 2 bests imported, 0 there before, 0 bad lines left out\n")
      << output.err;
  EXPECT_EQ(output.err,
            "kiln: warning: f.json: 1 of its 2 parts are passed over: they are of another device, "
            "or their tunables are not those of scale\n");
  EXPECT_EQ(best("n=4194304")["config_text"], "plain:block_size=128,items=1");
  EXPECT_EQ(best("n=4194304")["tuned"]["time_ns"], 11250.0);
  EXPECT_EQ(best("n=8388608")["config_text"], "plain:block_size=64,items=1");
}

TEST_F(ForeignResultsTest, OfNvbenchWithAnAxisThatIsNothingAreRefused) {
  const Output output = import(example("nvbench.json"), "n=4194304");
  EXPECT_EQ(output.exit_code, 3) << "Elements is neither a tunable nor named in --problem";
  EXPECT_TRUE(output.err.starts_with(
      "kiln: error: f.json: none of its 2 parts has the tunables of a variant of scale"))
      << output.err;
}

TEST_F(ForeignResultsTest, HaveSizesUnderTheNamesOfTheSpec) {
  copy_kernel("tests/cli/kernels/scale", "own");
  edit("own/spec.toml", "doc = \"elements\"\n",
       "doc = \"elements\"\n\n[problem.pad]\ntype = \"int\"\nmin = 0\ndefault = 0\n"
       "doc = \"elements that are skipped\"\n");
  Json file = Json::parse(example("nvbench.json"));
  for (Json& state : file["benchmarks"][0]["states"]) state["axis_values"][2]["name"] = "n";
  write("f.json", file.dump());
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
  for (const auto& [name, format] :
       {std::pair("ktt.json", "a file of results of KTT"),
        std::pair("clblast_tuner.json", "a file of results of a tuner of CLBlast"),
        std::pair("clblast_database.json", "the database of CLBlast's tuners"),
        std::pair("nvbench.json", "a file of results of nvbench")}) {
    write(name, example(name));
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
  write("tuner.json", example("clblast_tuner.json"));
  const Json json = kiln_json({"replay", "ktt.json", "tuner.json", "--json"});
  EXPECT_EQ(json["spaces"][0]["configs"], 6);
  EXPECT_EQ(json["spaces"][0]["optimum_ns"], 11250.0);
  EXPECT_EQ(json["spaces"][1]["configs"], 4);
  write("nvbench.json", example("nvbench.json"));
  const Output refused = kiln({"replay", "nvbench.json"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_EQ(refused.err,
            "kiln: error: nvbench.json: holds several kernels or problems, which only `kiln db "
            "import` reads\n");
}

}  // namespace
}  // namespace kiln::cli
