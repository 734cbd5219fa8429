// Starts a program with pipes for its outputs, reads both, and waits for its end.
// SPDX-License-Identifier: Apache-2.0
#include "core/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "core/errors.hpp"

extern char** environ;

namespace kiln {
namespace {

/// A shell whose last program was killed exits with this and the number of the signal.
constexpr int kKilledInShell = 128;
constexpr int kNotStarted = 127;

class SpawnFiles {
 public:
  SpawnFiles() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnFiles() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnFiles(const SpawnFiles&) = delete;
  SpawnFiles& operator=(const SpawnFiles&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class SpawnAttributes {
 public:
  /// Signals as a program expects them, whatever this process made of its own.
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t usual;
    ::sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGCHLD}) {
      ::sigaddset(&usual, number);
    }
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

void close_all(std::array<int, 2>& descriptors) {
  for (int& descriptor : descriptors) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }
}

/// Above the three that the program gets: of a caller whose own are closed, it may be one of them.
/// Closes `descriptor`. Returns -1 with errno.
int moved_up(int descriptor) {
  if (descriptor < 0) return -1;
  const int above = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return above;
}

/// The ends to read and to write; -1 and errno where there is no pipe.
std::array<int, 2> pipe_of_program() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {-1, -1};
  ends = {moved_up(ends[0]), moved_up(ends[1])};
  if (ends[0] >= 0) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ends;
}

/// A file in memory with `text`, at its beginning: no program has to read it. -1 with errno.
int file_of(std::string_view text) {
  const int file = moved_up(::memfd_create("input", MFD_CLOEXEC));
  while (file >= 0 && !text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) break;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (file >= 0) ::lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace

std::string Ended::ending() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", exit_code);
}

StartedProgram::~StartedProgram() {
  if (process_ > 0) {
    signal(SIGKILL);
    (void)reap(0);
  }
  close_all(outputs_);
}

int StartedProgram::start(const ProgramStart& start) {
  kept_bytes_ = start.kept_bytes;
  const std::array<int, 2> out = start.keeps_out ? pipe_of_program() : std::array<int, 2>{-1, -1};
  const std::array<int, 2> err = pipe_of_program();
  const int input = start.input.empty() ? -1 : file_of(start.input);
  outputs_ = {out[0], err[0]};
  std::array<int, 2> theirs = {out[1], err[1]};
  std::array<int, 2> rest = {input, -1};
  const bool is_short =
      err[1] < 0 || (start.keeps_out && out[1] < 0) || (!start.input.empty() && input < 0);
  int error = is_short ? errno : 0;
  if (error == 0) {
    SpawnFiles files;
    if (input >= 0) {
      ::posix_spawn_file_actions_adddup2(files.get(), input, STDIN_FILENO);
    } else {
      ::posix_spawn_file_actions_addopen(files.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (start.keeps_out) {
      ::posix_spawn_file_actions_adddup2(files.get(), out[1], STDOUT_FILENO);
    } else {
      ::posix_spawn_file_actions_addopen(files.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(files.get(), err[1], STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(files.get(), STDERR_FILENO + 1);
    const std::string folder = start.folder.string();
    if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(files.get(), folder.c_str());
    SpawnAttributes attributes;
    std::vector<char*> words;
    for (const std::string& word : start.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    error =
        ::posix_spawnp(&process_, words[0], files.get(), attributes.get(), words.data(), environ);
  }
  close_all(theirs);
  close_all(rest);
  if (error != 0) process_ = 0;
  return error;
}

void StartedProgram::signal(int number) const {
  if (process_ > 0) ::kill(process_, number);
}

/// Appends what there is, after at most `timeout_ms` (-1: however long it takes). False: nobody is
/// left who could print more.
bool StartedProgram::read_outputs(int timeout_ms) {
  std::array<pollfd, 2> waiting = {pollfd{outputs_[0], POLLIN, 0}, pollfd{outputs_[1], POLLIN, 0}};
  const std::array<std::string*, 2> texts = {&ended_.out, &ended_.err};
  if (outputs_[0] < 0 && outputs_[1] < 0) return false;
  ::poll(waiting.data(), waiting.size(), timeout_ms);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    std::array<char, 65536> bytes{};
    ssize_t count = -1;
    while (outputs_[i] >= 0 && (count = ::read(outputs_[i], bytes.data(), bytes.size())) > 0) {
      std::string& text = *texts[i];
      text.append(bytes.data(), static_cast<std::size_t>(count));
      if (text.size() > 2 * kept_bytes_) text.erase(0, text.size() - kept_bytes_);
      if (timeout_ms < 0) break;  // the other one may be full
    }
    if (outputs_[i] >= 0 && count == 0) {
      ::close(outputs_[i]);
      outputs_[i] = -1;
    }
  }
  return outputs_[0] >= 0 || outputs_[1] >= 0;
}

/// True once the program has ended; `options` are those of waitpid.
bool StartedProgram::reap(int options) {
  if (process_ == 0) return true;
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(process_, &status, options);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return false;
  // ECHILD: this process has a handler that reaps every child, or ignores SIGCHLD.
  if (reaped == process_ && WIFEXITED(status)) ended_.exit_code = WEXITSTATUS(status);
  if (reaped == process_ && WIFSIGNALED(status)) ended_.signal = WTERMSIG(status);
  process_ = 0;
  return true;
}

bool StartedProgram::has_ended(std::chrono::milliseconds pause) {
  const auto ms = static_cast<int>(pause.count());
  const bool is_open = read_outputs(ms);
  if (!reap(WNOHANG)) {
    if (!is_open) ::poll(nullptr, 0, ms);
    return false;
  }
  (void)read_outputs(0);
  for (std::string* text : {&ended_.out, &ended_.err}) {
    if (text->size() > kept_bytes_) text->erase(0, text->size() - kept_bytes_);
  }
  return true;
}

void StartedProgram::wait() {
  while (read_outputs(-1)) {
  }
  (void)reap(0);
  for (std::string* text : {&ended_.out, &ended_.err}) {
    if (text->size() > kept_bytes_) text->erase(0, text->size() - kept_bytes_);
  }
}

Ended run_program(const ProgramStart& start) {
  StartedProgram program;
  const int error = program.start(start);
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
    throw Error(ExitCode::failed, fmt::format("the system has no process or pipe for {}: {}",
                                              start.words.front(), std::strerror(error)));
  }
  if (error != 0) return {.exit_code = kNotStarted, .signal = 0, .out = {}, .err = {}};
  program.wait();
  return program.ended();
}

Ended run_shell(const std::string& text, const std::filesystem::path& folder) {
  Ended ended = run_program({.words = {"/bin/sh", "-c", text}, .folder = folder, .input = {}});
  const int signal = ended.exit_code - kKilledInShell;
  if (signal > 0 && signal < NSIG) {
    ended.exit_code = -1;
    ended.signal = signal;
  }
  return ended;
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  std::size_t begin = rest.size();
  for (; count > 0 && begin != std::string_view::npos && begin > 0; --count) {
    begin = rest.rfind('\n', begin - 1);
  }
  if (begin == std::string_view::npos) return std::string(rest);
  if (begin < rest.size() && rest[begin] == '\n') ++begin;
  return std::string(rest.substr(begin));
}

}  // namespace kiln
