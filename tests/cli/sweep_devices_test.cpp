// A sweep over two devices, with PoCL's as many as its environment names.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "kiln_program.hpp"
#include "pty_program.hpp"

namespace kiln::cli {
namespace {

using ::testing::EndsWith;

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const Environment kTwoEqual = {{"POCL_DEVICES", "pthread pthread"}};
const Environment kTwoKinds = {{"POCL_DEVICES", "pthread basic"}};

/// A file of /proc; empty if the process has ended.
std::string read_proc(const fs::path& path) {
  try {
    return read_text(path);
  } catch (const std::exception&) {
    return "";
  }
}

/// The process that measures on device `ordinal` for the program `parent`.
std::optional<pid_t> device_worker(pid_t parent, int ordinal) {
  const std::string wanted = fmt::format("device --backend opencl --device {} ", ordinal);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string words = read_proc(entry.path() / "cmdline");
    std::replace(words.begin(), words.end(), '\0', ' ');
    if (words.find("worker " + wanted) == std::string::npos) continue;
    const std::string status = read_proc(entry.path() / "stat");
    std::istringstream fields(status.substr(std::min(status.rfind(')') + 1, status.size())));
    char state = 0;
    pid_t found = 0;
    if (fields >> state >> found && found == parent && state != 'Z')
      return static_cast<pid_t>(std::stol(name));
  }
  return std::nullopt;
}

class SweepDevices : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    if (devices(kTwoEqual) != 2 || devices(kTwoKinds) != 2)
      GTEST_SKIP() << "the OpenCL here has no two devices (POCL_DEVICES)";
  }

  [[nodiscard]] std::size_t devices(const Environment& environment) const {
    const Json backends = Json::parse(kiln("devices --json", environment).out);
    for (const Json& entry : backends) {
      if (entry["backend"] == "opencl") return entry["devices"].size();
    }
    return 0;
  }

  /// Problems n=100, n=101, ...
  void write_plan(int problems, const std::string& budget) const {
    std::string text = "name = \"shared\"\n[defaults]\n" + budget + "\n[[kernels]]\nkernel = \"" +
                       KILN_SOURCE_DIR + "/tests/cli/kernels/scale\"\nproblems = [";
    for (int i = 0; i < problems; ++i) text += fmt::format("\"n={}\", ", 100 + i);
    write("plan.toml", text + "]\n");
  }

  [[nodiscard]] static Words sweep(const Words& more = {}) {
    return Words("sweep plan.toml --device all --warm-cache --db kiln.db --compile-workers 2") +
           more;
  }

  [[nodiscard]] std::vector<SessionRecord> stored() const {
    if (!fs::exists(folder_ / "kiln.db")) return {};
    try {
      return Store(folder_ / "kiln.db", Store::Mode::read).sessions();
    } catch (const Error&) {
      return {};  // it is being made
    }
  }

  /// Every problem has one session, which is finished, and no config was tried twice.
  void expect_each_once(std::size_t problems) const {
    const Store store(folder_ / "kiln.db", Store::Mode::read);
    std::set<std::string> tuned;
    for (const SessionRecord& session : store.sessions()) {
      EXPECT_EQ(session.state, SessionState::finished) << session.key.problem;
      EXPECT_TRUE(tuned.insert(session.key.problem).second) << session.key.problem << " twice";
      expect_no_config_twice(store, session.id);
    }
    EXPECT_EQ(tuned.size(), problems);
    EXPECT_TRUE(store.check().empty());
  }

  static void expect_no_config_twice(const Store& store, SessionId session) {
    std::set<std::string> configs;
    for (const TrialRecord& record : store.trials(session))
      EXPECT_TRUE(configs.insert(record.trial.config.text()).second) << session;
  }
};

