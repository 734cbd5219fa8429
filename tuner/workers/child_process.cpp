// Starts a program by fork and exec with its descriptors, and kills and reaps it.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "core/errors.hpp"

namespace kiln {
namespace {

[[noreturn]] void fail_child(const std::string& call) {
  throw Error(ExitCode::failed, "cannot start a worker process: " + call + ": " +
                                    ::strerror(errno) +
                                    "; `ulimit -a` shows the limits of this shell");
}

/// "NAME=value" for every variable, the command's own ones in place of this process's.
std::vector<std::string> environment_of(const ChildCommand& command) {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    if (!command.environment.contains(line.substr(0, line.find('=')))) lines.push_back(line);
  }
  for (const auto& [name, value] : command.environment) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What the child does between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* program, char** arguments, char** environment, int socket,
                         int output, pid_t parent, std::uint64_t memory_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before prctl
  ::setpgid(0, 0);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // Not RLIMIT_AS: drivers reserve address space far beyond what they use.
  const rlimit memory{memory_bytes, memory_bytes};
#if defined(__SANITIZE_THREAD__)
  const bool is_limited = false;  // the sanitizer's shadow is data, too
#else
  const bool is_limited = memory_bytes > 0;
#endif
  if (is_limited) ::setrlimit(RLIMIT_DATA, &memory);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  // Above the numbers that they get: of a parent whose stdin or stdout is closed, they may be 0
  // or 1.
  const auto moved_up = [](int file) { return ::fcntl(file, F_DUPFD_CLOEXEC, kWorkerSocket + 1); };
  const int high_socket = moved_up(socket);
  const int high_output = moved_up(output);
  const int nothing = moved_up(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing, 0);
  ::dup2(high_output, 1);
  ::dup2(high_output, 2);
  ::dup2(high_socket, kWorkerSocket);
  ::close_range(kWorkerSocket + 1, ~0U, 0);
  ::execve(program, arguments, environment);
  constexpr std::string_view kMessage = "cannot execute the worker program\n";
  [[maybe_unused]] const ssize_t written = ::write(2, kMessage.data(), kMessage.size());
  ::_exit(127);
}

std::string describe(int status) {
  if (!WIFSIGNALED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  const char* name = ::sigabbrev_np(WTERMSIG(status));
  return "signal " +
         (name == nullptr ? std::to_string(WTERMSIG(status)) : "SIG" + std::string(name));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    value_ = other.value_;
    other.value_ = -1;
  }
  return *this;
}

void Descriptor::reset() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

ChildProcess::ChildProcess(const ChildCommand& command) {
  std::array<int, 2> sockets{};
  std::array<int, 2> pipe{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    fail_child("socketpair");
  socket_ = Descriptor(sockets[0]);
  const Descriptor child_socket(sockets[1]);
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) fail_child("pipe");
  output_ = Descriptor(pipe[0]);
  const Descriptor child_output(pipe[1]);
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);

  std::vector<std::string> argument_texts = {command.program};
  argument_texts.insert(argument_texts.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment_texts = environment_of(command);
  std::vector<char*> arguments = pointers_to(argument_texts);
  std::vector<char*> environment = pointers_to(environment_texts);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail_child("fork");
  if (pid_ == 0) {
    become(command.program.c_str(), arguments.data(), environment.data(), child_socket.get(),
           child_output.get(), parent, command.memory_bytes);
  }
  ::setpgid(pid_, pid_);  // both sides do it: whoever comes first
}

ChildProcess::~ChildProcess() {
  kill();
  (void)wait();
}

void ChildProcess::kill() {
  if (reaped_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

/// The child's status once it has ended; nullopt: not within `patience`.
std::optional<int> ChildProcess::reap_within(std::chrono::milliseconds patience) const {
  constexpr int kUnknown = 127 << 8;  // somebody else reaped it
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (true) {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_) return status;
    if (got < 0 && errno != EINTR) return kUnknown;
    if (std::chrono::steady_clock::now() > give_up) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string ChildProcess::wait() {
  if (reaped_) return ending_;
  // A worker whose socket closed is ending; one that lingers (a driver's exit handler that hangs)
  // is not waited for. A killed one may have to wait for its device before it can go.
  constexpr std::chrono::seconds kPatience{2};
  constexpr std::chrono::seconds kPatienceWithTheKilled{10};
  std::optional<int> status = reap_within(kPatience);
  if (!status) {
    kill();
    status = reap_within(kPatienceWithTheKilled);
  }
  ::kill(-pid_,
         SIGKILL);  // its own children, should it have left any (a linker, a compiler driver)
  reaped_ = true;
  ending_ = status ? describe(*status) : "no end though it was killed";
  return ending_;
}

}  // namespace kiln
