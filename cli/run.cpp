// `kiln run -- PROGRAM`: a program as it is, with libkiln_blas.so in front of its cuBLAS. Records
// what it computes, tunes what costs most, and runs it again.
// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/planned.hpp"
#include "cli/print.hpp"
#include "cli/recorded_calls.hpp"
#include "cli/search_options.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_files.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/setting.hpp"
#include "db/evidence.hpp"
#include "db/store.hpp"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kLeastShare = 0.01;  // of the products' time; less is not worth a session
constexpr double kLeastSeconds = 2;   // of a session
constexpr double kLongestTuning = 864000;

struct RunFlags {
  CommonOptions common;
  std::vector<std::string> program;
  std::string device = "auto";
  std::optional<double> tune_seconds;
  fs::path record;
  bool environment = false;
  bool quiet = false;
  bool force = false;  ///< --record may replace any file
};

/// A folder that goes when this goes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "kiln-run-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ExitCode::failed, fmt::format("{}: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// libkiln_blas.so: $KILN_BLAS_LIBRARY, beside this program, or in the library folder of its
/// prefix.
fs::path blas_library() {
  constexpr const char* kName = "libkiln_blas.so";
  if (const char* chosen = std::getenv("KILN_BLAS_LIBRARY"); chosen != nullptr && *chosen != '\0')
    return chosen;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place :
       {folder / kName, folder / "../lib/kiln" / kName, folder / "../lib64/kiln" / kName,
        folder / "../lib/x86_64-linux-gnu/kiln" / kName,
        folder / "../lib/aarch64-linux-gnu/kiln" / kName}) {
    std::error_code error;
    if (fs::exists(place, error)) return fs::weakly_canonical(place);
  }
  throw Error(ExitCode::failed, fmt::format("{} is not where this program is, nor in lib/kiln of "
                                            "its prefix; name it with KILN_BLAS_LIBRARY",
                                            kName));
}

struct Finished {
  int code = 0;  ///< 128 and the signal's number if a signal ended it
  double seconds = 0;
};

enum class ProgramOutput { as_it_is, to_stderr };

/// Runs the program with more in its environment, on this terminal, and waits.
Finished run_to_the_end(const std::vector<std::string>& words,
                        const std::vector<std::pair<std::string, std::string>>& more,
                        ProgramOutput output) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_replaced = std::any_of(more.begin(), more.end(), [&](const auto& each) {
      return text.starts_with(each.first + "=");
    });
    if (!is_replaced) entries.emplace_back(text);
  }
  for (const auto& [name, value] : more) entries.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (output == ProgramOutput::to_stderr)
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(),
                                   environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Error(ExitCode::failed,
                fmt::format("{} cannot be started: {}", words.front(), std::strerror(error)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), seconds.count()};
}

std::string preload_with(const fs::path& library) {
  const char* before = std::getenv("LD_PRELOAD");
  return before == nullptr || *before == '\0' ? library.string() : library.string() + ":" + before;
}

/// A run of the program under the library, and what the library recorded.
struct RecordedRun {
  Finished finished;
  RecordedProgram program;
};

enum class Products { of_library, taken_over };

RecordedRun run_recorded(const RunFlags& options, Products products) {
  const TemporaryFolder folder;
  const fs::path record = folder.path() / "record";
  RecordedRun run;
  run.finished =
      run_to_the_end(options.program,
                     {{"LD_PRELOAD", preload_with(blas_library())},
                      {"KILN_BLAS", products == Products::of_library ? "off" : "quiet"},
                      {"KILN_BLAS_RECORD", record.string()},
                      {"KILN_DB", options.common.database.string()}},
                     options.common.json ? ProgramOutput::to_stderr : ProgramOutput::as_it_is);
  run.program = read_records(record);
  return run;
}

/// The session of one product, and what it said.
struct TunedCall {
  std::string short_problem;
  std::string error;  ///< of the session
  std::optional<Evidence::Rival> rival;
};

TunedCall tune_call(const RecordedCall& call, const KernelSpec& spec, const DeviceInfo& device,
                    Store& store, const SearchOptions& search, const std::string& title) {
  TunedCall tuned;
  try {
    ReadySession session{spec, Problem::parse(spec, call.problem), search.settings};
    tuned.short_problem = session.problem.short_text(spec);
    SessionSummary summary = summarise({spec, session.problem, device});
    run_ready(session, title, device, store, search, summary);
    tuned.error = summary.error;
    if (summary.result && summary.result->best)
      tuned.rival = read_evidence(summary.result->best->evidence).rival;
  } catch (const InputError& error) {
    tuned.error = error.what();
  }
  return tuned;
}

