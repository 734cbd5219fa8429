// Edited kernels, and limits.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Limits = TuningTest;
using ::testing::Not;

// What an edit of a kernel costs: the trials that it changes, and no others.

constexpr const char* kEdited = "mine/spec.toml";

/// Four configs, all tried before each edit.
class Editing : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    copy_kernel("tests/cli/kernels/scale", "mine");
    edit(kEdited, "values = [1, 2, 4, 8, 16, 32, 64, 128]", "values = [16, 32]");
    edit(kEdited, "values = [1, 2, 4, 8]\n", "values = [1, 8]\n");
    first_ = tune();
    ASSERT_EQ(first_["earlier_trials"], 0);
    ASSERT_EQ(first_["trials"], first_["space_size"]);
  }
  [[nodiscard]] Json tune(const Words& more = {}) const { return tune_and_listen(more).first; }
  /// The summary, and what stderr said.
  [[nodiscard]] std::pair<Json, std::string> tune_and_listen(const Words& more = {}) const {
    Words words =
        "tune ./mine --problem n=100 --device opencl --db kiln.db --strategy exhaustive --json "
        "--warm-cache --compile-workers 1";
    words.insert(words.end(), more.begin(), more.end());
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    return {Json::parse(output.out)["sessions"][0], output.err};
  }
  [[nodiscard]] std::int64_t all() const { return first_["trials"]; }

  Json first_;
};

TEST_F(Editing, ADocStringCostsNothing) {
  edit(kEdited, "doc = \"threads per block\"", "doc = \"threads of a block\"");
  const auto [session, said] = tune_and_listen();
  EXPECT_EQ(session["session"], 2);
  EXPECT_EQ(session["earlier_trials"], all());
  EXPECT_EQ(session["trials"], all());
  EXPECT_TRUE(session["config_text"].is_string()) << "the finals run all the same";
  EXPECT_THAT(
      said, HasSubstr(std::to_string(all()) + " trials of session 1 hold and are not run again, 0 "
                                              "changed by an edit"));
  EXPECT_EQ(tune("--fresh")["earlier_trials"], 0);
}

TEST_F(Editing, AnAddedValueCostsItsOwnConfigs) {
  edit(kEdited, "values = [1, 8]\n", "values = [1, 3, 8]\n");
  const Json session = tune();
  EXPECT_EQ(session["earlier_trials"], all());
  EXPECT_EQ(session["trials"], session["space_size"]);
  EXPECT_GT(session["trials"], all());
}

TEST_F(Editing, ANewVariantCostsItsOwnConfigs) {
  write("mine/other.inja",
        R"(KERNEL(32, 1, 1) scale_other(GLOBAL const f32* x, GLOBAL f32* y, i64 n) {
  const i64 i = (i64)BLOCK_X * 32 + THREAD_X;
  if (i < n) y[i] = x[i] + x[i];
}
)");
  edit(kEdited, "[[variants]]\nname = \"plain\"", R"toml([[variants]]
name = "other"
template = "other.inja"
[[variants.steps]]
entry = "scale_other"
grid = ["ceil_div(n, 32)"]
block = [32]
arguments = ["x", "y", "n"]

[[variants]]
name = "plain")toml");
  const Json session = tune();
  EXPECT_EQ(session["earlier_trials"], all());
  EXPECT_EQ(session["trials"], all() + 1);
  const Json rows = kiln_json("show 2 --json --db kiln.db")["rows"];
  EXPECT_EQ(rows[0]["config"]["variant"], "other") << "the default config is trial 1 still";
}

