// The `kiln` program: parses the command line, runs one command, turns errors into messages and
// exit codes.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/help_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/print.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "cli/usage_fault.hpp"
#include "core/version.hpp"

namespace {

using kiln::ExitCode;

constexpr const char* kFooter =
    "For more about a command: kiln help COMMAND, or kiln COMMAND --help.\n"
    "A first look: kiln devices; kiln kernels; kiln tune reduce --problem n=2^24 --seconds 10.\n"
    "\n"
    "Exit codes: 0 ok, 1 nothing valid found or a check failed, 2 usage,\n"
    "3 bad spec, template, problem, config or plan, 4 no such device, 5 unusable database,\n"
    "70 a defect of Kiln, 130 interrupted (143 by SIGTERM, 129 by SIGHUP), 141 the\n"
    "reader of the output went away.\n"
    "Documentation: docs/cli.md";

int report(ExitCode code, const std::string& message) {
  const std::string text = "kiln: error: " + message;
  const auto width = kiln::cli::terminal_width(STDERR_FILENO);
  try {
    kiln::cli::print_text(stderr, kiln::cli::paragraphs(text, width));
  } catch (const std::exception&) {
    // Nobody can be told that nobody can be told.
  }
  return static_cast<int>(code);
}

/// Whether the system ran out of something: memory, open files, threads, room.
bool is_shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  if (failed == nullptr) return false;
  constexpr std::array kShortages = {EMFILE, ENFILE, ENOMEM, EAGAIN, ENOSPC, EFBIG, EDQUOT};
  return std::find(kShortages.begin(), kShortages.end(), failed->code().value()) !=
         kShortages.end();
}

/// Memory that runs out where no exception may leave, as in the parser's own `noexcept` functions
/// and before main(): one sentence all the same. Nothing is lost; the workers end with this
/// process.
[[noreturn]] void end_at_shortage() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kText =
        "kiln: error: the system has too little memory for this command; `ulimit -a` shows the "
        "limits of this shell\n";
    if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) ::_exit(1);
    ::_exit(static_cast<int>(ExitCode::failed));
  } catch (...) {
    // A defect.
  }
  std::abort();
}

// Before the objects that other files make before main().
[[gnu::constructor(101)]] void watch_shortage() { std::set_terminate(end_at_shortage); }

std::string shortage_text(const std::exception& error) {
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  const std::string what = failed == nullptr ? "memory" : failed->code().message();
  return "the system has too little for this command (" + what +
         "); `ulimit -a` shows the limits of this shell";
}

/// What could not be written ends the command: quietly where the reader went away (`kiln show |
/// head -1`), and as interrupted where it was.
int report_unwritten(int error) {
  if (kiln::cli::was_interrupted()) return static_cast<int>(kiln::cli::interrupted_exit_code());
  if (error == EPIPE) return 128 + SIGPIPE;
  return report(ExitCode::failed, "cannot write to stdout");
}

void set_up(CLI::App& app, kiln::cli::Work& work) {
  app.set_version_flag("--version", std::string("kiln ") + kiln::kVersion,
                       "Print the version and exit");
  kiln::cli::set_help(app);
  app.require_subcommand(1);
  kiln::cli::add_commands(app, work);
  app.footer(kFooter);  // last: commands would inherit it
}

/// The words as the parser knows them: `kiln help tune` is `kiln tune --help`, `kiln version` is
/// `kiln --version`. Help for a word that is no command stays that word, which the parser refuses.
std::vector<std::string> known_words(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.size() == 1 && words.front() == "version") return {"--version"};
  if (words.front() != "help") return words;
  words.erase(words.begin());
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    command = kiln::cli::find_command(*command, word);
    if (command == nullptr) return words;
  }
  words.emplace_back("--help");
  return words;
}

int run(CLI::App& app, const std::vector<std::string>& given) {
  kiln::cli::Work work;
  set_up(app, work);
  if (!given.empty() && given.front() == kiln::cli::kCompleteWord) {
    kiln::cli::print_proposals(app, {given.begin() + 1, given.end()});
    return static_cast<int>(ExitCode::ok);
  }
  const std::vector<std::string> words = known_words(app, given);
  if (words.empty()) {
    kiln::cli::print_text(stdout, app.help());
    return static_cast<int>(ExitCode::usage);  // a script that calls it so has lost its words
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help and --version
  } catch (const CLI::ExtrasError&) {
    const std::string fault = kiln::cli::unexpected_words(app);
    return report(ExitCode::usage, kiln::cli::usage_fault(app, words, fault));
  } catch (const CLI::ParseError& error) {
    return report(ExitCode::usage, kiln::cli::usage_fault(app, words, error.what()));
  }
  const ExitCode code = work();
  if (std::fflush(stdout) != 0) return report_unwritten(errno);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  kiln::cli::ignore_failed_writes();
  kiln::cli::end_with_parent();
  try {
    CLI::App app{"Kiln finds the fastest GPU kernel for your device and problem, and remembers it.",
                 "kiln"};
    return run(app, {argv + 1, argv + argc});
  } catch (const kiln::Error& error) {
    return report(error.code(), error.what());
  } catch (const std::exception& error) {
    const auto* unwritten = dynamic_cast<const std::system_error*>(&error);
    const int number = unwritten == nullptr ? 0 : unwritten->code().value();
    if (std::ferror(stdout) != 0 || number == EPIPE) return report_unwritten(number);
    if (is_shortage(error)) return report(ExitCode::failed, shortage_text(error));
    return report(ExitCode::internal, std::string("defect: ") + error.what());
  }
}
