// Two hundred configs, eight kinds of fault: each costs its own config and no other.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "endurance_fixture.hpp"

namespace kiln {
namespace {

const std::map<std::string, Outcome> kOutcomes = {
    {"innocent", Outcome::ok},
    {"hang", Outcome::run_timeout},
    {"illegal_address", Outcome::device_fault},
    {"misaligned_access", Outcome::device_fault},
    {"device_assert", Outcome::device_fault},
    {"out_of_memory", Outcome::out_of_memory},
    {"compiler_crash", Outcome::compile_crash},
    {"compiler_hang", Outcome::compile_timeout},
    {"wrong_result", Outcome::wrong_result},
};

std::string deed_of(const Config& config) { return std::get<std::string>(*config.find("deed")); }

/// Longest time from a sticky fault to a worker that is ready for the next config, in seconds.
double longest_recovery(const std::filesystem::path& log) {
  std::ifstream lines(log);
  double fault_ns = 0;
  double longest = 0;
  for (std::string deed, number; lines >> deed >> number;) {
    double ns = 0;
    lines >> ns;
    if (deed == "ready" && fault_ns > 0) longest = std::max(longest, (ns - fault_ns) * 1e-9);
    fault_ns = deed == "fault" ? ns : 0;
  }
  return longest;
}

using FaultsTest = EnduranceTest;

TEST_F(FaultsTest, TwoHundredConfigsWithEightKindsOfFaultGiveTwoHundredRightOutcomes) {
  const std::filesystem::path log = folder_ / "script.log";
  ::setenv(kScriptLogVariable, log.c_str(), 1);
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(scripted_request(1), store, silent);
  ::unsetenv(kScriptLogVariable);

  EXPECT_EQ(result.state, SessionState::finished);
  EXPECT_EQ(result.end, SessionEnd::exhausted);
  EXPECT_EQ(result.space_size, 200);
  std::map<std::string, int> seen;
  double worst_hang = 0;
  for (const TrialRecord& record : store.trials(result.id)) {
    const Trial& trial = record.trial;
    const std::string deed = deed_of(trial.config);
    ++seen[deed];
    EXPECT_EQ(trial.outcome, kOutcomes.at(deed)) << trial.config.text() << ": " << trial.message;
    EXPECT_EQ(trial.message.empty(), trial.ok()) << trial.config.text();
    if (trial.outcome == Outcome::run_timeout) {
      worst_hang = std::max(
          worst_hang, static_cast<double>(trial.cost.verify_ns + trial.cost.measure_ns) * 1e-9);
    }
  }
  for (const auto& [deed, outcome] : kOutcomes) {
    EXPECT_EQ(seen[deed], deed == "innocent" ? 40 : 20) << deed;
  }
  ASSERT_TRUE(result.best.has_value());
  EXPECT_EQ(result.best->config.text(), "script:deed=innocent,number=7");
  EXPECT_TRUE(store.check().empty());
  std::printf("a hang took %.2f s at most; after a fault a worker was ready within %.3f s\n",
              worst_hang, longest_recovery(log));
}

TEST_F(FaultsTest, ACompilerThatTakesAllMemoryIsStoppedAndBlamed) {
  TuneRequest asked = scripted_request(1);
  asked.options.variants = {"memory"};
  asked.options.compile_memory_bytes = std::uint64_t{256} << 20;
  asked.options.compile_deadline = std::chrono::seconds(20);
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  const std::vector<TrialRecord> trials = store.trials(result.id);
  ASSERT_EQ(trials.size(), 2U);  // the default config of the spec comes along
  EXPECT_EQ(trials[0].trial.outcome, Outcome::ok) << trials[0].trial.message;
  EXPECT_EQ(trials[1].trial.outcome, Outcome::compile_crash);
  EXPECT_EQ(trials[1].trial.message,
            "the compiler wanted more than the 0.25 GiB of memory that it may have");
}

}  // namespace
}  // namespace kiln
