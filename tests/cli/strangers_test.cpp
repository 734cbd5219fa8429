// What strangers send: rows that would steer a terminal, folders that would run code, files without
// an end, passwords in the wrong place.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <regex>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"
#include "pty_program.hpp"
#include "shown_sessions.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::Not;

const Environment kAsks = {{"KILN_TEST_ASKS", "1"}};

/// The place of the first byte of `text` that steers a terminal; npos: there is none.
std::size_t steering(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || is_c1) return i;
  }
  return std::string::npos;
}

using Strangers = ProgramTest;

// Each column of text in turn, so that one that cannot be read hides no other one.
TEST_F(Strangers, NoColumnOfADatabaseSteersTheTerminal) {
  write_shown_sessions(folder_ / "kiln.db");
  const std::string evil =
      "\x1b[31m\x1b]0;title\x07\x7f\r\xC2\x9b"
      "2J";
  std::vector<std::pair<std::string, std::string>> columns;
  {
    SQLite::Database database((folder_ / "kiln.db").string());
    SQLite::Statement query(database,
                            "SELECT m.name, p.name FROM sqlite_schema AS m JOIN "
                            "pragma_table_info(m.name) AS p WHERE m.type = 'table' AND p.type = "
                            "'TEXT'");
    while (query.executeStep())
      columns.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
  }
  ASSERT_GT(columns.size(), 20U);
  const std::vector<Words> commands = {{"show", "--db", "evil.db"},
                                       {"show", "1", "--db", "evil.db"},
                                       {"show", "1", "--csv", "--db", "evil.db"},
                                       {"show", "2", "--failures", "--db", "evil.db"},
                                       {"db", "info", "--db", "evil.db"},
                                       {"db", "check", "evil.db"},
                                       {"db", "dump", "--db", "evil.db"},
                                       {"best", "transpose", "--db", "evil.db"}};
  for (const auto& [table, column] : columns) {
    for (const bool ends : {true, false}) {
      fs::copy_file(folder_ / "kiln.db", folder_ / "evil.db", fs::copy_options::overwrite_existing);
      try {
        SQLite::Database database((folder_ / "evil.db").string(), SQLite::OPEN_READWRITE);
        SQLite::Statement spoil(database, "UPDATE " + table + " SET " + column + " = " +
                                              (ends ? column + " || ?" : std::string("?")));
        spoil.bind(1, evil);
        spoil.exec();
      } catch (const SQLite::Exception&) {
        continue;  // a column that takes some words only
      }
      for (const Words& words : commands) {
        const Output output = kiln(words);
        EXPECT_NE(output.exit_code, 70) << table << '.' << column << ": " << output.err;
        EXPECT_EQ(steering(output.out), std::string::npos)
            << table << '.' << column << ' ' << words[0] << words[1];
        EXPECT_EQ(steering(output.err), std::string::npos)
            << table << '.' << column << ' ' << words[0] << words[1];
      }
    }
  }
}

