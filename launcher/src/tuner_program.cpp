// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/tuner_program.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace kiln {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{30};
constexpr std::chrono::milliseconds kPatience{2000};  ///< between being asked to end and SIGKILL
constexpr std::size_t kMostSaid = 4096;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

fs::path in_search_path(const std::string& name) {
  const char* value = std::getenv("PATH");
  std::istringstream folders(value == nullptr ? "" : value);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

/// The file that this code was loaded from.
fs::path this_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_tuner), &info) == 0) return {};
  std::error_code error;
  return fs::canonical(info.dli_fname, error);
}

/// PREFIX/bin/kiln for a library in PREFIX/lib or PREFIX/lib/x86_64-linux-gnu.
fs::path beside_this_library() {
  fs::path folder = this_library().parent_path();
  for (int up = 0; up < 2 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    if (is_program(folder / "bin" / "kiln")) return folder / "bin" / "kiln";
  }
  return {};
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
 public:
  /// Signals as a program expects them, whatever the application made of its own.
  Attributes() {
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
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

/// A started program and the end of what it says.
class Child {
 public:
  ~Child() {
    if (output_ >= 0) ::close(output_);
  }
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// 0, or the errno.
  int start(const fs::path& program, const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    output_ = ends[0];
    std::string name = program.string();
    std::vector<char*> words = {name.data()};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    FileActions files;
    ::posix_spawn_file_actions_addopen(files.get(), 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(files.get(), 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(files.get(), ends[1], 2);
    ::posix_spawn_file_actions_addclosefrom_np(files.get(), 3);
    Attributes attributes;
    const int error = ::posix_spawn(&process_, program.c_str(), files.get(), attributes.get(),
                                    words.data(), environ);
    ::close(ends[1]);
    return error;
  }

  void signal(int number) const { ::kill(process_, number); }

  /// Has it ended? Waits a moment for it to say or do something.
  bool ended(int& exit_code) {
    pollfd wait{output_, POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(kPause.count()));
    const bool closed = !read_output();
    int status = 0;
    const pid_t reaped = ::waitpid(process_, &status, WNOHANG);
    if (reaped == 0) {
      if (closed) ::usleep(static_cast<useconds_t>(kPause.count()) * 1000);
      return false;
    }
    read_output();
    // ECHILD: the application has a handler that reaps every child, or ignores SIGCHLD.
    if (reaped == process_ && WIFEXITED(status)) exit_code = WEXITSTATUS(status);
    if (reaped == process_ && WIFSIGNALED(status)) exit_code = 128 + WTERMSIG(status);
    return true;
  }

  [[nodiscard]] std::string said() const { return said_; }

 private:
  /// False: nobody is left who could say more.
  bool read_output() {
    std::array<char, 1024> part{};
    ssize_t got = 0;
    while ((got = ::read(output_, part.data(), part.size())) > 0) {
      said_.append(part.data(), static_cast<std::size_t>(got));
      if (said_.size() > kMostSaid) said_.erase(0, said_.size() - kMostSaid);
    }
    return got < 0;
  }

  pid_t process_ = 0;
  int output_ = -1;
  std::string said_;
};

}  // namespace

TunerProgram find_tuner(const std::string& named) {
  if (named.find('/') != std::string::npos) {
    if (is_program(named)) return {named, ""};
    return {{}, named + " is no program"};
  }
  if (named.empty()) {
    if (const fs::path beside = beside_this_library(); !beside.empty()) return {beside, ""};
  }
  const std::string name = named.empty() ? "kiln" : named;
  if (const fs::path found = in_search_path(name); !found.empty()) return {found, ""};
  return {{},
          "there is no program '" + name +
              (named.empty() ? "' beside the library or in $PATH" : "' in $PATH")};
}

TunerEnd run_tuner(const fs::path& program, const std::vector<std::string>& arguments,
                   std::chrono::milliseconds limit, const std::function<bool()>& stop) {
  Child child;
  TunerEnd end;
  if (const int error = child.start(program, arguments); error != 0) {
    end.said = program.string() + ": " + std::strerror(error);
    return end;
  }
  end.how = TunerEnd::How::exited;
  Clock::time_point until = Clock::now() + limit;
  while (!child.ended(end.exit_code)) {
    const bool is_late = Clock::now() >= until;
    if (end.how == TunerEnd::How::exited) {
      if (!is_late && !stop()) continue;
      end.how = is_late ? TunerEnd::How::too_late : TunerEnd::How::stopped;
      until = Clock::now() + kPatience;
      child.signal(SIGTERM);
    } else if (is_late) {
      child.signal(SIGKILL);
    }
  }
  end.said = child.said();
  return end;
}

}  // namespace kiln
