// A kernel of one's own, and the mistakes made in it: docs/spec_format.md says how each is
// answered.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

using ::testing::Not;

class OwnKernel : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    copy_kernel("examples/polynomial", "mine");
  }

  [[nodiscard]] Output tune(const Words& more = {}) const {
    Words words =
        "tune ./mine --problem n=1001 --device opencl --trials 2 --db kiln.db --warm-cache";
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
  }

  void expect_refused(const std::string& message) const {
    const Output output = tune();
    EXPECT_EQ(output.exit_code, 3);
    EXPECT_EQ(output.out, "");
    EXPECT_EQ(output.err.substr(0, message.size()), message);
  }

  /// The outcome and message of each stored trial.
  [[nodiscard]] std::vector<std::string> outcomes() const {
    std::vector<std::string> all;
    const Json session = kiln_json("show latest --json --db kiln.db");
    for (const Json& row : session["rows"]) {
      all.push_back(row["outcome"].get<std::string>() + ": " + row["message"].get<std::string>());
    }
    return all;
  }
};

TEST_F(OwnKernel, AWrongKeyIsAnsweredAtItsPlace) {
  edit("mine/spec.toml", "doc = \"loads of four", "docs = \"loads of four");
  expect_refused("kiln: error: ./mine/spec.toml:91:1: unknown key 'docs' in ");
}

TEST_F(OwnKernel, AnExpressionThatDoesNotParseIsAnsweredAtItsPlace) {
  edit("mine/spec.toml", "\"4 * n\"", "\"4 * * n\"");
  expect_refused("kiln: error: ./mine/spec.toml:56:");
}

TEST_F(OwnKernel, AWrongNameInATemplateIsAnsweredBeforeAnythingRuns) {
  edit("mine/naive.inja", "BLOCK_X * {{ block_size }}", "BLOCK_X * {{ blocksize }}");
  expect_refused(
      "kiln: error: ./mine/naive.inja:9:35: unknown name 'blocksize'; did you mean "
      "'block_size'?\n");
}

TEST_F(OwnKernel, IsListedWithItsArgumentsInTheOrderOfTheLaunch) {
  const Output output = kiln("kernels ./mine");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("\nargument  access  type  shape or value  meaning\n"
                                    "--------  ------  ----  --------------  -------\n"
                                    "x         read    f32   [n]\n"));
  EXPECT_THAT(output.out, HasSubstr("\nn         scalar  i64   n\n"));
  const Json arguments = kiln_json("kernels ./mine --json")["arguments"];
  std::string names;
  for (const Json& argument : arguments) names += argument["name"].get<std::string>() + " ";
  EXPECT_EQ(names, "x y a b c n ");
  EXPECT_EQ(arguments[1], Json::parse(R"({"name": "y", "access": "write", "dtype": "f32",
                                          "shape": ["n"], "when": null, "value": null,
                                          "doc": ""})"));
  EXPECT_EQ(arguments[5]["value"], "n");
}

TEST_F(OwnKernel, IsNotListedWhereATemplateIsWrongOrMissing) {
  edit("mine/naive.inja", "BLOCK_X * {{ block_size }}", "BLOCK_X * {{ blocksize }}");
  const Output wrong = kiln("kernels ./mine");
  EXPECT_EQ(wrong.exit_code, 3) << wrong.out;
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.err,
            "kiln: error: ./mine/naive.inja:9:35: unknown name 'blocksize'; did you mean "
            "'block_size'?\n");
  std::filesystem::remove(folder_ / "mine/naive.inja");
  const Output missing = kiln("kernels ./mine --json");
  EXPECT_EQ(missing.exit_code, 3) << missing.out;
  EXPECT_EQ(missing.err, kiln("render ./mine --problem n=1001").err);
}

TEST_F(OwnKernel, AMissingTemplateIsAnsweredInTheSpec) {
  edit("mine/spec.toml", "\"naive.inja\"", "\"nave.inja\"");
  expect_refused(
      "kiln: error: ./mine/spec.toml:58:1: variant 'naive': no template 'nave.inja' in the spec's "
      "folder; did you mean 'naive.inja'?\n");
}

