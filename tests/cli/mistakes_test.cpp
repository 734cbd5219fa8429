// What a user can get wrong: each mistake has its exit code and one message with the place in it.
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

struct Mistake {
  Words words;
  int exit_code;
  std::string message;  ///< how stderr goes on after "kiln: error: "
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  for (const std::string& word : mistake.words) *out << word << ' ';
}

class Mistakes : public ProgramTest, public testing::WithParamInterface<Mistake> {
 protected:
  void SetUp() override {
    write("not_a_database.db", "a text that somebody wrote\n");
    SQLite::Database(folder_ / "other.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE addresses (name TEXT)");
    std::filesystem::create_directory(folder_ / "folder");
    write("broken.toml", "name = \"plan\"\n[[kernels]\n");
    write("plan.toml", plan("problems = [\"n=10\"]\n"));
    write("key.toml", plan("problems = [\"n=10\"]\nsecond = 3\n"));
    write("problem.toml", plan("problems = [\n  \"n=10\",\n  \"n=0\",\n]\n"));
    write("strategy.toml", plan("problems = [\"n=10\"]\nstrategy = \"rndom\"\n"));
    write("timing.toml", plan("problems = [\"n=10\"]\ntiming = \"cold\"\n"));
    write("variant.toml", plan("problems = [\"n=10\"]\nvariants = [\"gat\"]\n"));
    write("kernel.toml",
          "name = \"plan\"\n\n[[kernels]]\nkernel = \"reduze\"\nproblems = [\"n=10\"]\n");
    write("empty.toml", "name = \"plan\"\n");
  }

  static std::string plan(const std::string& rest) {
    return "name = \"plan\"\n\n[[kernels]]\nkernel = \"reduce\"\n" + rest;
  }
};

TEST_P(Mistakes, AreAnsweredWithCodeAndPlace) {
  const Mistake& mistake = GetParam();
  const Output output = kiln(mistake.words);
  EXPECT_EQ(output.exit_code, mistake.exit_code);
  EXPECT_EQ(output.out, "");
  const std::string expected = "kiln: error: " + mistake.message;
  EXPECT_EQ(output.err.substr(0, expected.size()), expected);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db")) << "nothing was begun";
}

class HomelessUser : public ProgramTest {};

TEST_F(HomelessUser, MustNameTheDatabase) {
  const Environment homeless = {{"HOME", ""}};
  for (const Words& words : {Words("db info"), Words("show")}) {
    const Output output = kiln(words, homeless);
    EXPECT_EQ(output.exit_code, 5);
    EXPECT_EQ(output.err,
              "kiln: error: there is no place for the database: none of KILN_DB, XDG_DATA_HOME and "
              "HOME is set; name a file with --db or KILN_DB\n");
  }
  EXPECT_EQ(kiln("sweep --requested", homeless).err,
            "kiln: error: --requested: name the file that KILN_STATISTICS named with --requests\n");
  EXPECT_EQ(kiln("best reduce --problem n=10 --device sm_80", homeless).exit_code,
            kiln("best reduce --problem n=10 --device sm_80").exit_code);
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".local"));
}

