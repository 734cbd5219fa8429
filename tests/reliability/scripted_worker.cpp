// Reads the script out of a source, logs each request, and answers, hangs or dies by the script.
// SPDX-License-Identifier: Apache-2.0
#include "scripted_worker.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/backend.hpp"
#include "backends/driver_errors.hpp"
#include "core/errors.hpp"
#include "core/hash.hpp"
#include "tuner/device/trial_engine.hpp"

namespace kiln {
namespace {

constexpr std::size_t kSamples = 5;
constexpr std::size_t kFinalRounds = 10;

struct Script {
  std::string deed;
  std::int64_t number = 0;
};

Script parse_script(const std::string& text) {
  const std::string mark = "#define SCRIPT ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) throw InputError("the source holds no script");
  std::istringstream words(text.substr(at + mark.size(), text.find('\n', at)));
  Script script;
  words >> script.deed >> script.number;
  return script;
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

[[noreturn]] void crash() {
  ::raise(SIGSEGV);
  std::abort();
}

/// Ends with std::bad_alloc, thanks to the limit that compile workers have.
[[noreturn]] void take_all_memory() {
  std::vector<std::unique_ptr<std::vector<char>>> hoard;
  while (true) hoard.push_back(std::make_unique<std::vector<char>>(std::size_t{16} << 20));
}

void log_line(const std::string& line) {
  const char* path = std::getenv(kScriptLogVariable);
  if (path == nullptr) return;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::ofstream(path, std::ios::app)
      << line << ' ' << std::chrono::nanoseconds(now).count() << '\n';
}

bool asked_to_hang(const std::string& where) {
  const char* asked = std::getenv(kScriptHangVariable);
  return asked != nullptr && where == asked;
}

bool is_unplugged() {
  const char* path = std::getenv(kScriptUnpluggedVariable);
  return path != nullptr && std::ifstream(path).good();
}

/// What a driver whose device is gone does when it is opened.
void open_driver() {
  if (!is_unplugged()) return;
  std::string deed;
  std::ifstream(std::getenv(kScriptUnpluggedVariable)) >> deed;
  if (deed == "crash") crash();
  throw DeviceError("no device cuda:0: there are 0");
}

struct Pace {
  std::chrono::milliseconds compile{0};
  std::chrono::milliseconds trial{0};
};

Pace pace() {
  const char* asked = std::getenv(kScriptPaceVariable);
  if (asked == nullptr) return {};
  std::istringstream words(asked);
  long compile = 0;
  long trial = 0;
  words >> compile >> trial;
  return {std::chrono::milliseconds(compile), std::chrono::milliseconds(trial)};
}

bool is_wrong_elsewhere(const Script& script) {
  const char* number = std::getenv(kScriptWrongElsewhereVariable);
  if (number == nullptr) return false;
  return std::string_view(number) == "all" || std::to_string(script.number) == number;
}

/// As often as the script's run was begun, this one included.
int runs_logged(const Script& script) {
  std::ifstream lines(std::getenv(kScriptLogVariable));
  const std::string wanted = script.deed + " " + std::to_string(script.number) + " ";
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with(wanted) ? 1 : 0;
  return count;
}

/// As a kernel does that brings the machine down.
[[noreturn]] void kill_supervisor() {
  ::kill(::getppid(), SIGKILL);
  hang();
}

/// The binary is the source itself.
class ScriptedCompiler final : public Compiler {
 public:
  Result<Binary> compile(const Source& source) override {
    const Script script = parse_script(source.text);
    if (script.deed == "compiler_crash") crash();
    if (script.deed == "compiler_hang") hang();
    if (script.deed == "compiler_greedy") take_all_memory();
    std::this_thread::sleep_for(pace().compile);
    Binary binary;
    binary.data.resize(source.text.size());
    std::memcpy(binary.data.data(), source.text.data(), source.text.size());
    return binary;
  }
};

class ScriptedEngine final : public TrialEngine {
 public:
  [[nodiscard]] const DeviceInfo& device() const override { return device_; }
  [[nodiscard]] std::string energy_unavailable() const override { return ""; }
  [[nodiscard]] std::string graphs_unavailable() const override { return "it plays a device"; }

  ProblemReport prepare(const ProblemJob& job) override {
    measures_energy_ = job.measure.energy;
    if (asked_to_hang("prepare")) hang();
    log_line("ready 0");
    return {std::nullopt, "the script"};
  }

  TrialReport run(const TrialJob& job,
                  const std::function<void(const Checked&)>& checked) override {
    const Script script = script_of(job.binary);
    if (job.purpose == TrialPurpose::prove) return proof_of(script);
    log_line(script.deed + " " + std::to_string(script.number));
    if (script.deed == "kills_everything") kill_supervisor();
    if (script.deed == "kills_worker_then_everything") {
      if (runs_logged(script) > 1) kill_supervisor();
      crash();
    }
    TrialReport report;
    report.failure = fault_of(script);
    if (report.failure) {
      log_line("fault " + std::to_string(script.number));
      return report;
    }
    const double ns = scripted_time_ns(script.number);
    checked({ns});
    // Some hang only once they are measured.
    if (script.deed == "hang") hang();
    std::this_thread::sleep_for(pace().trial);
    report.samples.ns.assign(kSamples, ns);
    if (measures_energy_) report.energy_j = scripted_energy_j(script.number);
    report.verify_ns = report.measure_ns = 1000;
    return report;
  }

  FinalsReport run_finals(const FinalsJob& job) override {
    if (asked_to_hang("finals")) hang();
    FinalsReport report;
    if (is_unplugged()) {
      report.failure = driver_failure(DriverCode::device_unavailable);
      return report;
    }
    report.wrong.resize(job.binaries.size());
    for (const Binary& binary : job.binaries) {
      const std::int64_t number = script_of(binary).number;
      report.samples.emplace_back(kFinalRounds, scripted_time_ns(number));
      if (measures_energy_) report.energy_j.emplace_back(kFinalRounds, scripted_energy_j(number));
    }
    return report;
  }

 private:
  static Script script_of(const Binary& binary) {
    return parse_script({reinterpret_cast<const char*>(binary.data.data()), binary.data.size()});
  }

  static TrialReport proof_of(const Script& script) {
    if (std::getenv(kScriptSlowProofsVariable) != nullptr)
      std::this_thread::sleep_for(std::chrono::seconds(2));
    TrialReport report;
    report.proven = !is_wrong_elsewhere(script);
    if (!report.proven)
      report.failure = Failure{Outcome::wrong_result, "on n=3: 1 of 3 elements of 'y' are wrong"};
    return report;
  }

  std::optional<Failure> fault_of(const Script& script) {
    if (is_unplugged()) return driver_failure(DriverCode::device_unavailable);
    if (poisoned_) return driver_failure(DriverCode::context_is_destroyed);
    if (script.deed == "hang" && script.number % 2 == 0) hang();
    if (script.deed == "wrong_result")
      return Failure{Outcome::wrong_result, "1 of 1000 elements of 'y' are wrong"};
    if (script.deed == "out_of_memory") return driver_failure(DriverCode::out_of_memory);
    // Drivers differ: one reports the fault, another ends the process.
    const bool dies = script.number % 4 == 3;
    if (script.deed == "illegal_address")
      return dies ? die() : driver_failure(DriverCode::illegal_address);
    if (script.deed == "misaligned_access")
      return dies ? die() : driver_failure(DriverCode::misaligned_address);
    if (script.deed == "device_assert")
      return dies ? die() : driver_failure(DriverCode::device_assert);
    return std::nullopt;
  }

  [[noreturn]] static std::optional<Failure> die() { crash(); }

  std::optional<Failure> driver_failure(DriverCode code) {
    const auto number = static_cast<int>(code);
    const ErrorMeaning meaning = meaning_of_driver_code(number, Outcome::launch_error);
    poisoned_ |= meaning.sticky;
    return Failure{meaning.outcome, "the driver reports error " + std::to_string(number),
                   meaning.sticky};
  }

  DeviceInfo device_ = device_for_architecture(kScriptedBackend, "sm_90a");
  bool poisoned_ = false;
  bool measures_energy_ = false;
};

/// Logs the runs of a real engine.
class LoggedEngine final : public TrialEngine {
 public:
  explicit LoggedEngine(std::unique_ptr<TrialEngine> real) : real_(std::move(real)) {}
  const DeviceInfo& device() const override { return real_->device(); }
  std::string energy_unavailable() const override { return real_->energy_unavailable(); }
  std::string graphs_unavailable() const override { return real_->graphs_unavailable(); }
  ProblemReport prepare(const ProblemJob& job) override { return real_->prepare(job); }
  TrialReport run(const TrialJob& job,
                  const std::function<void(const Checked&)>& checked) override {
    log_line("run " + std::to_string(hash64(job.config.text())));
    return real_->run(job, checked);
  }
  FinalsReport run_finals(const FinalsJob& job) override { return real_->run_finals(job); }

 private:
  std::unique_ptr<TrialEngine> real_;
};

}  // namespace

double scripted_time_ns(std::int64_t number) {
  return 1000.0 + 50.0 * std::abs(static_cast<double>(number) - 7.0);
}

double scripted_energy_j(std::int64_t number) {
  return 1e-3 * (1.0 + std::abs(static_cast<double>(number) - 3.0));
}

WorkerParts scripted_parts() {
  const auto open_compiler = [](const WorkerOptions&, const DeviceInfo&) {
    return std::make_unique<ScriptedCompiler>();
  };
  const auto open_engine = [](const WorkerOptions&) {
    open_driver();
    return std::make_unique<ScriptedEngine>();
  };
  return {open_compiler, open_engine};
}

WorkerParts logged_real_parts() {
  WorkerParts parts = real_parts();
  parts.open_engine = [open = parts.open_engine](const WorkerOptions& options) {
    return std::make_unique<LoggedEngine>(open(options));
  };
  return parts;
}

}  // namespace kiln
