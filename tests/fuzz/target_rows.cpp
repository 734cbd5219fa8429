// The input changes rows of a database: each line puts one value into one column. Every command
// that reads a database must then answer, or refuse with a kiln::Error.
//
//   COLUMN KIND VALUE     17 i 9223372036854775807     3 t {"n"     9 r 1e999     12 b 00ff     4 n
//
// COLUMN counts the columns of all tables (taken modulo their number, so that every number is one).
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "db/store.hpp"
#include "tests/db/scratch.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Lets commands print to nowhere while it lives.
class Silence {
 public:
  Silence() {
    std::fflush(stdout);
    std::fflush(stderr);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      kept_[stream - 1] = ::dup(stream);
      ::dup2(nowhere, stream);
    }
    ::close(nowhere);
  }
  ~Silence() {
    std::fflush(stdout);
    std::fflush(stderr);
    for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(kept_[stream - 1], stream);
      ::close(kept_[stream - 1]);
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int kept_[2] = {};
};

struct Column {
  std::string table;
  std::string name;
};

Trial trial_of(std::int64_t block_size, double time_ns) {
  Trial trial = test::some_trial(block_size);
  trial.config = {.variant = "plain", .values = {{"block_size", block_size}, {"items", 1L}}};
  trial.time_ns = time_ns;
  trial.metrics["energy"] = 0.5 * time_ns;
  trial.samples.temperature_c = 60;
  trial.samples.power_mw = 300'000;
  trial.samples.first_run_ns = 2 * time_ns;
  return trial;
}

/// Two problems, a failure, a best for time and one for energy, a drift and an open attempt.
void make_database(const fs::path& path) {
  Store store(path, Store::Mode::write);
  for (const std::int64_t n : {1000, 4096}) {
    SessionRecord session = test::some_session(fmt::format("n={}", n));
    session.problem_json = fmt::format(R"({{"n":{}}})", n);
    session.started_at = "2026-01-05T10:00:00Z";
    const SessionId id = store.begin_session(session);
    store.append(id, 1, trial_of(64, 1500));
    store.append(id, 2, trial_of(128, 1000.0 + static_cast<double>(n)));
    Trial failed = test::some_trial(0, Outcome::wrong_result);
    failed.config = trial_of(256, 0).config;
    store.append(id, 3, failed);
    store.add_drift(id, {3, failed.config.text(), 1.1, 1.05, 1.15, 1000});
    store.begin_attempt(id, trial_of(512, 0).config.text());
    BestRecord best = test::some_best();
    best.config = trial_of(128, 0).config;
    best.time_ns = 1000;
    best.evidence = R"({"finalists":[{"config":"plain:block_size=128,items=1","sequence":2,)"
                    R"("median_ns":1000,"samples_ns":[1000,1001]}],"close":[)"
                    R"({"config":"plain:block_size=64,items=1","slowdown":1.5}]})";
    if (n == 4096) {
      best.objective = "energy";
      best.value = 0.5;
    }
    store.finish(id, SessionState::finished, 1, best);
  }
}

/// Everything that is made once.
struct Prepared {
  Prepared() {
    const test::MemoryFolder folder;
    make_database(folder / "kiln.db");
    std::ifstream file(folder / "kiln.db", std::ios::binary);
    bytes = {std::istreambuf_iterator<char>(file), {}};
    SQLite::Database database((folder / "kiln.db").string());
    SQLite::Statement query(database,
                            "SELECT tables.name, columns.name FROM sqlite_schema AS tables, "
                            "pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' "
                            "ORDER BY 1, columns.cid");
    while (query.executeStep()) {
      columns.push_back({query.getColumn(0).getString(), query.getColumn(1).getString()});
    }
  }
  std::string bytes;
  std::vector<Column> columns;
};

const Prepared& prepared() {
  static const Prepared kPrepared;
  return kPrepared;
}

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

void bind_value(SQLite::Statement& update, char kind, const std::string& value) {
  if (kind == 'i') {
    update.bind(1, static_cast<std::int64_t>(std::strtoll(value.c_str(), nullptr, 10)));
  } else if (kind == 'r') {
    update.bind(1, std::strtod(value.c_str(), nullptr));
  } else if (kind == 'b') {
    const std::string bytes = bytes_of_hex(value);
    update.bind(1, bytes.data(), static_cast<int>(bytes.size()));
  } else if (kind == 'n') {
    update.bind(1);
  } else {
    update.bind(1, value);
  }
}