/// Tunes what costs most until the time is over; the results have the order of the calls.
std::vector<TunedCall> tune_calls(const RecordedProgram& program, const RunFlags& options) {
  const KernelSpec spec = options.common.library().load("matmul");
  const DeviceInfo device = choose_device(
      spec, options.device == "auto" && !program.device.empty() ? program.device : options.device);
  double all_ns = 0;
  for (const RecordedCall& call : program.calls) all_ns += call.total_ns();
  std::vector<TunedCall> tuned;
  // The very library that the program calls; workers inherit it.
  ::setenv("KILN_CUBLAS_PATH", program.library_path.c_str(), /*overwrite=*/1);
  Store store(options.common.database, Store::Mode::write);
  const auto start = std::chrono::steady_clock::now();
  const auto worth = static_cast<double>(std::count_if(
      program.calls.begin(), program.calls.end(),
      [&](const RecordedCall& call) { return call.total_ns() >= kLeastShare * all_ns; }));
  double left_count = worth;
  for (const RecordedCall& call : program.calls) {
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
    const double left = *options.tune_seconds - used.count();
    if (call.total_ns() < kLeastShare * all_ns || left < kLeastSeconds || stop_on_signals()) break;
    SearchOptions search;
    search.against = "cublas";
    search.quiet = options.quiet;
    // The finals and the reference take as long again as a short search.
    search.settings.seconds = std::max(kLeastSeconds, left / left_count / 2);
    left_count = std::max(1.0, left_count - 1);
    tuned.push_back(tune_call(call, spec, device, store, search,
                              fmt::format("[{}/{}]", tuned.size() + 1, worth)));
  }
  return tuned;
}

const RecordedCall* find_call(const RecordedProgram& program, const RecordedCall& call) {
  const auto found =
      std::find_if(program.calls.begin(), program.calls.end(), [&](const RecordedCall& each) {
        return each.problem == call.problem && each.library == call.library;
      });
  return found != program.calls.end() ? &*found : nullptr;
}

std::string verdict_of(const TunedCall* tuned) {
  if (tuned == nullptr) return "not tuned";
  if (!tuned->error.empty()) return first_line(tuned->error);
  return tuned->rival ? tuned->rival->verdict : "not measured";
}

std::string errors_of(const TunedCall* tuned) {
  if (tuned == nullptr || !tuned->rival) return "-";
  return fmt::format("{:.1e} / {:.1e}", tuned->rival->best_error, tuned->rival->error);
}

std::string short_problem_of(const RecordedCall& call, const KernelSpec& spec) {
  try {
    return Problem::parse(spec, call.problem).short_text(spec);
  } catch (const InputError&) {
    return call.problem;
  }
}

void print_run(const RecordedRun& before, const std::vector<TunedCall>& tuned,
               const std::optional<RecordedRun>& after, const RunFlags& options) {
  constexpr std::size_t kRows = 25;
  const KernelSpec spec = options.common.library().load("matmul");
  Table table({{"call"},
               {"problem"},
               {"calls", Table::Align::right},
               {"of wall time", Table::Align::right},
               {"before", Table::Align::right},
               {"after", Table::Align::right},
               {"verdict"},
               {"errors"}});
  const std::vector<RecordedCall>& calls = before.program.calls;
  double all_ns = 0;
  for (const RecordedCall& call : calls) all_ns += call.total_ns();
  const double wall_ns = before.finished.seconds * 1e9;
  for (std::size_t i = 0; i < std::min(calls.size(), kRows); ++i) {
    const RecordedCall& call = calls[i];
    const TunedCall* session = i < tuned.size() ? &tuned[i] : nullptr;
    const RecordedCall* later = after ? find_call(after->program, call) : nullptr;
    table.add_row({call.function, short_problem_of(call, spec), std::to_string(call.calls),
                   fmt::format("{:.1f}%", 100 * call.total_ns() / wall_ns),
                   time_or_dash(call.gpu_ns), later != nullptr ? time_or_dash(later->gpu_ns) : "-",
                   options.tune_seconds ? verdict_of(session) : "-", errors_of(session)});
  }
  const Screen screen = screen_of(STDOUT_FILENO);
  print_shown("{}", table.text(screen.width));
  if (calls.size() > kRows) print_shown("and {} more products\n", calls.size() - kRows);
  print_shown("\n");
  const auto say = [&](const std::string& line) {
    print_shown("{}", paragraph(line, screen.width));
  };
  if (calls.empty()) {
    say("no product of cuBLAS was seen: the program calls none, is linked with a static cuBLAS, or "
        "finds its functions by dlsym (docs/programs_as_they_are.md)");
    return;
  }
  say(fmt::format(
      "products: {} of GPU time, {:.0f}% of the wall time; {} not understood, which the library "
      "keeps",
      pretty_time(all_ns), 100 * all_ns / wall_ns, counted(before.program.not_understood, "call")));
  if (!after) {
    say(fmt::format("wall time: {:.2f} s", before.finished.seconds));
    return;
  }
  say(fmt::format(
      "wall time: {:.2f} s before, {:.2f} s after ({:.2f}x), start-up and recording included",
      before.finished.seconds, after->finished.seconds,
      before.finished.seconds / after->finished.seconds));
}

