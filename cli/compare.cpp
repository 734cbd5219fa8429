// `kiln compare KERNEL --problem ...`: given configs against each other, in turn, in one process.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

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
#include "cli/search_options.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/trust.hpp"
#include "cli/units.hpp"
#include "core/metrics.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "db/store.hpp"
#include "lookup/lookup.hpp"
#include "tuner/rules/verdict.hpp"
#include "tuner/session/comparison.hpp"

namespace kiln::cli {
namespace {

constexpr std::int64_t kMostRepeats = 1000;  // of a config, and of all finals

struct CompareFlags {
  CommonOptions common;
  std::string kernel;
  std::string problem;
  std::string device = "auto";
  std::vector<std::string> configs;
  std::vector<SessionId> sessions;
  std::size_t copies = 1;
  std::size_t finals = 1;
  std::size_t rounds = FinalsOptions{}.max_rounds;
  std::uint64_t seed = 1;
  bool warm_cache = false;
  std::optional<Timing> timing;
  bool names_database = false;  ///< --db was given: the file must be there
};

/// All rounds of all finals of one config, one after the other.
using AllRounds = std::vector<std::vector<double>>;

AllRounds all_rounds(const Comparison& comparison) {
  AllRounds all(comparison.wrong.size());
  for (const auto& finals : comparison.samples) {
    for (std::size_t i = 0; i < finals.size(); ++i) {
      all[i].insert(all[i].end(), finals[i].begin(), finals[i].end());
    }
  }
  return all;
}

Config best_known(const Setting& setting, const CompareFlags& options) {
  const std::string& kernel = setting.spec().name;
  const RowSources sources = {.database = options.common.database,
                              .must_exist = options.names_database};
  const std::vector<BestRecord> bests =
      known_bests(sources, open_rows(sources), kernel, std::string(kTimeObjective));
  const Result<Match> match = lookup(setting, bests, options.timing.value_or(Timing::eager));
  if (!match) throw DeviceError(match.failure().message);
  if (match->grade == Grade::fallback) {
    throw Error(ExitCode::failed,
                fmt::format("there is no best of {} for {} on {} to compare: {}", kernel,
                            setting.problem().text(), setting.device().name, match->reason));
  }
  return match->config;
}

Config best_of_session(SessionId id, const Setting& setting, const CompareFlags& options) {
  const KernelSpec& spec = setting.spec();
  const Store store(options.common.database, Store::Mode::read);
  const std::string place = options.common.database.string();
  if (!store.session(id)) throw InputError(fmt::format("{} has no session {}", place, id));
  const std::optional<BestRecord> best = store.best_of(id);
  if (best && !KernelIdentity(spec).has(*best)) {
    throw InputError(fmt::format("session {} of {} is of another kernel: {}", id, place,
                                 best->key.kernel == spec.name
                                     ? "one of this name that computes something else"
                                     : best->key.kernel));
  }
  if (!best) throw InputError(fmt::format("session {} published no best", id));
  return setting.parse(best->config.text());
}

std::vector<Config> chosen_configs(const Setting& setting, const CompareFlags& options) {
  std::vector<std::string> texts = options.configs;
  if (texts.empty() && options.sessions.empty()) texts = {"default", "best"};
  std::vector<Config> configs;
  for (const std::string& text : texts) {
    if (text == "default") {
      configs.push_back(setting.default_config());
    } else if (text == "best") {
      configs.push_back(best_known(setting, options));
    } else {
      configs.push_back(setting.parse(text));
    }
  }
  for (const SessionId id : options.sessions) {
    configs.push_back(best_of_session(id, setting, options));
  }
  std::vector<Config> entrants;
  for (const Config& config : configs) entrants.insert(entrants.end(), options.copies, config);
  return entrants;
}

Verdict against_first(const AllRounds& rounds, std::size_t i) {
  return judge_finals({rounds.front(), rounds[i]}, 0).verdict;
}

// The rule looks one way: "better" of the first against this one is this one's "slower".
std::string verdict_text(const AllRounds& rounds, std::size_t i) {
  if (i == 0) return "-";
  if (!ratio_interval(rounds[i], rounds.front()).is_known()) return "too few rounds";
  const Verdict verdict = against_first(rounds, i);
  const bool slower =
      verdict == Verdict::tie && ratio_interval(rounds[i], rounds.front()).low > 1 + kPracticalTie;
  return slower ? "slower" : std::string(name_of(verdict));
}

PairVerdicts all_pairs(const Comparison& comparison) {
  PairVerdicts sum;
  for (const auto& finals : comparison.samples) {
    const PairVerdicts counts = count_pairs(finals);
    sum.better += counts.better;
    sum.tie += counts.tie;
    sum.unmeasurable += counts.unmeasurable;
  }
  return sum;
}

Json report_json(const ComparisonRequest& request, const Comparison& comparison) {
  const AllRounds rounds = all_rounds(comparison);
  Json json = {{"kernel", request.spec.name},
               {"problem", to_json(request.problem)},
               {"device", identity_of(comparison.device)},
               {"driver", comparison.device.driver},
               {"compiler", comparison.device.compiler},
               {"cache", request.options.measure.cold_cache ? "cold" : "warm"},
               {"timing", name_of(request.options.measure.timing)},
               {"finals", comparison.samples.size()},
               {"configs", Json::array()}};
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const RatioInterval ratio = ratio_interval(rounds[i], rounds.front());
    json["configs"].push_back({{"config", request.configs[i].text()},
                               {"median_ns", median(rounds[i])},
                               {"ratio",
                                {{"low", ratio.is_known() ? Json(ratio.low) : Json()},
                                 {"middle", ratio.middle},
                                 {"high", ratio.is_known() ? Json(ratio.high) : Json()}}},
                               {"verdict", verdict_text(rounds, i)},
                               {"wrong", comparison.wrong[i]},
                               {"samples_ns", rounds[i]}});
  }
  const PairVerdicts pairs = all_pairs(comparison);
  json["pairs"] = {{"count", pairs.pairs()},
                   {"better", pairs.better},
                   {"tie", pairs.tie},
                   {"unmeasurable", pairs.unmeasurable}};
  return json;
}

void print_compare_text(const ComparisonRequest& request, const Comparison& comparison,
                        const CompareFlags& options) {
  const AllRounds rounds = all_rounds(comparison);
  Table table({{"time", Table::Align::right},
               {"of the first", Table::Align::right},
               {"99% interval", Table::Align::right},
               {"verdict"},
               {"config"}});
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const RatioInterval ratio = ratio_interval(rounds[i], rounds.front());
    table.add_row({pretty_time(median(rounds[i])), fmt::format("{:.3f}", ratio.middle),
                   ratio.is_known() ? fmt::format("{:.3f} to {:.3f}", ratio.low, ratio.high) : "-",
                   comparison.wrong[i].empty() ? verdict_text(rounds, i) : "wrong result",
                   request.configs[i].text()});
  }
  print_shown("{}\n{} of {} rounds, {} cache, on {}\n", table.text(output_width()),
              counted(static_cast<std::int64_t>(comparison.samples.size()), "final"),
              rounds.front().size() / comparison.samples.size(),
              options.warm_cache ? "warm" : "cold", comparison.device.name);
  if (options.copies < 2) return;
  const PairVerdicts pairs = all_pairs(comparison);
  print_shown("pairs: {}; better {} ({:.2f}%), tie {}, unmeasurable {}\n", pairs.pairs(),
              pairs.better,
              100.0 * static_cast<double>(pairs.better) / static_cast<double>(pairs.pairs()),
              pairs.tie, pairs.unmeasurable);
}