/// Puts the value into the column of every row, or of the first one where rows must differ. What
/// SQLite refuses stays as it was; what only Kiln's own rules refuse is put in.
void put(SQLite::Database& database, const std::string& line) {
  std::istringstream in(line);
  std::uint64_t number = 0;
  char kind = 't';
  in >> number >> kind;
  in.get();
  std::string value;
  std::getline(in, value, '\0');
  const auto& columns = prepared().columns;
  const Column& column = columns[number % columns.size()];
  for (const char* rows : {"", " WHERE rowid = (SELECT min(rowid) FROM {0})"}) {
    try {
      SQLite::Statement update(database,
                               fmt::format("UPDATE {0} SET {1} = ?", column.table, column.name) +
                                   fmt::format(fmt::runtime(rows), column.table));
      bind_value(update, kind, value);
      update.exec();
      return;
    } catch (const SQLite::Exception&) {
      continue;
    }
  }
}

void change(const fs::path& path, std::string_view input) {
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
  database.exec(
      "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; "
      "PRAGMA synchronous = OFF");
  std::istringstream lines{std::string(input)};
  int count = 0;
  for (std::string line; std::getline(lines, line) && count < 20; ++count) put(database, line);
}

void run_command(const Words& words) {
  CLI::App app{"kiln", "kiln"};
  cli::Work work;
  cli::add_commands(app, work);
  try {
    app.parse(Words(words.rbegin(), words.rend()));
    if (work) static_cast<void>(work());
  } catch (const CLI::ParseError&) {
    // A usage fault is an answer.
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal) throw std::logic_error(error.what());
  } catch (const std::exception& error) {
    std::string line = "kiln";
    for (const std::string& word : words) line += " " + word;
    throw std::logic_error(line + ": " + error.what());
  }
}

}  // namespace

void run_rows(std::string_view input) {
  static const test::MemoryFolder kFolder;
  for (const auto& entry : fs::directory_iterator(kFolder.path())) fs::remove_all(entry.path());
  const std::string path = (kFolder / "kiln.db").string();
  const auto file = [&](const char* name) { return (kFolder / name).string(); };
  std::ofstream(path, std::ios::binary) << prepared().bytes;
  change(path, input);
  const Words best = {"best",        "scale", "--problem",     "n=2000",
                      "--db",        path,    "--kernel-path", KILN_SOURCE_DIR "/tests/cli/kernels",
                      "--no-shipped"};
  const auto asked = [&](Words more) {
    more.insert(more.begin(), best.begin(), best.end());
    return more;
  };
  const Words kernels = {"--kernel-path", KILN_SOURCE_DIR "/tests/cli/kernels"};
  const Silence silence;
  for (const Words& words : std::vector<Words>{
           {"show", "--db", path},
           {"show", "--db", path, "--json"},
           {"show", "1", "--db", path},
           {"show", "latest", "--db", path, "--json"},
           {"show", "1", "--db", path, "--failures"},
           {"report", "--db", path, "-o", file("report.html")},
           asked({"--json"}),
           asked({"--explain"}),
           asked({"--objective", "energy", "--json"}),
           asked({"--problem", "n=1000", "--pareto", "time,energy"}),
           {"db", "info", "--db", path, "--json"},
           {"db", "check", "--db", path},
           {"db", "dump", "--db", path},
           {"db", "export", file("bests.jsonl"), "--db", path},
           {"db", "export", file("t4"), "--format", "t4", "--db", path},
           {"db", "import", file("bests.jsonl"), "--db", file("new.db"), kernels[0], kernels[1]},
           {"db", "lock", file("kiln.lock"), "--no-shipped", "--db", path},
           {"db", "portfolio", "scale", "--db", path, kernels[0], kernels[1]},
           {"db", "portfolio", "scale", "--leave-one-out", "--json", "--db", path, kernels[0],
            kernels[1]},
           {"db", "merge", path, "--into", file("merged.db")},
           {"db", "publish", file("published.db"), "--db", path},
           {"replay", path, "--seeds", "1", "--strategy", "random"},
       }) {
    run_command(words);
  }
}

/// Each type of value in each column of each table.
std::vector<std::string> rows_seeds() {
  static const std::vector<std::string> kValues = parts(
      "n @i 0@i -1@i 1@i 9223372036854775807@i -9223372036854775808@r 1e999@r -1e999@"
      "r 1e308@r -0.5@t @t x@t {@t {}@t []@t null@t 1e999@t {\"n\":[1]}@"
      "t {\"n\":1.5}@t {\"variant\":\"plain\",\"tunables\":{}}@"
      "t {\"finalists\":[{}]}@t {\"finalists\":1}@t {\"first_run_ns\":[]}@"
      "t {\"first_run_ns\":\"inf\"}@t ../../x@t \xff\xfe@t finished@b @b 00@"
      "b 000000000000f87f@b 000000000000f07f000000000000f0ff");
  std::vector<std::string> seeds;
  for (std::size_t column = 0; column < prepared().columns.size(); ++column) {
    for (const std::string& value : kValues) {
      seeds.push_back(fmt::format("{} {}", column, value));
    }
  }
  return seeds;
}

}  // namespace kiln::fuzz
