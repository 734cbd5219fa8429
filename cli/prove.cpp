// `kiln prove KERNEL --problem ...`: one config put through every check, with one time.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/known_bests.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/prove_source.hpp"
#include "cli/trust.hpp"
#include "cli/units.hpp"
#include "core/metrics.hpp"
#include "core/program.hpp"
#include "core/setting.hpp"
#include "lookup/lookup.hpp"
#include "tuner/rules/drawn_scalars.hpp"
#include "tuner/session/proof.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kSanitizer = "compute-sanitizer";
constexpr int kSanitizerFound = 99;                // its exit code if it found an error
constexpr const char* kSanitizerSeconds = "7200";  // a run takes a thousand times as long under it

struct ProveFlags {
  CommonOptions common;
  std::string kernel;
  SourceFlags source;
  std::string problem;
  std::string device = "auto";
  std::string config = "best";
  bool sanitizer = false;
  std::optional<double> run_seconds;
};

struct SanitizerRun {
  std::string tool;
  bool is_clean = false;
  bool found_errors = false;  ///< if neither: it did not end
  std::string output;         ///< its last lines, if it is not
};

/// The best that a lookup gives; without one, the default config.
Config proved_config(const Setting& setting, const ProveFlags& flags) {
  if (flags.config == "default") return setting.default_config();
  if (flags.config != "best") return setting.parse(flags.config);
  const RowSources sources = {.database = flags.common.database};
  const std::vector<BestRecord> bests =
      known_bests(sources, open_rows(sources), setting.spec().name, std::string(kTimeObjective));
  const Result<Match> match = lookup(setting, bests, Timing::eager);
  if (!match) throw DeviceError(match.failure().message);
  return match->config;
}

/// This very command under each tool, without its output.
std::vector<SanitizerRun> run_sanitizer(const ProveFlags& flags, const Config& config,
                                        const DeviceInfo& device) {
  std::vector<SanitizerRun> runs;
  for (const char* tool : {"memcheck", "racecheck", "initcheck"}) {
    std::vector<std::string> words = {kSanitizer,
                                      "--tool",
                                      tool,
                                      "--target-processes",
                                      "all",
                                      "--report-api-errors",
                                      "no",
                                      "--error-exitcode",
                                      std::to_string(kSanitizerFound),
                                      std::filesystem::read_symlink("/proc/self/exe").string(),
                                      "prove",
                                      flags.kernel,
                                      "--config",
                                      config.text(),
                                      "--device",
                                      fmt::format("{}:{}", device.backend, device.ordinal),
                                      "--run-seconds",
                                      kSanitizerSeconds};
    if (!flags.problem.empty()) words.insert(words.end(), {"--problem", flags.problem});
    const std::vector<std::string> source = flags.source.words();
    words.insert(words.end(), source.begin(), source.end());
    if (flags.common.trust) words.emplace_back("--trust");
    for (const std::string& path : flags.common.kernel_paths)
      words.insert(words.end(), {"--kernel-path", path});
    const Ended ended = run_program({.words = std::move(words), .folder = {}, .input = {}});
    if (ended.exit_code == 127)
      throw DeviceError(fmt::format("--sanitizer needs {}, which is not in PATH", kSanitizer));
    // "ERROR SUMMARY: 0 errors", "RACECHECK SUMMARY: 0 hazards"
    const bool found_none = ended.out.find("SUMMARY: 0 ") != std::string::npos;
    const bool has_summary = ended.out.find("SUMMARY: ") != std::string::npos;
    const bool is_clean = ended.is_ok() && found_none;
    const bool found_errors = ended.exit_code == kSanitizerFound || (has_summary && !found_none);
    runs.push_back(
        {tool, is_clean, found_errors, is_clean ? "" : last_lines(ended.out + ended.err, 12)});
  }
  return runs;
}

Json proof_json(const ComparisonRequest& request, const Proof& proof, const Setting& setting,
                const std::vector<SanitizerRun>& sanitizer) {
  const Trial& trial = proof.trial;
  Json json = {{"kernel", request.spec.name},
               {"problem", to_json(request.problem)},
               {"device", identity_of(proof.device)},
               {"driver", proof.device.driver},
               {"compiler", proof.device.compiler},
               {"config_text", trial.config.text()},
               {"outcome", name_of(trial.outcome)},
               {"message", trial.message},
               {"is_proved", trial.ok()},
               {"reference", proof.reference},
               {"max_error", trial.max_error},
               {"time_ns", trial.ok() ? Json(trial.time_ns) : Json()},
               {"samples_ns", trial.samples.ns},
               {"tried", trial.ok() ? tried(setting) : std::vector<std::string>()},
               {"not_tried", not_tried(setting)},
               {"sanitizer", Json::array()}};
  for (const SanitizerRun& run : sanitizer)
    json["sanitizer"].push_back(
        {{"tool", run.tool}, {"is_clean", run.is_clean}, {"output", run.output}});
  return json;
}

