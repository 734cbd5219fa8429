// What the program shows on terminals of three sizes, kept word for word where every number is
// fixed. Golden files: tests/cli/golden/screens; KILN_UPDATE_GOLDEN=1 writes them anew.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/session_report.hpp"
#include "cli/text_layout.hpp"
#include "pty_program.hpp"
#include "shown_sessions.hpp"

namespace kiln::cli {
namespace {

using ::testing::Not;

namespace fs = std::filesystem;

constexpr TerminalSize kSizes[] = {{80, 24}, {120, 40}, {200, 50}};
constexpr const char* kShownKernels = KILN_SOURCE_DIR "/tests/cli/kernels";

/// Kept for the smallest and the largest terminal; between them only the width of lines is held.
void expect_golden(const std::string& name, const TerminalSize& size, const std::string& text) {
  if (size.columns == kSizes[1].columns) return;
  const fs::path path = fs::path(KILN_SOURCE_DIR) / "tests/cli/golden/screens" /
                        fmt::format("{}.{}x{}.txt", name, size.columns, size.rows);
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  EXPECT_EQ(text, read_text(path)) << path << " differs; KILN_UPDATE_GOLDEN=1 writes it anew";
}

void expect_no_line_wraps(const TerminalOutput& output, const TerminalSize& size,
                          const std::string& what) {
  for (const std::string& text : output.drawn())
    EXPECT_LE(columns_of(text), size.columns) << what << ": " << text;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class Screens : public ProgramTest {
 protected:
  void SetUp() override { write_shown_sessions(folder_ / "kiln.db"); }
  [[nodiscard]] TerminalOutput shown(const TerminalSize& size, Words words) const {
    words.insert(words.end(), {"--db", "kiln.db"});
    return run_on_terminal(folder_, size, words);
  }
  /// The command's screen at each size: golden but for the first `skipped` lines, and not a line
  /// wraps.
  void expect_screens(const std::string& name, const Words& words, std::size_t skipped = 0) const {
    for (const TerminalSize& size : kSizes) {
      const TerminalOutput output = run_on_terminal(folder_, size, words);
      EXPECT_EQ(output.exit_code, 0) << output.raw;
      expect_no_line_wraps(output, size, name);
      std::vector<std::string> lines = output.lines();
      ASSERT_GT(lines.size(), skipped);
      lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(skipped));
      expect_golden(name, size, joined(lines));
    }
  }
};

TEST_F(Screens, ListOfSessions) { expect_screens("show", {"show", "--db", "kiln.db"}); }

TEST_F(Screens, OneSession) {
  expect_screens("show_better", {"show", "1", "--db", "kiln.db"});
  expect_screens("show_no_default", {"show", "2", "--db", "kiln.db"});
  expect_screens("show_interrupted", {"show", "3", "--db", "kiln.db"});
}

TEST_F(Screens, TheAnswerOfASessionIsSeenWithoutScrolling) {
  for (const TerminalSize& size : kSizes) {
    const std::vector<std::string> lines = shown(size, {"show", "1"}).lines();
    EXPECT_LT(lines.size(), size.rows);
    ASSERT_GT(lines.size(), 4U);
    EXPECT_TRUE(std::any_of(lines.begin(), lines.begin() + 5, [](const std::string& line) {
      return line.starts_with("better: 36.1 us, 2.07x over the default config");
    })) << joined(lines);
  }
  const std::vector<std::string> all = shown(kSizes[0], {"show", "1", "--all"}).lines();
  EXPECT_GT(all.size(), std::size_t{kSizes[0].rows});
}

TEST_F(Screens, TrialsAreChosenAndOrdered) {
  const auto csv = [&](const Words& more) {
    return kiln(Words("show 1 --csv --db kiln.db") + more);
  };
  const std::string vectors = csv({"--where", "variant=vector"}).out;
  EXPECT_EQ(std::count(vectors.begin(), vectors.end(), '\n'), 4) << vectors;
  EXPECT_THAT(vectors,
              HasSubstr("26,launch_error,,0,0,,,,vector,4,entry transpose_vectr not found"));
  const std::string wide = csv({"--where", "tile_rows=64", "--where", "tile_cols=64"}).out;
  EXPECT_EQ(std::count(wide.begin(), wide.end(), '\n'), 3) << wide;
  EXPECT_THAT(wide, HasSubstr("message\n17,ok,36000,")) << "the fastest first";

  EXPECT_EQ(csv({"--where", "tile_row=64"}).err,
            "kiln: error: --where: the session has no 'tile_row'; did you mean 'tile_rows'? (it "
            "has: variant, outcome, tile_rows, tile_cols, threads, pad, raster, vector_bytes)\n");
  EXPECT_EQ(csv({"--where", "tile_rows=65"}).err,
            "kiln: error: --where: no trial of the session has tile_rows=65 (it has: 32, 16, 64, "
            "128)\n");
  EXPECT_EQ(csv({"--where", "tile_rows"}).exit_code, 2);
}

TEST_F(Screens, DatabaseInfoTellsKernelsDevicesAndDates) {
  expect_screens("db_info", {"db", "info", "kiln.db"}, 1);  // it tells the size of the file
  const Json info = kiln_json("db info kiln.db --json");
  ASSERT_EQ(info["by_kernel"].size(), 2U);
  EXPECT_EQ(info["by_kernel"][1]["name"], "transpose");
  EXPECT_EQ(info["by_kernel"][1]["problems"], 2);
  EXPECT_EQ(info["by_kernel"][1]["stale"], 0);
  EXPECT_EQ(info["by_device"][0]["sessions"], 3);
}

TEST_F(Screens, Best) {
  expect_screens("best_list", {"best", "transpose", "--db", "kiln.db", "--no-shipped"});
  const Words ask = "best transpose --db kiln.db --no-shipped --problem";
  Words tuned = ask;
  tuned.push_back("rows=4096,cols=4096");
  expect_screens("best", tuned);
  Words unfinished = ask;
  unfinished.push_back("rows=512,cols=512");
  expect_screens("best_unfinished", unfinished);
}

TEST_F(Screens, AKernelAndItsSpace) {
  expect_screens("kernel", {"kernels", "scale", "--kernel-path", kShownKernels});
  for (const TerminalSize& size : kSizes) {
    for (const Words& words :
         {Words("kernels"), Words("kernels matmul"), Words("devices"), Words("show 2 --all"),
          Words("space matmul --problem m=64,n=64,k=64 --arch sm_80")}) {
      const bool reads = words.front() == "show";
      const TerminalOutput output =
          reads ? shown(size, words) : run_on_terminal(folder_, size, words);
      expect_no_line_wraps(output, size, words.front());
      EXPECT_GT(output.lines().size(), 1U) << output.raw;
    }
  }
}

TEST_F(Screens, ColoursAreForTerminalsThatHaveThem) {
  const std::string color = "\x1b[00;32mbetter\x1b[00m";
  const Words words = "show 1 --db kiln.db";
  const auto has_color = [&](const Environment& environment) {
    return run_on_terminal(folder_, kSizes[0], words, environment).raw.find(color) !=
           std::string::npos;
  };
  EXPECT_TRUE(has_color({}));
  EXPECT_FALSE(has_color({{"NO_COLOR", "1"}}));
  EXPECT_FALSE(has_color({{"TERM", "dumb"}}));
  EXPECT_THAT(kiln(words).out, Not(HasSubstr(std::string(1, '\x1b')))) << "in a pipe";
}

TEST_F(Screens, PicturesAreDigitsWhereTheLocaleHasNoBars) {
  const Words words = "show 1 --db kiln.db";
  EXPECT_THAT(run_on_terminal(folder_, kSizes[2], words).raw, HasSubstr("█"));
  const TerminalOutput plain = run_on_terminal(folder_, kSizes[2], words, {{"LANG", "C"}});
  EXPECT_THAT(plain.raw, Not(HasSubstr("█")));
  EXPECT_THAT(plain.raw, HasSubstr("times        "));
}

// The screens of sessions that run: the report is golden from fixed numbers, the program itself is
// watched for lines that are too long.
SessionSummary summary_of(const std::string& kernel, const std::string& problem, double time_ns) {
  SessionSummary summary{.kernel = kernel, .problem = problem, .result = {}, .error = {}};
  BestRecord best;
  best.config = {"bank_private",
                 {{"block_size", std::int64_t{1024}},
                  {"load_bytes", std::int64_t{16}},
                  {"unroll", std::int64_t{2}},
                  {"blocks_per_unit", std::int64_t{2}},
                  {"streaming", true},
                  {"lanes", std::int64_t{32}}}};
  best.time_ns = time_ns;
  best.default_time_ns = 1.7 * time_ns;
  best.naive_time_ns = 900 * time_ns;
  best.verdict = Verdict::better;
  best.bytes = 2.7e8;
  best.published_at = "2026-11-26T06:52:01Z";
  SessionResult result;
  result.id = 4;
  result.trials = 1739;
  result.best = best;
  summary.result = result;
  return summary;
}

TEST(ReportScreens, OfTuneAndSweep) {
  const SessionSummary one = summary_of("histogram", "n=268435456", 73'200);
  SessionSummary stopped = summary_of("reduce", "n=1048576", 6'080);
  stopped.result->best->published_at.clear();
  std::swap(stopped.result->best, stopped.result->so_far);
  SessionSummary refused{.kernel = "matmul",
                         .problem = "m=1 n=1 k=1",
                         .result = {},
                         .error = "no config is legal for m=1 n=1 k=1: tile_m=8 is more than m"};
  for (const TerminalSize& size : kSizes) {
    const Screen screen{.width = size.columns};
    expect_golden("tune", size, report({one}, std::nullopt, ReportFormat::text, screen));
    const std::string sweep =
        report({one, stopped, refused}, std::nullopt, ReportFormat::text, screen);
    expect_golden("sweep", size, sweep);
    EXPECT_LT(std::count(sweep.begin(), sweep.end(), '\n'), size.rows);
  }
}

class RunningScreens : public TuningTest {};

TEST_F(RunningScreens, OfARealSessionNoLineWraps) {
  for (const TerminalSize& size : kSizes) {
    const TerminalOutput output = run_on_terminal(folder_, size, tune_scale("--trials 3 --fresh"));
    EXPECT_EQ(output.exit_code, 0) << output.raw;
    expect_no_line_wraps(output, size, "tune");
    const std::vector<std::string> lines = output.lines();
    EXPECT_LT(lines.size(), size.rows) << joined(lines);
  }
}

TEST_F(RunningScreens, ADumbTerminalGetsPlainLines) {
  const TerminalOutput output =
      run_on_terminal(folder_, kSizes[0], tune_scale("--trials 2"), {{"TERM", "dumb"}});
  EXPECT_EQ(output.exit_code, 0) << output.raw;
  EXPECT_THAT(output.raw, Not(HasSubstr(std::string(1, '\x1b'))));
}

}  // namespace
}  // namespace kiln::cli
