// SPDX-License-Identifier: Apache-2.0
#include "cli/search_options.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/help_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "core/metrics.hpp"
#include "core/suggest.hpp"
#include "search/strategy.hpp"

namespace kiln::cli {
namespace {

constexpr std::int64_t kMostCompileWorkers = 1024;  // more processes than any machine has cores
constexpr double kLongestWait = 31536000;           // seconds of a year

std::string strategy_help() {
  std::string text = "How configs are proposed:";
  for (const StrategyInfo& info : strategies()) {
    const bool is_default = &info == &strategies().front();
    text += fmt::format("\n{}{}: {}", info.name, is_default ? " (default)" : "", info.summary);
  }
  return text;
}

/// The number of "2x" or "2"; 0: it is none above 1.
double speedup_of(const std::string& text) {
  const std::string number = text.ends_with("x") ? text.substr(0, text.size() - 1) : text;
  constexpr double kMost = 1e6;
  if (!positive_number(kMost)(number).empty()) return 0;
  const double speedup = std::strtod(number.c_str(), nullptr);
  return speedup > 1 ? speedup : 0;
}

std::string target_fault(const std::string& text) {
  if (speedup_of(text) > 1) return "";
  return fmt::format("expected a speed-up over the default config above 1, such as 2x, not '{}'",
                     text);
}

void add_budget_options(CLI::App& command, SearchSettings& settings) {
  add_value(command, "--seconds", settings.seconds, "NUMBER",
            fmt::format("Search time per session in seconds, not counting the finals (default {}\n"
                        "if no budget is given)",
                        kDefaultSeconds))
      ->check(positive_number(kLongestWait))
      ->group("Budget: the first limit reached ends the session");
  add_value(command, "--trials", settings.trials, "COUNT", "Trials of a session, failures included")
      ->check(whole_number(1))
      ->group("Budget: the first limit reached ends the session");
  command
      .add_option_function<std::string>(
          "--target", [&settings](const std::string& text) { settings.target = speedup_of(text); },
          "A speed-up over the default config that is good enough, e.g. 2x")
      ->type_name("SPEEDUP")
      ->check(CLI::Validator(target_fault, ""))
      ->group("Budget: the first limit reached ends the session");
  add_value(command, "--no-progress", settings.no_progress, "COUNT",
            "Trials without a better config")
      ->check(whole_number(1))
      ->group(kMoreOptions);
}

std::string timing_fault(const std::string& name) {
  return parse_timing(name) ? "" : fmt::format("expected eager or graph, not '{}'", name);
}

void add_space_options(CLI::App& command, SearchSettings& settings) {
  add_value(command, "--strategy", settings.strategy, "STRATEGY", strategy_help())
      ->check(strategy_name())
      ->group(kMoreOptions);
  add_value(command, "--seed", settings.seed, "COUNT",
            "Seed of the strategy and of the inputs (default 1)")
      ->check(whole_number(0))
      ->group(kMoreOptions);
  add_value(command, "--objective", settings.objective, "OBJECTIVE",
            "What is looked for: time (default), energy (joules of a run, by NVML), or a\n"
            "metric of the kernel (`kiln kernels KERNEL` lists them)")
      ->group(kMoreOptions);
  add_value(command, "--variant", settings.variants, "NAME", "Only this variant; may repeat")
      ->allow_extra_args(false);
}

void add_warm_start_option(CLI::App& command, SearchOptions& options) {
  CLI::Option* count =
      add_value(command, "--warm-start", options.warm_configs, "COUNT",
                "Start from up to COUNT configs that were best on similar problems and\n"
                "devices")
          ->check(whole_number(1))
          ->capture_default_str()
          ->group(kMoreOptions);
  command
      .add_flag_callback(
          "--no-warm-start", [&options] { options.warm_configs = 0; },
          "Do not start from configs that were best on similar problems and devices")
      ->excludes(count)
      ->group(kMoreOptions);
}

void add_process_options(CLI::App& command, SearchOptions& options) {
  add_value(command, "--compile-seconds", options.compile_seconds, "NUMBER",
            "Deadline of one compile; later is outcome compile_timeout")
      ->check(positive_number(kLongestWait))
      ->capture_default_str()
      ->group(kMoreOptions);
  add_value(command, "--first-run-seconds", options.first_run_seconds, "NUMBER",
            "Deadline of a config's first run; later is outcome run_timeout (default: 60, of\n"
            "which 10 once the time of the session is over, as for preparing the problem)")
      ->check(positive_number(kLongestWait))
      ->group(kMoreOptions);
  add_value(command, "--compile-workers", options.compile_workers, "COUNT",
            "Compiler processes (default: one a core, less one)")
      ->check(whole_number(1, kMostCompileWorkers))
      ->group(kMoreOptions);
  command
      .add_flag("--warm-cache", options.warm_cache,
                "Do not flush the last-level cache before each sample")
      ->group(kMoreOptions);
}

}  // namespace

void add_timing_option(CLI::App& command, std::optional<Timing>& timing) {
  command
      .add_option_function<std::string>(
          "--timing", [&timing](const std::string& name) { timing = parse_timing(name); },
          "eager (default): the host launches each run. graph: runs are captured and replayed as\n"
          "one CUDA or HIP graph, as an application under graphs does")
      ->type_name("TIMING")
      ->check(CLI::Validator(timing_fault, ""))
      ->group(kMoreOptions);
}

void add_setting_options(CLI::App& command, SearchSettings& settings) {
  add_budget_options(command, settings);
  add_space_options(command, settings);
  add_timing_option(command, settings.timing);
}

void add_search_options(CLI::App& command, SearchOptions& options, std::int64_t patience) {
  add_setting_options(command, options.settings);
  add_warm_start_option(command, options);
  add_process_options(command, options);
  add_value(command, "--against", options.against, "LIBRARY",
            "Run the best in turn with this library's own call, and store both times and\n"
            "both errors: cublas, for matmul")
      ->check(CLI::IsMember({"cublas"}))
      ->group(kMoreOptions);
  command.add_flag("--fresh", options.fresh,
                   "Start a new session, even if a stored one could continue or answer");
  command.add_flag("--quiet", options.quiet, "No progress on stderr, only warnings");
  options.patience = patience;
  add_value(command, "--patience", options.patience, "COUNT",
            "Seconds to wait for a device that went away, or for room on a full disk,\n"
            "before the command gives up")
      ->check(whole_number(0, static_cast<std::int64_t>(kLongestWait)))
      ->capture_default_str()
      ->group(kMoreOptions);
}

SearchSettings merge(const SearchSettings& over, const SearchSettings& under) {
  SearchSettings merged = under;
  merged.seconds = over.seconds ? over.seconds : under.seconds;
  merged.trials = over.trials ? over.trials : under.trials;
  merged.no_progress = over.no_progress ? over.no_progress : under.no_progress;
  merged.target = over.target ? over.target : under.target;
  if (over.strategy) {
    merged.strategy = over.strategy;
    merged.places.erase("strategy");
  }
  merged.seed = over.seed ? over.seed : under.seed;
  if (over.objective) {
    merged.objective = over.objective;
    merged.places.erase("objective");
  }
  merged.timing = over.timing ? over.timing : under.timing;
  if (!over.variants.empty()) {
    merged.variants = over.variants;
    merged.places.erase("variants");
  }
  return merged;
}

void check_names(const SearchSettings& settings, const KernelSpec& spec) {
  const auto fail = [&](const char* key, const std::string& message) {
    const auto place = settings.places.find(key);
    if (place == settings.places.end()) throw InputError(message);
    throw InputError(place->second, message);
  };
  if (settings.strategy) {
    const std::string fault = strategy_name()(*settings.strategy);
    if (!fault.empty()) fail("strategy", fault);
  }
  if (settings.objective) {
    try {
      (void)find_objective(spec, *settings.objective);
    } catch (const InputError& error) {
      fail("objective", error.what());
    }
  }
  std::vector<std::string> known;
  for (const Variant& variant : spec.variants) known.push_back(variant.name);
  for (const std::string& name : settings.variants) {
    if (spec.find_variant(name) != nullptr) continue;
    fail("variants", fmt::format("{} has no variant '{}'{} (it has: {})", spec.name, name,
                                 did_you_mean(name, known), comma_list(known)));
  }
}

Store open_store(const CommonOptions& common, const SearchOptions& options) {
  return open_patiently(
      common.database, patience_of(options), &stop_on_signals(),
      [](const std::string& text) { print_shown(stderr, "kiln: warning: {}\n", text); });
}

Patience patience_of(const SearchOptions& options) {
  return {.longest = std::chrono::seconds(options.patience)};
}

TuneOptions tune_options(const SearchOptions& options, const SearchSettings& settings) {
  TuneOptions tune;
  tune.strategy = settings.strategy.value_or("");
  tune.seed = settings.seed.value_or(tune.seed);
  tune.variants = settings.variants;
  tune.objective = settings.objective.value_or(tune.objective);
  tune.budget = {.seconds = settings.seconds,
                 .trials = settings.trials,
                 .no_progress_trials = settings.no_progress,
                 .target = settings.target};
  if (!settings.seconds && !settings.trials && !settings.no_progress) {
    tune.budget.seconds = kDefaultSeconds;
  }
  tune.measure.cold_cache = !options.warm_cache;
  tune.measure.timing = settings.timing.value_or(Timing::eager);
  tune.compile_deadline =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.compile_seconds * 1000));
  if (options.first_run_seconds) {
    const std::chrono::milliseconds limit(
        static_cast<std::int64_t>(*options.first_run_seconds * 1000));
    tune.deadlines.first_run = limit;
    tune.deadlines.run_cap = limit;
    tune.deadlines.past_budget = limit;
  }
  tune.compile_workers = options.compile_workers;
  tune.against = options.against;
  tune.fresh = options.fresh;
  tune.warm_configs = options.warm_configs;
  tune.stop = &stop_on_signals();
  return tune;
}

}  // namespace kiln::cli