TEST_F(SweepDevices, EqualOnesShareAPlan) {
  write_plan(4, "trials = 2");
  const Output output = kiln(sweep("--json"), kTwoEqual);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  std::set<std::string> problems;
  std::map<std::string, int> by_device;
  const Json report = Json::parse(output.out);
  for (const Json& session : report["sessions"]) {
    problems.insert(session["problem"]);
    ++by_device[session["selector"]];
    EXPECT_EQ(session["trials"], 2);
  }
  EXPECT_EQ(problems.size(), 4U);
  EXPECT_EQ(by_device.size(), 2U) << "one device had nothing to do";
  expect_each_once(4);
  const std::size_t longest = output.err.find("[4/4] opencl:");
  ASSERT_NE(longest, std::string::npos) << output.err;
  EXPECT_LT(longest, output.err.find("[1/4] opencl:")) << output.err;

  const Output again = kiln(sweep(), kTwoEqual);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  expect_each_once(4);
}

TEST_F(SweepDevices, EachKindTunesEveryProblem) {
  write_plan(2, "trials = 2");
  const Output output = kiln(sweep(), kTwoKinds);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  std::map<std::string, std::set<std::string>> problems;  // by device
  for (const SessionRecord& session : stored())
    problems[session.key.device].insert(session.key.problem);
  ASSERT_EQ(problems.size(), 2U);
  for (const auto& [device, tuned] : problems) EXPECT_EQ(tuned.size(), 2U) << device;
  EXPECT_THAT(output.out, HasSubstr(" (opencl:0):\n\n"));
  EXPECT_THAT(output.out, HasSubstr(" (opencl:1):\n\n"));
}

TEST_F(SweepDevices, AListNamesThem) {
  write_plan(2, "trials = 2");
  Words words = sweep();
  words[3] = "opencl:1,opencl:0";
  EXPECT_EQ(kiln(words, kTwoEqual).exit_code, 0);
  expect_each_once(2);
  words[3] = "opencl:1,opencl:1";
  EXPECT_EQ(kiln(words, kTwoEqual).err,
            "kiln: error: --device opencl:1,opencl:1 names opencl:1 twice\n");
  words[3] = "all,opencl:0";
  EXPECT_EQ(kiln(words, kTwoEqual).err,
            "kiln: error: --device all,opencl:0: 'all' cannot be combined with other names\n");
  words[3] = "opencl:0,opencl:7";
  const Output missing = kiln(words, kTwoEqual);
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("there is no device 'opencl:7'"));
}

TEST_F(SweepDevices, AWorkerThatIsKilledOnceIsReplaced) {
  write_plan(3, "trials = 4");
  RunningKiln running(folder_, sweep("--strategy random"), kTwoEqual);
  bool killed = false;
  while (!killed && !running.has_ended()) {
    if (const auto worker = device_worker(running.process(), 1); worker && !stored().empty())
      killed = ::kill(*worker, SIGKILL) == 0;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(killed);
  const Output output = running.output();
  EXPECT_EQ(output.exit_code, 0) << output.err;
  expect_each_once(3);
}

TEST_F(SweepDevices, ADeviceWhoseWorkersAreAllKilledReturnsItsSession) {
  write_plan(3, "trials = 3");
  RunningKiln running(folder_, sweep("--strategy random --patience 1"), kTwoEqual);
  int kills = 0;
  while (!running.has_ended()) {
    if (const auto worker = device_worker(running.process(), 1))
      kills += ::kill(*worker, SIGKILL) == 0 ? 1 : 0;
    std::this_thread::sleep_for(2ms);
  }
  const Output output = running.output();
  EXPECT_GE(kills, 3);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.err,
              HasSubstr("; its session is given back, and opencl:1 is tried again for 1 s\n"));
  std::map<std::string, int> finished;
  for (const SessionRecord& session : stored()) {
    if (session.state != SessionState::finished) continue;
    ++finished[session.key.problem];
    EXPECT_EQ(session.device_info.ordinal, 0);
  }
  EXPECT_EQ(finished.size(), 3U);
  for (const auto& [problem, count] : finished) EXPECT_EQ(count, 1) << problem;
}

