// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/tuner_program.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/program.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{30};
constexpr std::chrono::milliseconds kPatience{2000};  ///< between being asked to end and SIGKILL
constexpr std::size_t kMostSaid = 4096;
constexpr int kKilledBySignal = 128;  // and its number, as shells have it

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
  ProgramStart start;
  start.words = {program.string()};
  start.words.insert(start.words.end(), arguments.begin(), arguments.end());
  start.keeps_out = false;
  start.kept_bytes = kMostSaid;
  StartedProgram child;
  TunerEnd end;
  if (const int error = child.start(start); error != 0) {
    end.said = program.string() + ": " + std::strerror(error);
    return end;
  }
  end.how = TunerEnd::How::exited;
  Clock::time_point until = Clock::now() + limit;
  while (!child.has_ended(kPause)) {
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
  const Ended& ended = child.ended();
  end.exit_code = ended.signal != 0 ? kKilledBySignal + ended.signal : ended.exit_code;
  end.said = ended.err;
  return end;
}

}  // namespace kiln