ComparisonOptions comparison_options(const CompareFlags& options) {
  ComparisonOptions made;
  made.measure.cold_cache = !options.warm_cache;
  made.measure.timing = options.timing.value_or(Timing::eager);
  made.rounds.max_rounds = options.rounds;
  made.rounds.min_rounds = std::min(made.rounds.min_rounds, options.rounds);
  made.finals = options.finals;
  made.seed = options.seed;
  made.stop = &stop_on_signals();
  return made;
}

ExitCode run_compare(const CompareFlags& options) {
  if (options.names_database) (void)Store(options.common.database, Store::Mode::read);
  const KernelSpec spec = options.common.library().load(options.kernel);
  require_trust(spec, options.common);
  const Problem problem = Problem::parse(spec, options.problem);
  const DeviceInfo device = choose_device(spec, options.device);
  const ComparisonRequest request{spec,
                                  problem,
                                  device.backend,
                                  device.ordinal,
                                  chosen_configs({spec, problem, device}, options),
                                  comparison_options(options)};
  const Comparison comparison = compare(request);
  if (comparison.samples.empty()) {
    print_shown(stderr, "kiln: interrupted before the first final ended\n");
    return interrupted_exit_code();
  }
  if (options.common.json) {
    print_shown("{}", json_output(report_json(request, comparison)));
  } else {
    print_compare_text(request, comparison, options);
  }
  for (std::size_t i = 0; i < comparison.wrong.size(); ++i) {
    if (comparison.wrong[i].empty()) continue;
    throw Error(ExitCode::failed, fmt::format("{} gave a wrong result: {}",
                                              request.configs[i].text(), comparison.wrong[i]));
  }
  return ExitCode::ok;
}

void add_config_options(CLI::App& command, CompareFlags& options) {
  add_value(command, "--config", options.configs, "TEXT",
            "A config as `kiln show` prints it, default, or best (what a lookup in the\n"
            "database gives); may repeat. Without any: default and best")
      ->allow_extra_args(false);
  add_value(command, "--session", options.sessions, "NUMBER",
            "The best of this session of the database; may repeat")
      ->allow_extra_args(false);
  add_value(command, "--copies", options.copies, "COUNT", "Enter each config COUNT times")
      ->check(whole_number(1, kMostRepeats))
      ->capture_default_str();
  add_value(command, "--finals", options.finals, "COUNT", "Repeat all finals COUNT times")
      ->check(whole_number(1, kMostRepeats))
      ->capture_default_str();
  add_value(command, "--rounds", options.rounds, "COUNT", "Rounds of one final at most")
      ->check(whole_number(1))
      ->capture_default_str();
  add_value(command, "--seed", options.seed, "COUNT", "Seed of the inputs")
      ->check(whole_number(0))
      ->capture_default_str();
  command.add_flag("--warm-cache", options.warm_cache,
                   "Do not flush the last-level cache before each sample");
  add_timing_option(command, options.timing);
}

}  // namespace

void add_compare_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<CompareFlags>();
  CLI::App* command = app.add_subcommand(
      "compare", "Run the given configs of one problem in turn and print which is faster");
  add_kernel_and_problem(*command, options->kernel, options->problem);
  add_config_options(*command, *options);
  add_device_option(*command, options->device);
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  add_trust_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Measures as the finals of a session do; nothing is stored. Verdicts are against the first\n"
      "config. With --copies 10 it counts how often the rule calls one of ten equals better.\n"
      "\n"
      "Examples:\n"
      "  kiln compare matmul --problem m=4096,n=4096,k=4096,dtype=f32\n"
      "  kiln compare reduce --problem n=2^24 --config best --copies 10 --finals 20 --json");
  command->callback([options, command, &work] {
    options->names_database = command->count("--db") > 0;
    work = [options] { return run_compare(*options); };
  });
}

}  // namespace kiln::cli
