// Promise 9: one call of the system fails, whichever it is. The command ends with one sentence or
// goes on without what failed; no row is lost, half there or made up.
//
// A push takes 4 of each command's calls of a kind, spread evenly, and 1 where a command takes
// seconds; the commit draws with which it begins. KILN_SOAK=1 takes every call, but 400 of the tens
// of thousands of allocations where a command takes seconds.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <cstdlib>
#include <functional>
#include <iostream>

#include <fmt/format.h>

#include "db/store.hpp"
#include "fleet_fixture.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::A;
using ::testing::AnyOf;
using ::testing::Conditional;
using ::testing::IsEmpty;

constexpr const char* kCalls[] = {"write", "fsync", "open",   "rename",    "fork",
                                  "pipe",  "mmap",  "thread", "allocation"};
constexpr std::int64_t kTrials = 2;

Environment failing(const std::string& call, std::int64_t number) {
  return {{"LD_PRELOAD", KILN_FAILING_CALLS},
          {"KILN_FAIL", fmt::format("{}:{}", call, number)},
          {"KILN_FAIL_COUNT", "calls"}};
}

class FailingCalls : public LateFleetFixture {
 protected:
  /// A command, with what is to be there before it and must hold after it.
  struct Command {
    std::string name;
    bool is_slow = false;
    std::function<void()> prepare;
    std::function<Output(const Environment&)> run;
    std::function<void(const Output&)> check;
  };