INSTANTIATE_TEST_SUITE_P(
    OfUsage, Mistakes,
    testing::Values(
        Mistake{"tun", 2, "there is no command 'kiln tun'; did you mean 'tune'? (there are: "},
        Mistake{"db inf", 2,
                "there is no command 'kiln db inf'; did you mean 'info'? (there are: info, check, "
                "publish, "},
        Mistake{"db", 2, "kiln db expects a command: info, check, publish"},
        Mistake{"tune", 2, "kernel is required (see kiln tune --help)\n"},
        Mistake{"tune reduce --frob", 2,
                "The following argument was not expected: --frob (see kiln tune --help)\n"},
        Mistake{"tune reduce --trial 5", 2,
                "The following arguments were not expected: --trial 5; did you mean '--trials'? "
                "(see kiln tune --help)\n"},
        Mistake{
            "tune reduce one two three", 2,
            "The following arguments were not expected: one two three (see kiln tune --help)\n"},
        Mistake{"show --csv", 2,
                "--csv, --where and --failures are about one session: name it, or latest"},
        Mistake{"show --sort tme", 2,
                "--sort: there is no column 'tme'; did you mean 'time'? (there are: time, trial, "},
        Mistake{
            "tune reduce n=10", 2,
            "The following argument was not expected: n=10; did you mean '--problem n=10'? (see"},
        Mistake{"tune reduce --problem n=10 --frob", 2,
                "The following argument was not expected: --frob (see kiln tune --help)\n"},
        Mistake{"--versoin", 2, "there is no option '--versoin'; did you mean '--version'? (see "},
        Mistake{"sweep other.db", 3, "other.db: is a database; expected a plan file"},
        Mistake{"db import other.db", 3, "other.db: is a database; expected text, "},
        Mistake{"space reduce --problem n=10 --device auto --arch sm_80", 2,
                "--device excludes --arch (see kiln space --help)\n"},
        Mistake{"show 1 2", 2, "expected one session or a database, not '2'\n"},
        Mistake{"db rm --db other.db", 2, "session is required"},
        Mistake{"tune reduce --problem n=10 --problem m=10", 3,
                "--problem m=10: reduce has no problem field 'm' (it has: n, results, dtype, op, "
                "map, source, axis) (each --problem is a whole problem)\n"},
        Mistake{"tune reduce --trials 0", 2,
                "--trials: must be a whole number of 1 or more, not '0' (see kiln tune --help)\n"},
        Mistake{"tune reduce --trials -3", 2, "--trials: must be a whole number"},
        Mistake{"tune reduce --seconds -1", 2, "--seconds: must be a number above 0"},
        Mistake{"tune reduce --seconds 0", 2, "--seconds: must be a number above 0, "},
        Mistake{"tune reduce --no-progress 0", 2, "--no-progress: must be a whole num"},
        Mistake{"tune reduce --seed -1", 2, "--seed: must be a whole number of 0 or"},
        Mistake{"tune reduce --compile-workers -1", 2, "--compile-workers: must be a "},
        Mistake{"tune reduce --strategy rndom", 2,
                "--strategy: there is no strategy 'rndom'; did you mean 'random'? (there are: "
                "auto, annealing, bandit, "},
        Mistake{"show --top -1", 2, "--top: must be a whole number of 0 or more"},
        Mistake{{"show", "--db", ""}, 2, "--db: must name a file or a server, not ''"},
        Mistake{"db info a.db --db b.db", 2, "the database is named twice, as FILE and by --db\n"},
        Mistake{"sweep key.toml --json --markdown", 2, "--markdown and --json exclude "},
        Mistake{"sweep --requested --kernel reduce", 2,
                "--requested and --kernel exclude each other (see kiln sweep --help)\n"},
        Mistake{"worker --kind odd", 2, "kiln worker is for Kiln itself"}));

INSTANTIATE_TEST_SUITE_P(
    OfInput, Mistakes,
    testing::Values(
        Mistake{"tune reduze --problem n=10 --db new.db", 3,
                "unknown kernel 'reduze'; did you mean 'reduce'? (there are arg_reduce, "
                "convolution, histogram, matmul, normalize, preprocess, reduce, scan, transpose; "
                "searched: built into kiln)\n"},
        Mistake{"tune gemm --problem m=8", 3,
                "unknown kernel 'gemm'; did you mean 'matmul'? (there are arg_reduce, "},
        Mistake{"tune matmul --problem M=8,n=8,k=8", 3,
                "matmul has no problem field 'M'; did you mean 'm'? (it has: m, n, k, "},
        Mistake{"tune reduce --problem n=10 --device OpenCL", 4,
                "there is no device 'OpenCL'; did you mean 'opencl'? (there are: auto, cuda, "},
        Mistake{
            "tune ./folder", 3,
            "./folder: no spec.toml here: a kernel is a folder with spec.toml and its templates\n"},
        Mistake{"tune ./gone", 3,
                "./gone: there is no such folder: a kernel is a folder with spec.toml\n"},
        Mistake{"tune reduce --kernel-path nowhere", 3, "nowhere: no such folder"},
        Mistake{"tune reduce --problem n=ten --db new.db", 3,
                "problem field 'n' of reduce must be an integer of at least 1, not 'ten'; integers "
                "are below 2^63 and read as 4096, 2^12, 4e3 or 4Ki\n"},
        Mistake{"tune reduce --db new.db", 3,
                "problem field 'n' of reduce is missing: an integer of at least 1\n"},
        Mistake{"best reduce --problem n=10,size=3", 3,
                "reduce has no problem field 'size' (it has: n, results, dtype, op, map, source, "
                "axis)\n"},
        Mistake{"tune reduce --problem n=10 --variant gat --db new.db", 3,
                "reduce has no variant 'gat'; did you mean 'gate'? (it has: "},
        Mistake{"render reduce --problem n=10 --config gat", 3, "reduce has no variant 'gat'"},
        Mistake{"render reduce --problem n=10 --config atomic:block=7", 3,
                "variant 'atomic' has no tunable 'block' (it has: block_size)\n"},
        Mistake{"render reduce --problem n=10 --config atomic:block_size=7", 3,
                "tunable 'block_size' must be one of 32, 64, 128, 256, 512, 1024, not '7'\n"},
        Mistake{{"render", KILN_SOURCE_DIR "/tests/cli/kernels/scale", "--problem", "n=10",
                 "--config", "plain:block_size=128,items=8"},
                3,
                "plain:block_size=128,items=8 cannot be launched on sm_90a: "},
        Mistake{{"render", KILN_SOURCE_DIR "/tests/cli/kernels/scale", "--problem", "n=10",
                 "--config", "plain:block_size=128,items=8", "--backend", "opencl"},
                3,
                "plain:block_size=128,items=8 cannot be launched on opencl: "}));

