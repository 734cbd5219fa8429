// `kiln space`: sizes and constraints of a kernel's space, and of files that describe one.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kSpaceKernels = KILN_SOURCE_DIR "/tests/cli/kernels";

constexpr const char* kSpaces = R"({"spaces": [
  {"name": "tiles", "parameters": {"x": [1, 2, 4, 8], "y": [1, 2, 3, 4], "free": [0, 1, 2]},
   "constraints": ["x * y <= 8", "x % y == 0 or y == 1", "x > 0"],
   "cartesian_size": 48, "valid_size": 18}
]})";

class SpaceCommand : public ProgramTest {
 protected:
  std::string file(const std::string& text) {
    write("space.json", text);
    return (folder_ / "space.json").string();
  }
};

TEST_F(SpaceCommand, CountsTheConfigsOfAFile) {
  const Output output = kiln({"space", "--file", file(kSpaces), "--json"});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json space = Json::parse(output.out)["spaces"][0];
  EXPECT_EQ(space["name"], "tiles");
  EXPECT_EQ(space["combinations"], 48);
  EXPECT_EQ(space["configs"], 18);
  EXPECT_EQ(space["exact"], true);
  EXPECT_EQ(space["expected_configs"], 18);
  EXPECT_EQ(space["parts"], Json({2, 1}));
  EXPECT_EQ(space["constraints"][0]["rule"], "x * y <= 8");
  EXPECT_EQ(space["constraints"][0]["kind"], "constraint");
  EXPECT_GT(space["build_ns"], 0);
}

TEST_F(SpaceCommand, AProblemThatNoConfigCanRunIsRefusedWithTheNumber) {
  const Output output = kiln("space reduce --problem n=3e12 --arch sm_90a");
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_EQ(output.err.find("kiln: error: no config of reduce can run n=3000000000000 "), 0U)
      << output.err;
  EXPECT_THAT(output.err,
              HasSubstr("needs 12 TB for its arguments (12 TB for 'in'), the device has "));
  const Output best = kiln("prebuild reduce --problem n=3e12 --arch sm_90a");
  EXPECT_EQ(best.exit_code, 3) << best.err;
}

TEST_F(SpaceCommand, TellsWhatEachConstraintCuts) {
  const Output output = kiln({"space", "--file", file(kSpaces)});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("tiles       18            48"));
  EXPECT_THAT(output.out, HasSubstr("\ntiles: rule           kind        cut  because\n"));
  EXPECT_THAT(output.out, HasSubstr("\ntiles: 1 constraint cut nothing\n"));
}

TEST_F(SpaceCommand, ReportsACountThatTheFileStatesDifferently) {
  std::string text = kSpaces;
  text.replace(text.find("\"valid_size\": 18"), 16, "\"valid_size\": 25");
  const Output output = kiln({"space", "--file", file(text)});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.out, HasSubstr("\ntiles: 18 configs, but the file says 25\n"));
}

TEST_F(SpaceCommand, ASpaceWithoutConfigsIsAnAnswerAndAFailure) {
  const Output output =
      kiln({"space", "--file", file(R"({"spaces": [{"name": "none", "parameters": {"x": [1, 2]},
                                       "constraints": ["x % (x - 1) > 4"]}]})"),
            "--json"});
  EXPECT_EQ(output.exit_code, 1);
  const Json space = Json::parse(output.out)["spaces"][0];
  EXPECT_EQ(space["configs"], 0);
  EXPECT_NE(space["constraints"][0]["first_fault"].get<std::string>().find("division by zero"),
            std::string::npos);
}

TEST_F(SpaceCommand, CountsTheConfigsOfAKernel) {
  const Words words = {"space",       "scale",  "--problem", "n=1000", "--kernel-path",
                       kSpaceKernels, "--arch", "sm_80",     "--json"};
  const Output output = kiln(words);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json space = Json::parse(output.out)["spaces"][0];
  EXPECT_EQ(space["name"], "plain");
  EXPECT_EQ(space["combinations"], 32);
}

TEST_F(SpaceCommand, TellsTheRulesOfTheSpecFromTheLimitsOfTheDevice) {
  const Words words = "space reduce --problem n=1000 --arch sm_80";
  const Output output = kiln(words);
  EXPECT_THAT(output.out, HasSubstr("launch limits cut nothing\n"));
}

TEST_F(SpaceCommand, AConstraintThatCannotBeReadIsAnErrorWithItsPlace) {
  std::string text = kSpaces;
  text.replace(text.find("x > 0"), 5, "x ~ 0");
  const Output output = kiln({"space", "--file", file(text)});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.err,
            "kiln: error: " + file(text) +
                ":3:61: expected an operator or the end of the expression, found '~'\n");
}

TEST_F(SpaceCommand, NeedsAKernelOrAFile) {
  EXPECT_EQ(kiln("space").exit_code, 2);
  EXPECT_EQ(kiln("space").err, "kiln: error: expected a KERNEL or --file, one of the two\n");
  const Output missing = kiln("space --file /nowhere.json");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err,
            "kiln: error: /nowhere.json: there is no such file; expected a T1 "
            "file or a list of spaces\n");
}

}  // namespace
}  // namespace kiln::cli
