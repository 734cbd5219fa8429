// The messages between the supervisor and its workers, as plain values.
//
// A message has a type, the "type" of its frame, and lists its fields in visit_fields(): they
// travel as JSON, and the bytes of binaries in the frame's blob.
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
template <IsA<Unavailable> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("reason", message.reason);
  visit("code", message.code);
}

// --- Listing worker: sends one of these and ends ---

struct DeviceList {
  static constexpr const char* kType = "devices";
  std::vector<DeviceInfo> devices;
};
template <IsA<DeviceList> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("devices", message.devices);
}

// --- Compile worker: CompileJob -> CompileReport, one at a time ---

struct CompileJob {
  static constexpr const char* kType = "compile";
  DeviceInfo target;
  Source source;
  BinaryUse use = BinaryUse::kept;  ///< of all jobs of a worker
};
template <IsA<CompileJob> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("target", message.target);
  visit("source", message.source);
  visit("use", message.use);
}
struct CompileReport {
  static constexpr const char* kType = "compiled";
  std::optional<Failure> failure;
  Binary binary;
  std::int64_t compile_ns = 0;
};
template <IsA<CompileReport> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("failure", message.failure);
  visit("binary", message.binary);
  visit("compile_ns", message.compile_ns);
}

// --- Device worker ---

/// The first message of the device worker: the opened device.
struct Opened {
  static constexpr const char* kType = "opened";
  DeviceInfo device;
  std::string energy_unavailable;  ///< why energy cannot be measured; empty if it can
  std::string graphs_unavailable;  ///< why launches cannot be captured; empty if they can
};
template <IsA<Opened> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("device", message.device);
  visit("energy_unavailable", message.energy_unavailable);
  visit("graphs_unavailable", message.graphs_unavailable);
}

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
template <IsA<ProblemJob> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("spec_path", message.spec_path);
  visit("spec_text", message.spec_text);
  visit("spec_files", message.spec_files);
  visit("problem", message.problem);
  visit("seed", message.seed);
  visit("measure", message.measure);
  visit("max_cpu_operations", message.max_cpu_operations);
  visit("extra_operations", message.extra_operations);
  visit("reference_seconds", message.reference_seconds);
}
struct ProblemReport {
  static constexpr const char* kType = "prepared";
  std::optional<Failure> failure;
  std::string reference;  ///< how results are proved, in words
};
template <IsA<ProblemReport> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("failure", message.failure);
  visit("reference", message.reference);
}

/// Sent before work that may take long, such as a run of the reference; empty when that is over.
struct Doing {
  static constexpr const char* kType = "doing";
  std::string what;
};
template <IsA<Doing> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("what", message.what);
}

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
template <IsA<TrialJob> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("config", message.config);
  visit("binary", message.binary);
  visit("incumbent_ns", message.incumbent_ns);
  visit("purpose", message.purpose);
}
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
template <IsA<TrialReport> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("failure", message.failure);
  visit("proven", message.proven);
  visit("max_error", message.max_error);
  visit("samples", message.samples);
  visit("energy_j", message.energy_j);
  visit("verify_ns", message.verify_ns);
  visit("measure_ns", message.measure_ns);
  visit("runs", message.runs);
}

/// Sent between the first check and the measuring, so that the supervisor can set the next
/// deadline.
struct Checked {
  static constexpr const char* kType = "checked";
  double run_ns = 0;  ///< one warm run
};
template <IsA<Checked> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("run_ns", message.run_ns);
}

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
template <IsA<FinalsJob> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("configs", message.configs);
  visit("binaries", message.binaries);
  visit("rounds", message.rounds);
  visit("against", message.against);
  visit("other_cache", message.other_cache);
}
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
template <IsA<FinalsReport> T, typename Visit>
void visit_fields(T& message, Visit&& visit) {
  visit("failure", message.failure);
  visit("wrong", message.wrong);
  visit("samples", message.samples);
  visit("energy_j", message.energy_j);
  visit("errors", message.errors);
  visit("library", message.library);
  visit("unavailable", message.unavailable);
}

}  // namespace kiln