TEST_F(Editing, ARenamedTunableCostsEverything) {
  edit(kEdited, "[variants.tunables.items]", "[variants.tunables.each]");
  edit(kEdited, "value = \"block_size * items\"", "value = \"block_size * each\"");
  edit(kEdited, "require = \"block_size * items <= 256\"",
       "require = \"block_size * each <= 256\"");
  edit(kEdited, "ceil_div(n, block_size * items)", "ceil_div(n, block_size * each)");
  const std::string text = read_text(folder_ / "mine/plain.inja");
  std::string renamed = text;
  for (std::size_t at = 0; (at = renamed.find("{{ items }}", at)) != std::string::npos;)
    renamed.replace(at, 11, "{{ each }}");
  write("mine/plain.inja", renamed);
  const auto [session, said] = tune_and_listen();
  EXPECT_EQ(session["earlier_trials"], 0);
  EXPECT_THAT(said, HasSubstr("0 trials of session 1 hold and are not run again, " +
                              std::to_string(all()) + " changed by an edit"));
}

TEST_F(Editing, ABranchOfTheTemplateCostsTheConfigsThatTakeIt) {
  edit("mine/plain.inja", "{{ items }} && i < n; ++i) y[i] = 2 * x[i];",
       "{{ items }} && i < n; ++i) y[i] = {% if items == 8 %}x[i] + x[i]{% else %}2 * x[i]{% endif "
       "%};");
  const Json rows = kiln_json("show 1 --json --db kiln.db")["rows"];
  const auto take_it = std::count_if(rows.begin(), rows.end(), [](const Json& row) {
    return row["config"]["tunables"]["items"] == 8;
  });
  ASSERT_GT(take_it, 0);
  const Json session = tune();
  EXPECT_EQ(session["earlier_trials"], all() - take_it);
  EXPECT_EQ(session["trials"], all());
}

TEST_F(Editing, AnotherGridCostsEverythingThoughTheSourceIsTheSame) {
  edit(kEdited, "ceil_div(n, block_size * items)", "ceil_div(n, block_size * items) + 0");
  EXPECT_EQ(tune()["earlier_trials"], 0);
}

TEST_F(Editing, ATighterToleranceCostsEverything) {
  edit(kEdited, "[cost]", "[verify]\ntolerance = \"1e-9\"\n\n[cost]");
  EXPECT_EQ(tune()["earlier_trials"], 0);
}

// The program at limits of the system: one sentence, an exit code that says whose trouble it is,
// and nothing left half done.

Environment refusing(const std::string& what, Environment more = {}) {
  more.emplace_back("LD_PRELOAD", KILN_FAILING_CALLS);
  more.emplace_back("KILN_FAIL", what);
  return more;
}

TEST_F(Limits, AFileSystemWithoutLocksIsNotABusyDatabase) {
  const Output refused = kiln(tune_scale("--trials 2"), refusing("flock:0"));
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("kiln.db.writer cannot be taken: No locks available; name a "
                                     "file on another file system with --db"));
}

TEST_F(Limits, ASweepWhoseSecondThreadIsRefusedEndsInOrder) {
  write("two.plan.toml", "name = \"two\"\n[defaults]\ntrials = 3\n[[kernels]]\nkernel = \"" +
                             std::string(KILN_SOURCE_DIR "/tests/cli/kernels/scale") +
                             "\"\nproblems = [\"n=100\", \"n=101\"]\n");
  const Output refused = kiln("sweep two.plan.toml --db kiln.db --device opencl:0,opencl:1",
                              refusing("thread:2", {{"POCL_DEVICES", "pthread basic"}}));
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("the system starts no further thread"));
  for (const char* left : {"kiln.db-wal", "kiln.db.writer"})
    EXPECT_FALSE(fs::exists(folder_ / left)) << left;
}

TEST_F(Limits, WithoutALinkerNoConfigIsBlamed) {
  const Output refused = kiln(tune_scale("--trials 1"), {{"PATH", "/nowhere"}});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("needs the linker 'ld', and no folder of PATH has it (PATH is "
                                     "'/nowhere'): install binutils or mend PATH"));
  EXPECT_THAT(refused.out, Not(HasSubstr("device_fault")));
}

