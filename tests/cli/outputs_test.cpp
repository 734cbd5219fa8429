// What commands write replaces no file that it should not, and says why it cannot be written.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cstdlib>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

class Outputs : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    copy_kernel("tests/cli/kernels/scale", "scale");
    ASSERT_EQ(kiln(tune_scale("--trials 2")).exit_code, 0);
  }

  void expect_refused(const Words& words, int code, const std::string& message) const {
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, code) << output.out;
    EXPECT_EQ(output.err, "kiln: error: " + message + "\n");
  }
};

TEST_F(Outputs, NeverReplaceADatabase) {
  const std::string fault = "kiln.db: cannot be written: it is a database; name another file";
  expect_refused("report --db kiln.db -o kiln.db", 2, fault);
  expect_refused("db export kiln.db --db kiln.db", 2, fault);
  expect_refused("db lock kiln.db --db kiln.db", 2, fault);
  EXPECT_EQ(kiln("db check kiln.db").out, "kiln.db: sound\n");
}

TEST_F(Outputs, APublishedCopyReplacesDatabasesOnly) {
  write("plan.toml", "name = \"nightly\"\n");
  expect_refused("db publish plan.toml --db kiln.db", 5,
                 "plan.toml: is no database; publish to another file");
  EXPECT_EQ(read_text(folder_ / "plan.toml"), "name = \"nightly\"\n");
}

TEST_F(Outputs, AnAddressOfSqliteIsNoDatabase) {
  for (const char* name : {"file:kiln.db", "file:x?mode=memory", "new/"}) {
    expect_refused({"show", "--db", name}, 5,
                   "'" + std::string(name) + "' names no database file; name one with --db");
  }
}

TEST_F(Outputs, AnExportSparesTheFolderOfItsKernel) {
  expect_refused(
      "export ./scale --problem n=100 --device opencl --db kiln.db --source scale", 2,
      "scale: is the folder of the kernel, whose files would be replaced; name another one");
}

TEST_F(Outputs, GoThroughAPipeThatALinkNames) {
  std::filesystem::create_symlink("/proc/self/fd/1", folder_ / "pipe");
  const std::string line = "cd '" + folder_.string() +
                           "' && '" KILN_PROGRAM
                           "' db export pipe --db kiln.db | grep -c scale > count";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "pipe"));
}

TEST_F(Outputs, KeepTheModeOfTheFileTheyReplace) {
  write("report.html", "");
  ::chmod((folder_ / "report.html").c_str(), 0600);
  ASSERT_EQ(kiln("report --db kiln.db -o report.html").exit_code, 0);
  struct stat facts {};
  ASSERT_EQ(::stat((folder_ / "report.html").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(Outputs, SayWhyTheyCannotBeWritten) {
  expect_refused("report --db kiln.db -o nowhere/report.html", 2,
                 "nowhere/report.html: cannot be written: No such file or directory");
}

TEST_F(Outputs, WhatCannotBeLookedAtIsAnInputError) {
  const std::string name(300, 'a');
  const Output output = kiln({"replay", name});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err, HasSubstr("cannot be read (File name too long)"));
}

}  // namespace
}  // namespace kiln::cli
