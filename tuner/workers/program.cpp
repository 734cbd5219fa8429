// Starts a program with pipes for its outputs, reads both, and waits for its end.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "tuner/workers/child_process.hpp"

namespace kiln {
namespace {

/// A shell whose last program was killed exits with this and the number of the signal.
constexpr int kKilledInShell = 128;

constexpr std::size_t kKeptBytes = std::size_t{4} << 20U;
constexpr int kNotStarted = 127;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ExitCode::internal, std::string("pipe2: ") + std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become_program(char* const* words, const char* folder, int out, int err) {
  const int in = ::open("/dev/null", O_RDONLY);
  const bool ready = in >= 0 && ::dup2(in, STDIN_FILENO) >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
                     ::dup2(err, STDERR_FILENO) >= 0 && ::chdir(folder) == 0;
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  if (ready) ::execvp(words[0], words);
  ::_exit(kNotStarted);
}

/// Appends what there is; false at the end.
bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> bytes{};
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(bytes.data(), static_cast<std::size_t>(count));
  if (text.size() > 2 * kKeptBytes) text.erase(0, text.size() - kKeptBytes);
  return count > 0;
}

void read_both(const Pipe& out, const Pipe& err, Ended& ended) {
  std::array<pollfd, 2> waiting = {pollfd{out.read.get(), POLLIN, 0},
                                   pollfd{err.read.get(), POLLIN, 0}};
  const std::array<std::string*, 2> texts = {&ended.out, &ended.err};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      if (!drain(waiting[i].fd, *texts[i])) waiting[i].fd = -1;
    }
  }
}

}  // namespace

std::string Ended::ending() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", exit_code);
}

Ended run_program(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string where = folder.string();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const pid_t child = ::fork();
  if (child < 0) throw Error(ExitCode::internal, std::string("fork: ") + std::strerror(errno));
  if (child == 0) become_program(pointers.data(), where.c_str(), out.write.get(), err.write.get());
  out.write.reset();
  err.write.reset();
  Ended ended;
  read_both(out, err, ended);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
  } else {
    ended.exit_code = WEXITSTATUS(status);
  }
  return ended;
}

Ended run_shell(const std::string& text, const std::filesystem::path& folder) {
  Ended ended = run_program({"/bin/sh", "-c", text}, folder);
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
