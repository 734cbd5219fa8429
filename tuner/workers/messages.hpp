// The messages between the supervisor and its workers, as plain values.
//
// A message has a type, the "type" of its frame, and lists its fields: they travel as
// JSON, and the bytes of binaries in the frame's blob.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"
#include "core/trial.hpp"
#include "tuner/rules/measure_options.hpp"
#include "tuner/workers/protocol.hpp"

namespace kiln {

/// The type of the frame's message; empty for garbage.
[[nodiscard]] std::string type_of(const Frame& frame);

/// Instantiated in messages.cpp for each message, as is decode().
template <typename Message>
[[nodiscard]] Frame encode(const Message& message);

/// Throws InputError for a frame of another shape; a worker that sends one is treated as dead.
template <typename Message>
[[nodiscard]] Message decode(const Frame& frame);

// --- Any worker ---

/// The worker cannot do its task (no driver, no compiler, a spec whose reference does not exist).
/// Ends the run.
struct Unavailable {
  static constexpr const char* kType = "unavailable";
  std::string reason;
  ExitCode code = ExitCode::no_device;
};
KILN_FIELDS(Unavailable, reason, code);

// --- Listing worker: sends one of these and ends ---

struct DeviceList {
  static constexpr const char* kType = "devices";
  std::vector<DeviceInfo> devices;
};
KILN_FIELDS(DeviceList, devices);

// --- Compile worker: CompileJob -> CompileReport, one at a time ---

struct CompileJob {
  static constexpr const char* kType = "compile";
  DeviceInfo target;
  Source source;
  BinaryUse use = BinaryUse::kept;  ///< of all jobs of a worker
};
KILN_FIELDS(CompileJob, target, source, use);
struct CompileReport {
  static constexpr const char* kType = "compiled";
  std::optional<Failure> failure;
  Binary binary;
  std::int64_t compile_ns = 0;
};
KILN_FIELDS(CompileReport, failure, binary, compile_ns);

// --- Device worker ---

/// The first message of the device worker: the opened device.
struct Opened {
  static constexpr const char* kType = "opened";
  DeviceInfo device;
  std::string energy_unavailable;  ///< why energy cannot be measured; empty if it can
  std::string graphs_unavailable;  ///< why launches cannot be captured; empty if they can
};
KILN_FIELDS(Opened, device, energy_unavailable, graphs_unavailable);

/// Everything that trials of one problem share: the worker makes arguments and references from it.
struct ProblemJob {
  static constexpr const char* kType = "problem";
  std::string spec_path;
  std::string spec_text;
  std::map<std::string, std::string> spec_files;
  std::vector<std::pair<std::string, Value>> problem;  ///< Problem::fields()
  std::uint64_t seed = 0;                              ///< of the inputs
  MeasureOptions measure;
  double max_cpu_operations = 0;  ///< above: the device reference stands in for the CPU loop
  double extra_operations = 0;    ///< of the CPU loop on each extra problem; 0: no extra problems
  double reference_seconds = 2;   ///< of one run of the CPU loop; above, a config stands in
};
KILN_FIELDS(ProblemJob, spec_path, spec_text, spec_files, problem, seed, measure,
            max_cpu_operations, extra_operations, reference_seconds);
struct ProblemReport {
  static constexpr const char* kType = "prepared";
  std::optional<Failure> failure;
  std::string reference;  ///< how results are proved, in words
};
KILN_FIELDS(ProblemReport, failure, reference);

/// Sent before work that may take long, such as a run of the reference; empty when that is over.
struct Doing {
  static constexpr const char* kType = "doing";
  std::string what;
};
KILN_FIELDS(Doing, what);

/// The task of a config on the device.
enum class TrialPurpose {
  measure,  ///< verify and measure it
  prove,    ///< run every check, those on other problems included; measure nothing
};
struct TrialJob {
  static constexpr const char* kType = "trial";
  Config config;
  Binary binary;
  double incumbent_ns = 0;  ///< best median so far; 0: none
  TrialPurpose purpose = TrialPurpose::measure;
};
KILN_FIELDS(TrialJob, config, binary, incumbent_ns, purpose);
struct TrialReport {
  static constexpr const char* kType = "measured";
  std::optional<Failure> failure;
  bool proven = false;  ///< whether it passed every check
  double max_error = 0;
  Samples samples;
  std::optional<double> energy_j;  ///< of one run, where it was asked for
  std::int64_t verify_ns = 0;
  std::int64_t measure_ns = 0;
  std::int64_t runs = 0;  ///< of all steps, on the problem that is tuned
};
KILN_FIELDS(TrialReport, failure, proven, max_error, samples, energy_j, verify_ns, measure_ns,
            runs);

/// Sent between the first check and the measuring, so that the supervisor can set the next
/// deadline.
struct Checked {
  static constexpr const char* kType = "checked";
  double run_ns = 0;  ///< one warm run
};
KILN_FIELDS(Checked, run_ns);

/// `ok` configs that run in turn.
struct FinalsJob {
  static constexpr const char* kType = "finals";
  std::vector<Config> configs;
  std::vector<Binary> binaries;  ///< one per config
  FinalsOptions rounds;
  /// A library whose call for this problem runs in turn with the configs, as the last ("cublas");
  /// empty: none. Its result and its error count like theirs.
  std::string against;
  bool other_cache = false;  ///< measure with a warm cache where the session's is cold, and back
};
KILN_FIELDS(FinalsJob, configs, binaries, rounds, against, other_cache);
struct FinalsReport {
  static constexpr const char* kType = "finished";
  std::optional<Failure> failure;
  /// Per finalist: why its result was wrong after the rounds; empty if it was right.
  std::vector<std::string> wrong;
  std::vector<std::vector<double>> samples;   ///< [finalist][round], nanoseconds
  std::vector<std::vector<double>> energy_j;  ///< the same in joules, where it was asked for
  /// With FinalsJob::against, per finalist: the norm of the result's error over the norm of the
  /// result, beside the reference.
  std::vector<double> errors;
  std::string library;      ///< what ran against them: "cublas 13.1.0"
  std::string unavailable;  ///< why it did not run; the configs were measured without it
};
KILN_FIELDS(FinalsReport, failure, wrong, samples, energy_j, errors, library, unavailable);

}  // namespace kiln