TEST_F(SweepDevices, WithoutAnyDeviceLeftTheSweepSaysSo) {
  write_plan(2, "trials = 2");
  RunningKiln running(folder_, sweep("--patience 0"), kTwoEqual);
  while (!running.has_ended()) {
    for (const int ordinal : {0, 1}) {
      if (const auto worker = device_worker(running.process(), ordinal)) ::kill(*worker, SIGKILL);
    }
    std::this_thread::sleep_for(2ms);
  }
  const Output output = running.output();
  EXPECT_EQ(output.exit_code, 4) << output.err;
  EXPECT_THAT(output.err, HasSubstr("opencl:0 takes no part any more\n"));
  EXPECT_THAT(output.err, HasSubstr("opencl:1 takes no part any more\n"));
  const Output again = kiln(sweep(), kTwoEqual);
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(SweepDevices, CtrlCKeepsAllAndEachGoesOnWithItsOwn) {
  write_plan(3, "trials = 12");
  std::map<SessionId, std::vector<std::string>> before;
  {
    RunningKiln running(folder_, sweep("--strategy random"), kTwoEqual);
    const auto deadline = std::chrono::steady_clock::now() + 120s;
    const auto is_ready = [](const SessionRecord& session) { return session.trial_count >= 2; };
    while (std::ranges::count_if(stored(), is_ready) < 2) {
      ASSERT_FALSE(running.has_ended()) << running.output().err;
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(10ms);
    }
    running.signal(SIGINT);
    const Output output = running.output();
    EXPECT_EQ(output.exit_code, 130);
    EXPECT_THAT(output.err, HasSubstr("kiln: a sweep with "));
    EXPECT_THAT(
        output.err,
        EndsWith(" of 3 sessions left was interrupted; run the same command again to continue\n"));
  }
  const auto configs = [&](SessionId id) {
    std::vector<std::string> texts;
    const Store store(folder_ / "kiln.db", Store::Mode::read);
    for (const TrialRecord& trial : store.trials(id)) texts.push_back(trial.trial.config.text());
    return texts;
  };
  std::map<SessionId, int> ordinals;
  for (const SessionRecord& session : stored()) {
    EXPECT_NE(session.state, SessionState::running);
    before[session.id] = configs(session.id);
    ordinals[session.id] = session.device_info.ordinal;
  }
  const Output again = kiln(sweep("--strategy random"), kTwoEqual);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  expect_each_once(3);
  for (const auto& [id, texts] : before) {
    const std::vector<std::string> after = configs(id);
    ASSERT_GE(after.size(), texts.size());
    EXPECT_TRUE(std::equal(texts.begin(), texts.end(), after.begin())) << "a trial was lost";
    const std::string title = fmt::format("] opencl:{} scale", ordinals[id]);
    if (texts.size() == 12) continue;  // it had ended
    const std::string line = fmt::format("session {} (continues after {}", id, texts.size());
    const std::size_t at = again.err.find(line);
    ASSERT_NE(at, std::string::npos) << again.err;
    const std::size_t start = again.err.rfind('\n', at) + 1;
    EXPECT_THAT(again.err.substr(start, at - start), HasSubstr(title))
        << "another card went on: " << again.err;
  }
}

TEST_F(SweepDevices, OnATerminalEachDeviceHasALine) {
  write_plan(2, "trials = 6");
  const TerminalOutput output =
      run_on_terminal(folder_, {160, 40}, sweep("--strategy random"), kTwoEqual);
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_THAT(output.raw, HasSubstr("\x1b[A\x1b[K")) << "never two lines at a time";
  bool both = false;
  const std::vector<std::string> drawn = output.drawn();
  for (const std::string& text : drawn) both |= text.find("opencl:1 scale") != std::string::npos;
  EXPECT_TRUE(both);
}

}  // namespace
}  // namespace kiln::cli