TEST_F(OwnKernel, AnEntryThatTheTemplateLacksIsAnsweredInTheSpec) {
  edit("mine/spec.toml", "\"polynomial_naive\"", "\"polynomial_nave\"");
  const Output output = kiln("render ./mine --problem n=1001");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(
      output.err,
      "kiln: error: ./mine/spec.toml:72:1: a step launches 'polynomial_nave', but the text "
      "rendered from ./mine/naive.inja has no such kernel; did you mean 'polynomial_naive'?\n");
}

TEST_F(OwnKernel, AnImpossibleConstraintIsNamedWithWhatItCut) {
  const std::string rule = "require = \"block_size <= device.max_threads_per_block\"";
  std::string spec = read_text(folder_ / "mine/spec.toml");
  for (std::size_t at = 0; (at = spec.find(rule, at)) != std::string::npos;) {
    spec.replace(at, rule.size(), "require = \"block_size > 2048\"");
  }
  write("mine/spec.toml", spec);
  expect_refused("kiln: error: no config of polynomial is legal for n=1001 on ");
  EXPECT_THAT(tune().err,
              HasSubstr("\n  naive: 'block_size > 2048' (the device cannot hold a larger "
                        "block) refuses 6 of 6 combinations\n"));
}

TEST_F(OwnKernel, AKernelThatWritesOutOfBoundsIsAWrongResultAndTheOthersGoOn) {
  edit("mine/naive.inja", "if (i < n) y[i]", "y[i]");
  const Output output = tune();
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const std::vector<std::string> all = outcomes();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], "wrong_result: wrote past the end of 'y': byte 0 behind it changed");
  EXPECT_EQ(all[1], "ok: ");
  EXPECT_THAT(output.out, HasSubstr("vector:block_size=256,loads=2"));
}

TEST_F(OwnKernel, AKernelThatDoesNotCompileNamesTheLineOfTheTemplate) {
  edit("mine/naive.inja", "if (i < n)", "if (i < m)");
  EXPECT_EQ(tune().exit_code, 0);
  const std::vector<std::string> all = outcomes();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0], StartsWith("compile_error: "));
  EXPECT_THAT(all[0], HasSubstr("naive.inja:10"));
  EXPECT_TRUE(all[0].find("'m'") != std::string::npos) << all[0];
  EXPECT_EQ(all[1], "ok: ");
}

TEST_F(OwnKernel, ThatNothingElseProvesSaysSoAtTheEnd) {
  const std::string doubt =
      "polynomial: proved only against its own variant 'naive'; what that computes was not checked "
      "by a CPU loop or a formula ([verify] of the spec)\n";
  EXPECT_THAT(tune().out, Not(HasSubstr(doubt)));
  edit("mine/spec.toml", "[verify.formulas]\ny = \"a * x * x + b * x + c\"",
       "[verify]\ndevice_reference = \"naive\"");
  const Output output = tune();
  EXPECT_THAT(output.out, HasSubstr(doubt)) << output.err;
  const Output again = tune();  // answered from the database
  EXPECT_THAT(again.out, HasSubstr(doubt));
}

TEST_F(OwnKernel, OfAnotherFolderButTheSameNameHasBestsOfItsOwn) {
  ASSERT_EQ(tune().exit_code, 0);
  copy_kernel("examples/polynomial", "other");
  edit("other/spec.toml", "a * x * x + b * x + c", "a * x * x - b * x + c");
  const auto grade = [&](const std::string& kernel) {
    return kiln_json({"best", kernel, "--problem", "n=1001", "--db", "kiln.db", "--json"})["grade"];
  };
  EXPECT_EQ(grade("./mine"), "exact");
  EXPECT_EQ(grade("./other"), "default");
}

TEST_F(OwnKernel, NothingValidIsExitCodeOne) {
  edit("mine/naive.inja", "FMA(FMA(a, x[i], b), x[i], c)", "a");
  const Output output = tune("--variant naive");
  EXPECT_EQ(output.exit_code, 1) << output.err;
  EXPECT_THAT(output.out, HasSubstr("no config of variant naive was ok"));
}

}  // namespace
}  // namespace kiln::cli
