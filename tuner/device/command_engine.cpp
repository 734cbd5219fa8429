// Builds the program of [command], and runs it for its check, its samples and the finals.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/command_engine.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "core/command_spec.hpp"
#include "core/config.hpp"
#include "core/program.hpp"
#include "core/scratch_folder.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "spec/parse_spec.hpp"
#include "tuner/device/command_reading.hpp"
#include "tuner/workers/worker_options.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kQuotedProgramLines = 12;
/// A first run that takes this many times the best known one is not repeated.
constexpr double kHopeless = 1.5;

fs::path builds_folder() {
  const char* folder = std::getenv(kBuildsVariable);
  return folder != nullptr ? fs::path(folder) : fs::temp_directory_path();
}

/// Of what a program wrote: the line that most likely tells what went wrong.
std::string telling_line(const std::string& text) {
  std::istringstream lines(text);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("rror") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

/// Goes on after a message: the telling line behind a colon, since tables show one line; then the
/// last lines, where there are more.
std::string quote(const std::string& text) {
  const std::string line = telling_line(text);
  if (line.empty()) return "";
  const std::string last = last_lines(text, kQuotedProgramLines);
  return ": " + line + (last == line ? "" : "\n" + last);
}

std::string quote(const Ended& ended) { return quote(ended.err.empty() ? ended.out : ended.err); }

Failure failed_run(const std::string& what, const Ended& ended) {
  const Outcome outcome = ended.signal != 0 ? Outcome::device_fault : Outcome::launch_error;
  return {outcome, fmt::format("{} ended with {}{}", what, ended.ending(), quote(ended))};
}

class CommandCompiler final : public Compiler {
 public:
  Result<Binary> compile(const Source& source) override {
    const std::string folder = make_folder(builds_folder()).string();
    Binary binary;
    const Ended ended = run_shell("set -e\n" + source.text, folder);
    binary.log = ended.out + ended.err;
    if (!ended.is_ok()) {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
      const std::string message =
          fmt::format("the build ended with {}{}", ended.ending(), quote(ended));
      return Failure{ended.signal != 0 ? Outcome::compile_crash : Outcome::compile_error, message};
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(folder.data());
    binary.data.assign(bytes, bytes + folder.size());
    return binary;
  }
};

fs::path folder_of(const Binary& binary) {
  return std::string(reinterpret_cast<const char*>(binary.data.data()), binary.data.size());
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class CommandEngine final : public TrialEngine {
 public:
  const DeviceInfo& device() const override { return device_; }
  std::string energy_unavailable() const override { return "a program has no meter of energy"; }
  std::string graphs_unavailable() const override { return "a program measures itself"; }
  ProblemReport prepare(const ProblemJob& job) override;
  TrialReport run(const TrialJob& job, const std::function<void(const Checked&)>& checked) override;
  FinalsReport run_finals(const FinalsJob& job) override;

 private:
  [[nodiscard]] Result<std::vector<double>> sample(const LaunchPlan& plan, const fs::path& folder);
  [[nodiscard]] Status check(const LaunchPlan& plan, const fs::path& folder) const;
  [[nodiscard]] Status run_trial(const TrialJob& job,
                                 const std::function<void(const Checked&)>& checked,
                                 TrialReport& report);

  DeviceInfo device_ = command_device();
  KernelSpec spec_;
  std::optional<Setting> setting_;
  MeasureOptions options_;
  std::string expected_;  ///< what `reference` printed
};

ProblemReport CommandEngine::prepare(const ProblemJob& job) {
  spec_ = parse_spec(job.spec_text, job.spec_path);
  setting_.emplace(spec_, Problem::make(spec_, job.problem), device_);
  options_ = job.measure;
  const CommandSpec& command = *spec_.command;
  if (!command.reference) {
    return {std::nullopt,
            command.check ? "the exit code of the check" : "the exit code of the run"};
  }
  const fs::path folder = make_folder(builds_folder());
  const Ended ended = run_shell(shell_text(spec_, *command.reference, setting_->scope()), folder);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!ended.is_ok()) return {failed_run("the reference", ended), {}};
  expected_ = ended.out;
  return {std::nullopt, "what the reference command prints"};
}

Result<std::vector<double>> CommandEngine::sample(const LaunchPlan& plan, const fs::path& folder) {
  const CommandSpec& command = *spec_.command;
  std::error_code ignored;
  if (!command.output.empty()) fs::remove(folder / command.output, ignored);
  const Ended ended = run_shell(plan.steps.front().entry, folder);
  if (!ended.is_ok()) return failed_run("the program", ended);
  if (command.expect && !command.expect->is_in(ended.out)) {
    return Failure{Outcome::wrong_result, fmt::format("the program printed no match of '{}'{}",
                                                      command.expect->text(), quote(ended.out))};
  }
  return read_samples(command,
                      command.output.empty() ? ended.out : text_of_file(folder / command.output));
}

Status CommandEngine::check(const LaunchPlan& plan, const fs::path& folder) const {
  if (plan.steps.size() < 2) return Done{};
  const Ended ended = run_shell(plan.steps[1].entry, folder);
  if (!ended.is_ok()) {
    return Failure{Outcome::wrong_result,
                   fmt::format("the check ended with {}{}", ended.ending(), quote(ended))};
  }
  if (spec_.command->reference && ended.out != expected_) {
    return Failure{Outcome::wrong_result,
                   "the check printed something else than the reference" + quote(ended.out)};
  }
  return Done{};
}

Status CommandEngine::run_trial(const TrialJob& job,
                                const std::function<void(const Checked&)>& checked,
                                TrialReport& report) {
  const Result<LaunchPlan> plan = setting_->plan(job.config);
  if (!plan) return plan.failure();
  const fs::path folder = folder_of(job.binary);
  const auto start = std::chrono::steady_clock::now();
  report.samples.cold_cache = false;
  for (int i = 0; i < spec_.command->runs; ++i) {
    Result<std::vector<double>> ns = sample(*plan, folder);
    if (!ns) return ns.failure();
    ++report.runs;
    if (i == 0) {
      if (Status status = check(*plan, folder); !status) return status;
    }
    checked({});  // each run has its own deadline
    report.samples.ns.insert(report.samples.ns.end(), ns->begin(), ns->end());
    if (job.purpose == TrialPurpose::prove) break;
    const bool is_slow = options_.race && job.incumbent_ns > 0 &&
                         median(report.samples.ns) > kHopeless * job.incumbent_ns;
    if (is_slow && i + 1 < spec_.command->runs) {
      report.samples.dropped_early = true;
      break;
    }
  }
  report.proven = true;
  report.measure_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  return Done{};
}

TrialReport CommandEngine::run(const TrialJob& job,
                               const std::function<void(const Checked&)>& checked) {
  TrialReport report;
  if (Status status = run_trial(job, checked, report); !status) report.failure = status.failure();
  return report;
}

FinalsReport CommandEngine::run_finals(const FinalsJob& job) {
  constexpr double kNeverNs = 1e18;  // of a run whose result was wrong
  FinalsReport report;
  std::vector<LaunchPlan> plans;
  for (const Config& config : job.configs) {
    Result<LaunchPlan> plan = setting_->plan(config);
    if (!plan) {
      report.failure = plan.failure();
      return report;
    }
    plans.push_back(std::move(*plan));
  }
  report.samples.resize(plans.size());
  report.wrong.resize(plans.size());
  for (std::size_t round = 0; round < job.rounds.min_rounds; ++round) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      Result<std::vector<double>> ns = sample(plans[i], folder_of(job.binaries[i]));
      if (!ns && ns.failure().outcome == Outcome::wrong_result) {
        report.wrong[i] = ns.failure().message;
        report.samples[i].push_back(kNeverNs);  // so that all have as many rounds
        continue;
      }
      if (!ns) {
        report.failure = ns.failure();
        return report;
      }
      report.samples[i].push_back(median(*ns));
      if (round > 0) continue;
      if (Status right = check(plans[i], folder_of(job.binaries[i])); !right) {
        report.wrong[i] = right.failure().message;
      }
    }
  }
  return report;
}

}  // namespace

std::unique_ptr<Compiler> make_command_compiler() { return std::make_unique<CommandCompiler>(); }
std::unique_ptr<TrialEngine> make_command_engine() { return std::make_unique<CommandEngine>(); }

}  // namespace kiln