void print_proof(const Proof& proof, const Setting& setting,
                 const std::vector<SanitizerRun>& sanitizer) {
  const Trial& trial = proof.trial;
  print_shown("{}: {}\n", setting.spec().name, trial.config.text());
  if (trial.ok()) {
    print_shown("proved by {}; {} on {}\n", proof.reference, pretty_time(trial.time_ns),
                proof.device.name);
    for (const std::string& check : tried(setting)) print_shown("  tried: {}\n", check);
  } else {
    print_shown("{}: {}\n", name_of(trial.outcome), trial.message);
  }
  for (const std::string& left_out : not_tried(setting)) print_shown("  not tried: {}\n", left_out);
  for (const SanitizerRun& run : sanitizer) {
    print_shown("  {} {}: {}\n", kSanitizer, run.tool,
                run.is_clean
                    ? "no errors"
                    : (run.found_errors ? "errors\n" : "it did not end well\n") + run.output);
  }
}

/// A file that is no spec is a source. What its options name was named by the user, and may run.
KernelSpec spec_of(const ProveFlags& flags) {
  const std::filesystem::path path = flags.kernel;
  std::error_code unused;
  if (path.extension() != ".toml" && std::filesystem::is_regular_file(path, unused))
    return spec_of_source(path, flags.source);
  if (const std::vector<std::string> words = flags.source.words(); !words.empty()) {
    throw UsageError(
        fmt::format("{} describes a source; {} is no file of one", words.front(), flags.kernel));
  }
  KernelSpec spec = flags.common.library().load(flags.kernel);
  require_trust(spec, flags.common);
  return spec;
}

ExitCode run_prove(const ProveFlags& flags) {
  const KernelSpec spec = spec_of(flags);
  if (spec.command)
    throw InputError(spec.path + ": a [command] is checked by its own program; nothing to prove");
  const Problem problem = Problem::parse(spec, flags.problem);
  const DeviceInfo device = choose_device(spec, flags.device);
  const Setting setting(spec, problem, device);
  ComparisonOptions options;
  options.stop = &stop_on_signals();
  if (flags.run_seconds)
    options.deadlines.run_cap =
        std::chrono::milliseconds(static_cast<std::int64_t>(*flags.run_seconds * 1000));
  const Config config = proved_config(setting, flags);
  const ComparisonRequest request{spec, problem, device.backend, device.ordinal, {config}, options};
  const Proof proof = prove(request);
  std::vector<SanitizerRun> sanitizer;
  if (flags.sanitizer && proof.trial.ok()) sanitizer = run_sanitizer(flags, config, device);
  if (flags.common.json) {
    print_shown("{}", json_output(proof_json(request, proof, setting, sanitizer)));
  } else {
    print_proof(proof, setting, sanitizer);
  }
  const bool is_clean = std::all_of(sanitizer.begin(), sanitizer.end(),
                                    [](const SanitizerRun& run) { return run.is_clean; });
  return proof.trial.ok() && is_clean ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_prove_command(CLI::App& app, Work& work) {
  auto flags = std::make_shared<ProveFlags>();
  CLI::App* command =
      app.add_subcommand("prove", "Put one config through every check, and measure it once");
  add_kernel_and_problem(*command, flags->kernel, flags->problem);
  command->get_option("kernel")->description(
      "Name of a kernel, the folder of your own, or a source: .cu, .hip, .cpp, .cl");
  add_value(*command, "--config", flags->config, "TEXT",
            "A config as `kiln show` prints it, default, or best: what a lookup in the\n"
            "database gives, which is the default config if there is nothing better")
      ->capture_default_str();
  command->add_flag("--sanitizer", flags->sanitizer,
                    "Repeat it under compute-sanitizer: memcheck, racecheck, initcheck (CUDA)");
  add_value(*command, "--run-seconds", flags->run_seconds, "NUMBER",
            "Seconds that a run may take; later is outcome run_timeout (default: 60)")
      ->check(positive_number(1e6));
  add_device_option(*command, flags->device);
  add_database_option(*command, flags->common);
  add_kernel_path_option(*command, flags->common);
  add_trust_option(*command, flags->common);
  add_json_option(*command, flags->common);
  add_source_options(*command, flags->source);
  command->footer(
      "For scripts that write kernels: one call says whether a config is right, what was tried\n"
      "and what was not, and how long it takes. Nothing is stored. Exit code 1: it is not proved.\n"
      "\n"
      "Examples:\n"
      "  kiln prove ./my_kernel --problem n=1e6 --config default --json\n"
      "  kiln prove matmul --problem m=512,n=512,k=512 --sanitizer\n"
      "  kiln prove twice.cl --problem n=1e6 --argument x='read f32[n]' --argument y='write "
      "f32[n]'\n"
      "    --argument n='i32 = n' --formula y='2 * x' --grid 'ceil_div(n, 256)' --block 256");
  command->callback([flags, &work] { work = [flags] { return run_prove(*flags); }; });
}

}  // namespace kiln::cli