INSTANTIATE_TEST_SUITE_P(
    OfPlans, Mistakes,
    testing::Values(
        Mistake{"sweep nowhere.toml", 3,
                "nowhere.toml: there is no such file; expected a plan file"},
        Mistake{"sweep folder", 3, "folder: is a folder; expected a plan file"},
        Mistake{"sweep broken.toml", 3, "broken.toml:2:11: not valid TOML: "},
        Mistake{
            "sweep timing.toml", 3,
            "timing.toml:6:1: [[kernels]]: 'timing' must be \"eager\" or \"graph\", not 'cold'"},
        Mistake{"tune reduce --problem n=10 --timing cold", 2,
                "--timing: expected eager or graph, not 'cold'"},
        Mistake{"sweep empty.toml", 3, "empty.toml: the plan has no problem"},
        Mistake{"sweep key.toml --db new.db", 3,
                "key.toml:6:1: unknown key 'second' in [[kernels]]; did you mean 'seconds'?"},
        Mistake{"sweep problem.toml --db new.db", 3,
                "problem.toml:7:4: problem field 'n' of reduce must be an integer of at least 1, "
                "not '0'\n"},
        Mistake{"sweep strategy.toml --db new.db", 3,
                "strategy.toml:6:13: there is no strategy 'rndom'"},
        Mistake{"sweep plan.toml --kernel reduze --db new.db", 3,
                "plan.toml: the plan has no kernel 'reduze'; did you mean 'reduce'? (it has: "
                "reduce)\n"},
        Mistake{"sweep variant.toml --db new.db", 3,
                "variant.toml:6:12: reduce has no variant 'gat'"},
        Mistake{"sweep kernel.toml --db new.db", 3,
                "kernel.toml:4:11: unknown kernel 'reduze'; did you mean 'reduce'?"},
        Mistake{"sweep strategy.toml --strategy rndom --db new.db", 2, "--strategy: "}));

INSTANTIATE_TEST_SUITE_P(
    OfDevices, Mistakes,
    testing::Values(Mistake{"tune reduce --problem n=10 --device tpu:0 --db new.db", 4,
                            "there is no device 'tpu:0'; expected auto or one of:\n  "},
                    Mistake{"render reduce --problem n=10 --backend vulkan", 4,
                            "there is no backend 'vulkan' (there are: cuda, hip, opencl)\n"},
                    Mistake{
                        "render reduce --problem n=10 --backend hip --arch gfx1", 4,
                        "the limits of hip architecture 'gfx1' are not known (known: gfx900, "}));

INSTANTIATE_TEST_SUITE_P(
    OfDatabases, Mistakes,
    testing::Values(
        Mistake{"best reduce --problem n=10 --db new.db", 5,
                "new.db: there is no such database; `kiln tune` or `kiln sweep` creates one (--db "
                "names it)\n"},
        Mistake{"show --db new.db", 5, "new.db: there is no such database"},
        Mistake{"db check new.db", 5, "new.db: there is no such database"},
        Mistake{"show --db folder", 5, "folder: is a folder; --db or KILN_DB names a file in it\n"},
        Mistake{"db info :memory:", 5, "':memory:' names no database file"},
        Mistake{"show --db not_a_database.db", 5,
                "not_a_database.db: is no database, or damaged from its first bytes on"},
        Mistake{"show --db other.db", 5,
                "other.db: is an SQLite file of another program, not a Kiln database\n"},
        Mistake{"db publish copy.db --db other.db", 5, "other.db: is an SQLite file"}));

class DatabaseMistakes : public TuningTest {};

TEST_F(DatabaseMistakes, TuningLeavesTheDatabaseOfAnotherProgramAsItIs) {
  write("text.db", "a text that somebody wrote\n");
  const Output output = kiln(tune_scale("--db text.db"));
  EXPECT_EQ(output.exit_code, 2) << "--db is named twice";

  const Output by_variable =
      kiln("tune reduce --problem n=10 --device opencl", {{"KILN_DB", "text.db"}});
  EXPECT_EQ(by_variable.exit_code, 5);
  EXPECT_THAT(by_variable.err, StartsWith("kiln: error: text.db: is no database"));
  EXPECT_EQ(read_text(folder_ / "text.db"), "a text that somebody wrote\n");
}

TEST_F(DatabaseMistakes, AVariableThatNamesNoDatabaseIsWarnedOf) {
  const Output output = kiln("best reduce --problem n=10", {{"KILN_DB", "typo.db"}});
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.err,
            "kiln: warning: typo.db: there is no such database, though KILN_DB names it\n");
}

TEST_F(DatabaseMistakes, AVariableThatNamesAFolderIsToldSo) {
  const Output output = kiln("show", {{"KILN_DB", folder_.string()}});
  EXPECT_EQ(output.exit_code, 5);
  EXPECT_EQ(output.err, "kiln: error: " + folder_.string() +
                            ": is a folder; --db or KILN_DB names a file in it\n");
}

}  // namespace
}  // namespace kiln::cli