Json run_json(const RecordedRun& before, const std::vector<TunedCall>& tuned,
              const std::optional<RecordedRun>& after) {
  Json json = {{"device", before.program.device},
               {"library_path", before.program.library_path},
               {"wall_seconds", before.finished.seconds},
               {"wall_seconds_after", after ? Json(after->finished.seconds) : Json()},
               {"not_understood", before.program.not_understood},
               {"calls", Json::array()}};
  for (std::size_t i = 0; i < before.program.calls.size(); ++i) {
    const RecordedCall& call = before.program.calls[i];
    const TunedCall* session = i < tuned.size() ? &tuned[i] : nullptr;
    const RecordedCall* later = after ? find_call(after->program, call) : nullptr;
    const bool is_rival = session != nullptr && session->rival;
    json["calls"].push_back({{"function", call.function},
                             {"library", call.library},
                             {"problem", call.problem},
                             {"calls", call.calls},
                             {"share_of_wall", call.total_ns() / (before.finished.seconds * 1e9)},
                             {"gpu_ns", call.gpu_ns},
                             {"gpu_ns_after", later != nullptr ? Json(later->gpu_ns) : Json()},
                             {"taken_over", later != nullptr ? later->taken_over : 0},
                             {"verdict", session != nullptr ? Json(verdict_of(session)) : Json()},
                             {"error", is_rival ? Json(session->rival->best_error) : Json()},
                             {"library_error", is_rival ? Json(session->rival->error) : Json()}});
  }
  return json;
}

ExitCode run_command(const RunFlags& options) {
  if (options.environment) {
    print_data(fmt::format("export LD_PRELOAD='{}'\"${{LD_PRELOAD:+:$LD_PRELOAD}}\"\n",
                           blas_library().string()));
    return ExitCode::ok;
  }
  if (options.program.empty())
    throw UsageError("expected a program to run: kiln run -- PROGRAM ARGUMENTS");
  if (!options.record.empty() && options.tune_seconds)
    throw UsageError("--record and --tune exclude each other (see kiln run --help)");
  const RecordedRun before = run_recorded(options, Products::of_library);
  if (!options.record.empty()) {
    write_text_file(options.record, json_output(to_json(before.program)),
                    {.mark = "kiln_blas_record", .force = options.force});
  }
  std::vector<TunedCall> tuned;
  std::optional<RecordedRun> after;
  const bool may_tune = options.tune_seconds && !before.program.calls.empty() &&
                        before.finished.code == 0 && !stop_on_signals();
  if (may_tune) {
    tuned = tune_calls(before.program, options);
    if (!stop_on_signals()) after = run_recorded(options, Products::taken_over);
  }
  if (options.common.json) {
    print_data(json_output(run_json(before, tuned, after)));
  } else {
    print_run(before, tuned, after, options);
  }
  const int code = after ? after->finished.code : before.finished.code;
  return static_cast<ExitCode>(code);
}

}  // namespace

void add_run_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand(
      "run", "Run a program as it is and show, tune or take over its products of cuBLAS");
  add_value(*command, "program", options->program, "PROGRAM",
            "The program and its arguments, behind --");
  add_value(*command, "--tune", options->tune_seconds, "NUMBER",
            "Spend this many seconds on the products that cost most, then run the program\n"
            "again with what won")
      ->check(positive_number(kLongestTuning));
  add_value(*command, "--record", options->record, "FILE",
            "Write what the program computed to FILE, for kiln sweep --calls");
  command->add_flag("--env", options->environment,
                    "Print the line that turns it on for a shell, and run nothing");
  command->add_flag("--quiet", options->quiet, "No progress on stderr");
  add_force_option(*command, options->force);
  add_device_option(*command, options->device);
  add_database_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "A call goes to Kiln only where a final on this device said that Kiln's kernel is faster "
      "than\n"
      "cuBLAS's and its error no larger; every other call stays cuBLAS's. The exit code is the\n"
      "program's; with --json its stdout goes to stderr.\n"
      "docs/programs_as_they_are.md says what is taken over and how to switch it off.\n"
      "\n"
      "Examples:\n"
      "  kiln run --tune 120 -- python3 train.py --epochs 1\n"
      "  eval \"$(kiln run --env)\"");
  command->callback([options, &work] { work = [options] { return run_command(*options); }; });
}

}  // namespace kiln::cli