  void remove(const std::string& name) const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal", ".writer"})
      fs::remove(folder_ / (name + suffix));
  }

  /// Whole trials in order, all of them measured, and nothing else.
  void expect_sound(const std::string& name, std::int64_t least) const {
    if (least == 0 && !fs::exists(folder_ / name)) return;
    if (fs::file_size(folder_ / name) == 0) return;  // made, and nothing was stored
    const Store store(folder_ / name, Store::Mode::read);
    EXPECT_THAT(store.check(), IsEmpty());
    std::int64_t trials = 0;
    for (const SessionRecord& session : store.sessions()) {
      for (const TrialRecord& trial : store.trials(session.id)) {
        ++trials;
        EXPECT_EQ(trial.trial.outcome, Outcome::ok) << trial.trial.message;
      }
    }
    EXPECT_GE(trials, least);
    EXPECT_LE(trials, kTrials);
  }

  static std::int64_t most_of(const Command& command, std::string_view call, std::int64_t calls) {
    if (!test::is_soak()) return command.is_slow ? 1 : 4;
    constexpr std::int64_t kManyHours = 400;
    return command.is_slow && call == "allocation" ? kManyHours : std::max<std::int64_t>(calls, 1);
  }

  void sweep(const Command& command) {
    for (const char* call : kCalls) {
      command.prepare();
      const Output whole = command.run(failing(call, 1'000'000'000));
      ASSERT_EQ(whole.exit_code, 0) << command.name << whole.err;
      command.check(whole);
      const std::int64_t calls = std::atoll(read_text(folder_ / "calls").c_str());
      const std::int64_t step = std::max<std::int64_t>(1, calls / most_of(command, call, calls));
      std::int64_t tried = 0;
      const auto draw = static_cast<std::int64_t>(test::draw_of_the_commit());
      for (std::int64_t number = 1 + draw % step; number <= calls; number += step) {
        SCOPED_TRACE(fmt::format("{}: {} {} of {} fails", command.name, call, number, calls));
        ++tried;
        command.prepare();
        const Output output = command.run(failing(call, number));
        EXPECT_THAT(output.exit_code, AnyOf(0, 1, 3, 4, 5)) << output.err;
        EXPECT_THAT(output.err, Conditional(output.exit_code == 0, A<std::string>(),
                                            HasSubstr("kiln: error: ")));
        EXPECT_THAT(output.err, Not(HasSubstr("defect"))) << output.err;
        command.check(output);
      }
      std::cout << fmt::format("{}: {} of {} calls of {} failed\n", command.name, tried, calls,
                               call);
    }
  }

  void tune_once() const {
    const Output output = kiln(tune_scale("--trials 2"));
    ASSERT_EQ(output.exit_code, 0) << output.err;
  }
};

TEST_F(FailingCalls, Tune) {
  sweep({.name = "tune",
         .is_slow = true,
         .prepare = [&] { remove("kiln.db"); },
         .run =
             [&](const Environment& more) {
               return kiln(tune_scale("--trials 2 --patience 0"), more);
             },
         .check =
             [&](const Output& output) {
               expect_sound("kiln.db", output.exit_code == 0 ? kTrials : 0);
             }});
}

TEST_F(FailingCalls, Best) {
  tune_once();
  const Words words = "best " KILN_SOURCE_DIR
                      "/tests/cli/kernels/scale --problem n=100 --device opencl --db kiln.db";
  const std::string answer = kiln(words).out;
  sweep({.name = "best",
         .prepare = [] {},
         .run = [&](const Environment& more) { return kiln(words, more); },
         .check =
             [&](const Output& output) {
               EXPECT_TRUE(output.exit_code != 0 || output.out == answer) << output.out;
               expect_sound("kiln.db", kTrials);
             }});
}

TEST_F(FailingCalls, Merge) {
  tune_once();
  sweep(
      {.name = "merge",
       .prepare = [&] { remove("all.db"); },
       .run = [&](const Environment& more) { return kiln("db merge kiln.db --into all.db", more); },
       .check =
           [&](const Output& output) {
             expect_sound("kiln.db", kTrials);
             expect_sound("all.db", output.exit_code == 0 ? kTrials : 0);
           }});
}

TEST_F(FailingCalls, Publish) {
  tune_once();
  ASSERT_EQ(kiln("db publish shared.db --db kiln.db").exit_code, 0);
  sweep(
      {.name = "publish",
       .prepare = [] {},
       .run =
           [&](const Environment& more) { return kiln("db publish shared.db --db kiln.db", more); },
       .check =
           [&](const Output&) {
             EXPECT_EQ(Store(folder_ / "shared.db", Store::Mode::read).bests().size(), 1U);
             for (const auto& entry : fs::directory_iterator(folder_)) {
               const std::string name = entry.path().filename();
               EXPECT_FALSE(name.find("shared.db.") == 0) << name << " was left behind";
             }
           }});
}

TEST_F(FailingCalls, Launcher) {
  sweep({.name = "launcher",
         .prepare = [] {},
         .run =
             [&](const Environment& more) {
               std::string line = "cd '" + folder_.string() + "' && HOME=. KILN_CACHE=cache ";
               for (const auto& [name, value] : more) line += fmt::format("{}='{}' ", name, value);
               line += "'" KILN_LAUNCH_OPENCL "' > out 2> err";
               const int status = std::system(line.c_str());
               // The example leaves exceptions of its own `new` to the runtime, which aborts.
               const std::string err = read_text(folder_ / "err");
               const bool is_its_own = err.find("std::bad_alloc") != std::string::npos;
               return Output{is_its_own          ? 1
                             : WIFEXITED(status) ? WEXITSTATUS(status)
                                                 : -1,
                             read_text(folder_ / "out"), "kiln: error: " + err};
             },
         .check = [](const Output&) {}});
}

TEST_F(FailingCalls, FleetWorker) {
  start_server();
  if (IsSkipped()) return;
  sweep({.name = "fleet work",
         .is_slow = true,
         .prepare =
             [&] {
               server_->run(test::PostgresServer::database_of(url_),
                            "TRUNCATE kiln.plans, kiln.sessions CASCADE");
               fs::remove_all(folder_ / "outbox0");
               submit(1, "trials = 2");
             },
         .run =
             [&](const Environment& more) {
               Output output = kiln(work(0, {"--patience", "0", "--quiet"}), more);
               // A job that failed says why in the queue, where `kiln fleet status` reads it.
               if (output.exit_code == 1 && count("failed") == 1) output.err += "kiln: error: ";
               return output;
             },
         .check =
             [&](const Output& output) {
               const Store store(url_, Store::Mode::read);
               EXPECT_THAT(store.check(), IsEmpty());
               EXPECT_LE(store.bests().size(), 1U);
               const bool is_done = count("done") == 1;
               EXPECT_TRUE(output.exit_code != 0 || is_done);
               EXPECT_TRUE(!is_done || store.bests().size() == 1);
               EXPECT_EQ(count("failed") + count("done") + count("waiting") + count("leased"), 1);
             }});
}

}  // namespace
}  // namespace kiln::cli