// The mechanism of the test above: what prints by other means is not seen by it.
TEST(StrangersText, NothingButThePrinterWritesToAStream) {
  const std::regex text(R"re("([^"\\]|\\.)*")re");
  const std::regex writes(R"(\b(fmt::print|std::cout|std::cerr|v?f?printf|f?puts|putchar)\b)");
  for (const auto& entry : fs::recursive_directory_iterator(KILN_SOURCE_DIR "/cli")) {
    const std::string name = entry.path().filename();
    const bool is_source = name.ends_with(".cpp") || name.ends_with(".hpp");
    if (!is_source || name == "print.cpp" || name == "status_area.cpp") continue;
    std::ifstream file(entry.path());
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      const std::string code = std::regex_replace(line.substr(0, line.find("//")), text, "");
      EXPECT_FALSE(std::regex_search(code, writes))
          << entry.path() << ':' << number << ": " << line;
    }
  }
}

TEST_F(Strangers, FilesWithoutAnEndAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  write_shown_sessions(folder_ / "kiln.db");
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& file :
       {std::string("fifo"), std::string("/dev/zero"), std::string("/proc/self/maps"),
        std::string("/proc/kmsg"), std::string(".")}) {
    const std::vector<Words> commands = {{"sweep", file, "--db", "kiln.db"},
                                         {"db", "import", file, "--db", "kiln.db"},
                                         {"init", file},
                                         {"init", "--t1", file},
                                         {"space", "--file", file},
                                         {"replay", file},
                                         {"coverage", file},
                                         {"prebuild", "--plan", file},
                                         {"show", "--db", file},
                                         {"best", "reduce", "--problem", "n=9", "--lock", file},
                                         {"report", "--db", "kiln.db", "--ceilings", file}};
    for (const Words& words : commands) {
      const Output output = kiln(words);
      EXPECT_TRUE(output.exit_code >= 2 && output.exit_code <= 5)
          << words[0] << ' ' << file << ": " << output.exit_code << output.err;
    }
  }
  for (const Words& words :
       {Words{"db", "lock", "fifo"}, {"db", "export", "fifo"}, {"report", "-o", "fifo"}}) {
    Words of = words;
    of.insert(of.end(), {"--db", "kiln.db"});
    const Output output = kiln(of);
    EXPECT_EQ(output.exit_code, 2) << words[1];
    EXPECT_THAT(output.err,
                HasSubstr("fifo: cannot be written: it is a pipe that no program reads"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(Strangers, OutputsReplaceOnlyWhatKilnWrote) {
  write_shown_sessions(folder_ / "kiln.db");
  const std::vector<Words> commands = {{"report", "-o", "mine", "--db", "kiln.db"},
                                       {"db", "export", "mine", "--db", "kiln.db"},
                                       {"db", "lock", "mine", "--db", "kiln.db"}};
  for (Words words : commands) {
    write("mine", "my own text\n");
    const Output refused = kiln(words);
    EXPECT_EQ(refused.exit_code, 2) << words[0] << refused.out;
    EXPECT_EQ(refused.err,
              "kiln: error: mine: cannot be written: there is a file that Kiln did not "
              "write; --force replaces it\n");
    EXPECT_EQ(read_text(folder_ / "mine"), "my own text\n");
    Words forced = words;
    forced.push_back("--force");
    EXPECT_EQ(kiln(forced).exit_code, 0);
    EXPECT_EQ(kiln(words).exit_code, 0) << "its own file again";
  }
}

TEST_F(Strangers, NoPasswordIsShown) {
  for (const char* place :
       {"postgresql://me:geheim@nowhere.invalid/db", "POSTGRESQL://me:geheim@nowhere.invalid/db",
        "host=nowhere.invalid password=geheim", "password = geheim dbname=x",
        "postgres:///db?pass%77ord=geheim&host=/nowhere", "postgresql://:geheim@/db"}) {
    for (const Words& words :
         std::vector<Words>{{"show", "--db", place},
                            {"tune", "reduce", "--problem", "n=9", "--db", place},
                            {"db", "merge", "--into", "x.db", place},
                            {"fleet", "status", "--db", place}}) {
      const Output output = kiln(words, {{"KILN_DB", place}});
      EXPECT_NE(output.exit_code, 0);
      EXPECT_THAT(output.out + output.err, Not(HasSubstr("geheim"))) << place;
    }
  }
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("geheim")));
}

class StrangersCode : public ProgramTest {
 protected:
  void SetUp() override {
    write("evil/spec.toml", std::string(R"(
name = "evil"
summary = "runs a line"
[problem.n]
type = "int"
[command]
run = "touch ../ran; echo {x}"
unit = "ns"
[[variants]]
name = "only"
[variants.tunables]
x = { values = [1, 2], default = 1, doc = "none" }
)"));
    edit_run();
  }
  /// The line leaves a file in this folder, wherever it runs.
  void edit_run() const { edit("evil/spec.toml", "../ran", (folder_ / "ran").string()); }
  [[nodiscard]] bool has_run() const { return fs::exists(folder_ / "ran"); }
  [[nodiscard]] static Words tune(const std::string& kernel, Words more = {}) {
    return Words({"tune", kernel, "--problem", "n=1", "--trials", "2", "--db", "kiln.db"}) + more;
  }
};

TEST_F(StrangersCode, DoesNotRunUnasked) {
  write("plan.toml", "name = \"p\"\n[[kernels]]\nkernel = \"./evil\"\nproblems = [\"n=1\"]\n");
  for (const Words& words : {tune("./evil"), Words("sweep plan.toml --db kiln.db"),
                             Words("check plan.toml --db kiln.db")}) {
    const Output refused = kiln(words, kAsks);
    EXPECT_NE(refused.exit_code, 0) << words[0];
    EXPECT_FALSE(has_run()) << words[0];
  }
  const Output refused = kiln(tune("./evil"), kAsks);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("evil runs code of its own on this machine; read it, then "
                                     "allow it with --trust or answer once in a terminal:"));
  EXPECT_THAT(refused.err, HasSubstr("  run: touch "));
  EXPECT_EQ(kiln(tune("./evil", {"--trust"}), kAsks).exit_code, 0);
  EXPECT_TRUE(has_run());
}

TEST_F(StrangersCode, RunsOfTheUsersOwnKernelPath) {
  EXPECT_EQ(kiln(tune("evil", {"--kernel-path", "."}), kAsks).exit_code, 0);
  EXPECT_TRUE(has_run());
}

TEST_F(StrangersCode, RunsAfterOneAnswerUntilTheFolderChanges) {
  const TerminalSize size;
  const TerminalOutput no = run_on_terminal(folder_, size, tune("./evil"), kAsks, "n\n");
  EXPECT_EQ(no.exit_code, 2) << no.raw;
  EXPECT_THAT(no.raw, HasSubstr("run: touch "));
  EXPECT_FALSE(has_run());
  EXPECT_EQ(run_on_terminal(folder_, size, tune("./evil"), kAsks, "y\n").exit_code, 0);
  EXPECT_TRUE(has_run());
  fs::remove(folder_ / "ran");
  EXPECT_EQ(kiln(tune("./evil", {"--fresh"}), kAsks).exit_code, 0) << "the answer is remembered";
  EXPECT_TRUE(has_run());
  write("evil/helper.sh", "echo 2\n");
  EXPECT_EQ(kiln(tune("./evil", {"--fresh"}), kAsks).exit_code, 2) << "another content";
}

TEST_F(StrangersCode, OfAFolderThatInitWroteIsTheUsersOwn) {
  write("mine/k.cl",
        "__kernel void twice(__global float* x, int n) {\n"
        "  int i = get_global_id(0);\n  if (i < n) x[i] *= 2.0f;\n}\n");
  ASSERT_EQ(kiln("init mine/k.cl").exit_code, 0);
  fs::copy_file(folder_ / "evil/spec.toml", folder_ / "mine/spec.toml",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(kiln(tune("./mine"), kAsks).exit_code, 0);
  EXPECT_TRUE(has_run());
}

}  // namespace
}  // namespace kiln::cli