TEST_F(Limits, UnderATightLimitOfTheShellNoConfigIsBlamed) {
  const auto proved_under = [&](const std::string& limit) {
    const std::string command =
        "cd '" + folder_.string() + "' && HOME=. bash -c \"ulimit " + limit +
        "; exec '" KILN_PROGRAM "' prove '" KILN_SOURCE_DIR
        "/tests/cli/kernels/scale' --problem n=100 --config default --device opencl:0\" "
        "2>&1 | cat > out";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_text(folder_ / "out");
  };
  const std::vector<std::pair<std::string, std::string>> limits = {
      {"-v 153600", "limits memory to 150 MiB (`ulimit -v`)"},
      {"-v 307200", "limits memory to 300 MiB (`ulimit -v`)"},
      {"-v 999424", "limits memory to 976 MiB (`ulimit -v`)"},
      {"-d 102400", "limits data to 100 MiB (`ulimit -d`)"},
      {"-f 1", "limits the size of a file to 1 KiB (`ulimit -f`)"},
      {"-f 64", "limits the size of a file to 64 KiB (`ulimit -f`)"}};
  for (const auto& [limit, sentence] : limits)
    EXPECT_THAT(proved_under(limit), AllOf(HasSubstr(sentence), Not(HasSubstr("compile_"))))
        << limit;
  // Which of these is too few depends on what this test's own starter left open.
  for (int files = 10; files < 17; ++files)
    EXPECT_THAT(proved_under(fmt::format("-n {}", files)),
                AnyOf(HasSubstr("proved by"), HasSubstr("`ulimit -a` shows the limits"),
                      HasSubstr(fmt::format("limits open files to {} (`ulimit -n`)", files))));
}

TEST_F(Limits, ADatabaseThatIsRemovedOrReplacedEndsTheSessionAtOnce) {
  for (const char* deed : {"removed", "replaced"}) {
    for (const char* suffix : {"", "-wal", "-shm", ".writer"})
      fs::remove((folder_ / "kiln.db").string() + suffix);
    RunningKiln running(folder_, tune_scale("--seconds 600 --strategy random"));
    while (!running.has_ended() && !fs::exists(folder_ / "kiln.db-wal")) ::usleep(10'000);
    ::usleep(300'000);
    if (deed == std::string("replaced")) {
      write("other.db", "");
      fs::rename(folder_ / "other.db", folder_ / "kiln.db");
    } else {
      fs::remove(folder_ / "kiln.db");
    }
    const Output ended = running.output();
    EXPECT_EQ(ended.exit_code, 5) << deed << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("kiln.db: was removed, or replaced by another file")) << deed;
    EXPECT_EQ(ended.out, "") << deed;
  }
}

TEST_F(Limits, ALockOfAnotherProgramIsWaitedFor) {
  ASSERT_EQ(kiln(tune_scale("--trials 2")).exit_code, 0);
  std::optional<SQLite::Database> other;
  other.emplace((folder_ / "kiln.db").string(), SQLite::OPEN_READWRITE);
  other->exec("BEGIN IMMEDIATE");
  RunningKiln running(folder_, tune_scale("--trials 3 --patience 600"));
  while (!running.has_ended() && running.error_text().find("waiting, 600 s") == std::string::npos)
    ::usleep(20'000);
  other->exec("ROLLBACK");
  other.reset();
  const Output done = running.output();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("is locked by another program; waiting"));
  EXPECT_EQ(kiln_json("db info kiln.db --json")["trials"], 3);
}

TEST_F(Limits, ASizeLimitOfFilesIsASentenceAndNoSignal) {
  const std::string line = "cd '" + folder_.string() +
                           "' && ulimit -f 64 && HOME=. '" KILN_PROGRAM "' tune '" KILN_SOURCE_DIR
                           "/tests/cli/kernels/scale' --problem n=100 --trials 2 --device opencl "
                           "--patience 0 --db small.db 2> err; echo $? > code";
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(read_text(folder_ / "code"), "5\n") << read_text(folder_ / "err");
  EXPECT_THAT(read_text(folder_ / "err"), HasSubstr("`ulimit -f`"));
}

}  // namespace
}  // namespace kiln::cli
