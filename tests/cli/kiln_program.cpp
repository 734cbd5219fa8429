// SPDX-License-Identifier: Apache-2.0
#include "kiln_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kScale = KILN_SOURCE_DIR "/tests/cli/kernels/scale";

void send_stream(int stream, const fs::path& file) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(opened, stream);
}

[[noreturn]] void become_kiln(const fs::path& folder, const fs::path& streams, const Words& words,
                              const Environment& environment) {
  send_stream(STDOUT_FILENO, streams.string() + ".out");
  send_stream(STDERR_FILENO, streams.string() + ".err");
  for (const char* name : {"KILN_DB", "KILN_CACHE", "XDG_DATA_HOME"}) ::unsetenv(name);
  ::setenv("HOME", folder.c_str(), 1);
  ::setenv("XDG_CACHE_HOME", KILN_TEST_CACHE, 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments = {const_cast<char*>("kiln")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  // The kernels of the tests are their own. $KILN_TEST_ASKS: a test of what strangers' folders do.
  const auto runs_code = [](const std::string& word) {
    return word == "tune" || word == "sweep" || word == "check" || word == "compare";
  };
  if (!words.empty() && runs_code(words.front()) && ::getenv("KILN_TEST_ASKS") == nullptr)
    arguments.push_back(const_cast<char*>("--trust"));
  arguments.push_back(nullptr);
  if (::chdir(folder.c_str()) == 0) ::execv(KILN_PROGRAM, arguments.data());
  ::_exit(127);
}

bool has_opencl(const Json& backends) {
  return std::any_of(backends.begin(), backends.end(), [](const Json& entry) {
    return entry["backend"] == "opencl" && !entry["devices"].empty();
  });
}

}  // namespace

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Words::Words(const std::string& line) {
  std::istringstream words(line);
  assign(std::istream_iterator<std::string>(words), {});
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

RunningKiln::RunningKiln(const fs::path& folder, const Words& words,
                         const Environment& environment) {
  static int runs = 0;
  streams_ = folder / (".run-" + std::to_string(++runs));
  process_ = ::fork();
  if (process_ == 0) become_kiln(folder, streams_, words, environment);
}

RunningKiln::~RunningKiln() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void RunningKiln::signal(int number) const {
  if (process_ > 0) ::kill(process_, number);
}

bool RunningKiln::has_ended() {
  int status = 0;
  if (process_ > 0 && ::waitpid(process_, &status, WNOHANG) == process_) collect(status);
  return process_ == 0;
}

std::string RunningKiln::error_text() const { return read_text(streams_.string() + ".err"); }

Output RunningKiln::output() {
  int status = 0;
  if (process_ > 0 && ::waitpid(process_, &status, 0) == process_) collect(status);
  return output_;
}

void RunningKiln::collect(int status) {
  process_ = 0;
  output_ = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(streams_.string() + ".out"),
             read_text(streams_.string() + ".err")};
}

Output ProgramTest::kiln(const Words& words, const Environment& environment) const {
  return RunningKiln(folder_, words, environment).output();
}

Json ProgramTest::kiln_json(const Words& words) const {
  const Output output = kiln(words);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_TRUE(Json::accept(output.out)) << output.out;
  return Json::parse(output.out, nullptr, false);
}

void ProgramTest::write(const fs::path& name, const std::string& text) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

void ProgramTest::write_gzip(const std::string& name, const std::string& text) const {
  const gzFile file = gzopen((folder_ / name).c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

void ProgramTest::copy_kernel(const std::string& kernel, const std::string& copy) const {
  fs::copy(fs::path(KILN_SOURCE_DIR) / kernel, folder_ / copy, fs::copy_options::recursive);
}

void ProgramTest::edit(const fs::path& name, const std::string& from, const std::string& to) const {
  std::string text = read_text(folder_ / name);
  const std::size_t place = text.find(from);
  ASSERT_NE(place, std::string::npos) << name << " has no " << from;
  ASSERT_EQ(text.find(from, place + 1), std::string::npos) << name << " has more than one " << from;
  write(name, text.replace(place, from.size(), to));
}

void TuningTest::SetUp() {
  const Json backends = Json::parse(kiln("devices --json").out);
  if (!has_opencl(backends)) GTEST_SKIP() << "no OpenCL device here";
}

Words TuningTest::tune_scale(const Words& more) {
  return Words(fmt::format("tune {} --problem n=100 --device opencl --warm-cache --compile-workers "
                           "1 --db kiln.db",
                           kScale)) +
         more;
}

}  // namespace kiln::cli
