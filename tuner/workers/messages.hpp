// The messages between the supervisor and its workers, as plain values.
//
// Only messages.cpp knows their form as JSON. decode_* throws InputError for a frame of another
// shape; a worker that sends one is treated as dead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/result.hpp"
#include "core/trial.hpp"
#include "tuner/rules/measure_options.hpp"
#include "tuner/workers/protocol.hpp"

namespace kiln {

/// The kind of a frame: its header's "type"; empty for garbage.
[[nodiscard]] std::string type_of(const Frame& frame);

// --- Any worker ---

/// The worker cannot do its task (no driver, no compiler, a spec whose reference does not exist).
/// Ends the run.
struct Unavailable {
  std::string reason;
  ExitCode code = ExitCode::no_device;
};
[[nodiscard]] Frame encode(const Unavailable& message);
[[nodiscard]] Unavailable decode_unavailable(const Frame& frame);

// --- Listing worker: sends one of these and ends ---

struct DeviceList {
  std::vector<DeviceInfo> devices;
};
[[nodiscard]] Frame encode(const DeviceList& message);
[[nodiscard]] DeviceList decode_device_list(const Frame& frame);

// --- Compile worker: CompileJob -> CompileReport, one at a time ---

struct CompileJob {
  DeviceInfo target;
  Source source;
  BinaryUse use = BinaryUse::kept;  ///< of all jobs of a worker
};
struct CompileReport {
  std::optional<Failure> failure;
  Binary binary;
  std::int64_t compile_ns = 0;
};
[[nodiscard]] Frame encode(const CompileJob& message);
[[nodiscard]] CompileJob decode_compile_job(const Frame& frame);
[[nodiscard]] Frame encode(const CompileReport& message);
[[nodiscard]] CompileReport decode_compile_report(const Frame& frame);

// --- Device worker ---

/// The first message of the device worker: the opened device.
struct Opened {
  DeviceInfo device;
  std::string energy_unavailable;  ///< why energy cannot be measured; empty if it can
  std::string graphs_unavailable;  ///< why launches cannot be captured; empty if they can
};
[[nodiscard]] Frame encode(const Opened& message);
[[nodiscard]] Opened decode_opened(const Frame& frame);

/// Everything that trials of one problem share: the worker makes arguments and references from it.
struct ProblemJob {
  std::string spec_path;
  std::string spec_text;
  std::map<std::string, std::string> spec_files;
  std::vector<std::pair<std::string, Value>> problem;  ///< Problem::fields()
  std::uint64_t seed = 0;                              ///< of the inputs
  MeasureOptions measure;
  double max_cpu_operations = 0;  ///< above: the device reference stands in for the CPU loop
  double extra_operations = 0;    ///< of the CPU loop on each extra problem; 0: no extra problems
};
struct ProblemReport {
  std::optional<Failure> failure;
  std::string reference;  ///< how results are proved, in words
};
[[nodiscard]] Frame encode(const ProblemJob& message);
[[nodiscard]] ProblemJob decode_problem_job(const Frame& frame);
[[nodiscard]] Frame encode(const ProblemReport& message);
[[nodiscard]] ProblemReport decode_problem_report(const Frame& frame);

/// The task of a config on the device.
enum class TrialPurpose {
  measure,  ///< verify and measure it
  prove,    ///< run every check, those on other problems included; measure nothing
};
struct TrialJob {
  Config config;
  LaunchPlan plan;
  Binary binary;
  double incumbent_ns = 0;  ///< best median so far; 0: none
  TrialPurpose purpose = TrialPurpose::measure;
};
struct TrialReport {
  std::optional<Failure> failure;
  bool proven = false;  ///< whether it passed every check
  double max_error = 0;
  Samples samples;
  std::optional<double> energy_j;  ///< of one run, where it was asked for
  std::int64_t verify_ns = 0;
  std::int64_t measure_ns = 0;
  std::int64_t runs = 0;  ///< of all steps, on the problem that is tuned
};
[[nodiscard]] Frame encode(const TrialJob& message);
[[nodiscard]] TrialJob decode_trial_job(const Frame& frame);
[[nodiscard]] Frame encode(const TrialReport& message);
[[nodiscard]] TrialReport decode_trial_report(const Frame& frame);

/// Sent between the first check and the measuring, so that the supervisor can set the next
/// deadline.
struct Checked {
  double run_ns = 0;  ///< one warm run
};
[[nodiscard]] Frame encode(const Checked& message);
[[nodiscard]] Checked decode_checked(const Frame& frame);

/// `ok` configs that run in turn.
struct FinalsJob {
  std::vector<LaunchPlan> plans;
  std::vector<Binary> binaries;  ///< one a plan
  FinalsOptions rounds;
};
struct FinalsReport {
  std::optional<Failure> failure;
  /// Per finalist: why its result was wrong after the rounds; empty if it was right.
  std::vector<std::string> wrong;
  std::vector<std::vector<double>> samples;   ///< [finalist][round], nanoseconds
  std::vector<std::vector<double>> energy_j;  ///< the same in joules, where it was asked for
};
[[nodiscard]] Frame encode(const FinalsJob& message);
[[nodiscard]] FinalsJob decode_finals_job(const Frame& frame);
[[nodiscard]] Frame encode(const FinalsReport& message);
[[nodiscard]] FinalsReport decode_finals_report(const Frame& frame);

}  // namespace kiln
