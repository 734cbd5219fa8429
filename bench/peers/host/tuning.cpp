// Runs `kiln tune` as a child process and waits for its end.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/tuning.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

extern char** environ;

namespace kiln::peers {
namespace {

/// The given program, else the one beside this program, else the one in $PATH.
std::string program_of(const TuneOptions& options) {
  if (!options.program.empty()) return options.program;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = here.parent_path() / "kiln";
  if (!error && ::access(beside.c_str(), X_OK) == 0) return beside.string();
  return "kiln";
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(fmt::format("waitpid: {}", std::strerror(errno)));
  }
  return status;
}

}  // namespace

std::vector<std::string> tune_command(const Options& options, const std::string& kernel,
                                      const std::string& problem) {
  std::vector<std::string> words = {program_of(options.tune),
                                    "tune",
                                    kernel,
                                    "--problem",
                                    problem,
                                    "--device",
                                    "cuda:0",
                                    "--db",
                                    options.database,
                                    "--seconds",
                                    fmt::format("{}", options.tune.seconds.value())};
  words.insert(words.end(), options.tune.arguments.begin(), options.tune.arguments.end());
  return words;
}

void tune(const Options& options, const std::string& kernel, const std::string& problem) {
  const std::vector<std::string> words = tune_command(options, kernel, problem);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // The session's table goes to stderr: stdout is the report's.
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw std::runtime_error(
        fmt::format("'{}' cannot be started: {}", words.front(), std::strerror(failure)));
  const int status = wait_for(child);
  if (WIFSIGNALED(status))
    throw std::runtime_error(fmt::format("kiln tune was ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("kiln tune ended with {}", WEXITSTATUS(status)));
}

}  // namespace kiln::peers
