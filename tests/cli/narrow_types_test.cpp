// The element types of 8 bits go the road of any other: drawn, computed, checked, timed, stored.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

class NarrowTypes : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    copy_kernel("tests/cli/kernels/narrow", "narrow");
  }

  /// The outcome and message of each trial of a session over all configs.
  [[nodiscard]] std::vector<std::string> tune(const std::string& dtype, int exit_code = 0) const {
    const Output output =
        kiln({"tune", "./narrow", "--problem", "n=1001 dtype=" + dtype, "--device", "opencl",
              "--trials", "2", "--db", "kiln.db", "--warm-cache"});
    EXPECT_EQ(output.exit_code, exit_code) << dtype << ": " << output.err;
    std::vector<std::string> all;
    const Json session = kiln_json("show latest --json --db kiln.db");
    for (const Json& row : session["rows"]) {
      all.push_back(row["outcome"].get<std::string>() + ": " + row["message"].get<std::string>());
    }
    return all;
  }
};

TEST_F(NarrowTypes, AreTunedAndFoundAgain) {
  for (const std::string dtype : {"i8", "e4m3", "e5m2"}) {
    EXPECT_EQ(tune(dtype), (std::vector<std::string>{"ok: ", "ok: "})) << dtype;
    const Json best = kiln_json(
        {"best", "./narrow", "--db", "kiln.db", "--json", "--problem", "n=1001 dtype=" + dtype});
    EXPECT_EQ(best["grade"], "exact") << dtype;
  }
}

TEST_F(NarrowTypes, AKernelThatTakesOneForAnotherIsWrong) {
  edit("narrow/plain.inja", "load(dtype, \"x[i]\")", "load(\"e5m2\", \"x[i]\")");
  for (const std::string& outcome : tune("e4m3", 1))
    EXPECT_THAT(outcome, StartsWith("wrong_result: "));
}

}  // namespace
}  // namespace kiln::cli
