// `kiln prove`: one call, one config, every check.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

class Prove : public TuningTest {
 protected:
  [[nodiscard]] static Words prove_scale(const Words& more) {
    Words words = {"prove",     KILN_SOURCE_DIR "/tests/cli/kernels/scale",
                   "--problem", "n=100",
                   "--device",  "opencl:0",
                   "--config",  "default"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Puts a program in the place of compute-sanitizer, which writes down its command line.
  [[nodiscard]] Environment sanitizer(const std::string& prints, int exit_code) const {
    write("bin/compute-sanitizer", "#!/bin/sh\necho \"$*\" >> '" + (folder_ / "calls").string() +
                                       "'\necho '" + prints + "'\nexit " +
                                       std::to_string(exit_code) + "\n");
    fs::permissions(folder_ / "bin/compute-sanitizer", fs::perms::owner_all);
    return {{"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}};
  }
};

TEST_F(Prove, SaysWhatWasTriedAndStoresNothing) {
  const Output proved = kiln(prove_scale({}));
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_THAT(proved.out, HasSubstr("proved by the formulas of the spec; "));
  EXPECT_THAT(proved.out, HasSubstr("  tried: "));
  EXPECT_FALSE(fs::exists(folder_ / "kiln.db"));
}

TEST_F(Prove, RunsItselfUnderEachToolOfTheSanitizer) {
  const Output proved = kiln(prove_scale("--sanitizer"), sanitizer("ERROR SUMMARY: 0 errors", 0));
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  const std::string calls = read_text(folder_ / "calls");
  for (const std::string tool : {"memcheck", "racecheck", "initcheck"}) {
    EXPECT_THAT(proved.out, HasSubstr("compute-sanitizer " + tool + ": no errors"));
    EXPECT_THAT(calls, HasSubstr("--tool " + tool + " --target-processes all"));
  }
  EXPECT_THAT(calls, HasSubstr(" prove " KILN_SOURCE_DIR "/tests/cli/kernels/scale --config "));
  EXPECT_THAT(calls, HasSubstr(" --device opencl:0 --problem n=100"));
}

TEST_F(Prove, AnErrorOfTheSanitizerIsNoProof) {
  for (const auto& [prints, code] : {std::pair("ERROR SUMMARY: 3 errors", 99),
                                     std::pair("ERROR SUMMARY: 0 errors", 99), std::pair("", 0)}) {
    const Output refused = kiln(prove_scale("--sanitizer"), sanitizer(prints, code));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.out,
                HasSubstr(std::string("compute-sanitizer memcheck: errors\n") + prints));
  }
}

TEST_F(Prove, ASanitizerThatIsNotThereIsNamed) {
  const Output refused = kiln(prove_scale("--sanitizer"), {{"PATH", "/usr/bin:/bin"}});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("--sanitizer needs compute-sanitizer, which is not in PATH"));
}

}  // namespace
}  // namespace kiln::cli
