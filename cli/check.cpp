// `kiln check [PLAN]`: are the stored bests still the best? For a nightly job, and after a new
// driver or compiler.
//
// Each best runs once more in interleaved finals against the default config and the runners-up of
// its own session. So a time of last month is never compared with one of today.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/finals.hpp"
#include "cli/help_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/planned.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "cli/trust.hpp"
#include "cli/units.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "db/file_system.hpp"
#include "db/store.hpp"
#include "db/stored_problem.hpp"
#include "lookup/lookup.hpp"
#include "tuner/rules/verdict.hpp"
#include "tuner/session/comparison.hpp"

namespace kiln::cli {
namespace {

struct CheckFlags {
  CommonOptions common;
  SearchOptions search;  ///< of --retune
  std::filesystem::path plan;
  std::vector<std::string> kernels;
  std::string device = "auto";
  std::size_t rounds = FinalsOptions{}.max_rounds;
  bool retune = false;
};

/// What became of a stored best.
struct CheckedBest {
  enum class Finding { holds, beaten, wrong, broken, missing };

  ReadySession session;
  DeviceInfo device;
  std::optional<BestRecord> best;
  Finding finding = Finding::holds;
  std::string reason;     ///< of anything but `holds`, a sentence
  double now_ns = 0;      ///< median of the best; 0: it was not measured
  double fastest_ns = 0;  ///< median of the fastest of the finals
  std::string fastest;    ///< its config
};

std::string_view name_of(CheckedBest::Finding finding) {
  switch (finding) {
    case CheckedBest::Finding::holds:
      return "holds";
    case CheckedBest::Finding::beaten:
      return "beaten";
    case CheckedBest::Finding::wrong:
      return "wrong result";
    case CheckedBest::Finding::broken:
      return "does not run";
    case CheckedBest::Finding::missing:
      return "not stored";
  }
  return "";
}

bool is_here(const BestRecord& best, const DeviceInfo& device) {
  return current_identity(best.key.device, device) == identity_of(device);
}

std::optional<BestRecord> stored_best(const Store& store, const ReadySession& session,
                                      const DeviceInfo& device) {
  const KernelIdentity identity(session.spec);
  for (BestRecord& best : store.bests(session.spec.name)) {
    if (best.key.problem != session.problem.text()) continue;
    if (best.key.timing != session.settings.timing.value_or(Timing::eager)) continue;
    if (is_here(best, device) && identity.has(best)) return std::move(best);
  }
  return std::nullopt;
}

/// The kernels that --kernel names, by the names of their specs; a folder is loaded from there.
std::map<std::string, KernelSpec> asked_kernels(const CheckFlags& options) {
  const KernelLibrary library = options.common.library();
  std::map<std::string, KernelSpec> asked;
  for (const std::string& name : options.kernels) {
    KernelSpec spec = library.load(name);
    asked.emplace(spec.name, std::move(spec));
  }
  return asked;
}

/// Without a plan: every best of the database that was measured on this device. One that no spec
/// here reads is left out with a warning.
std::vector<ReadySession> stored_sessions(const Store& store, const CheckFlags& options,
                                          const DeviceInfo& device) {
  const KernelLibrary library = options.common.library();
  const std::map<std::string, KernelSpec> asked = asked_kernels(options);
  std::vector<ReadySession> sessions;
  for (const BestRecord& best : store.bests()) {
    const auto named = asked.find(best.key.kernel);
    if (!asked.empty() && named == asked.end()) continue;
    try {
      KernelSpec spec = named != asked.end() ? named->second : library.load(best.key.kernel);
      require_trust(spec, options.common);
      if (!is_here(best, device_of(spec, device)) || !KernelIdentity(spec).has(best)) continue;
      Problem problem = Problem::make(spec, stored_fields(best.problem_json, best.session));
      sessions.push_back({std::move(spec), std::move(problem), options.search.settings});
      sessions.back().settings.timing = best.key.timing;
    } catch (const InputError& error) {
      print_shown(stderr, "kiln: warning: {} {} is not checked: {}\n", best.key.kernel,
                  best.key.problem, error.what());
    }
  }
  return sessions;
}

/// The best first, then the default config and the runners-up of its finals, each once. A runner-up
/// that the spec no longer has is left out.
std::vector<Config> entrants_of(const CheckedBest& checked) {
  const Setting setting(checked.session.spec, checked.session.problem, checked.device);
  std::vector<Config> entrants = {setting.parse(checked.best->config.text())};
  const auto add = [&](const Config& config) {
    const auto same = [&](const Config& entrant) { return entrant.text() == config.text(); };
    if (std::none_of(entrants.begin(), entrants.end(), same)) entrants.push_back(config);
  };
  add(setting.default_config());
  for (const Finalist& finalist : finalists_of(*checked.best)) {
    try {
      add(setting.parse(finalist.config));
    } catch (const InputError&) {
      continue;
    }
  }
  return entrants;
}

ComparisonRequest request_of(const CheckedBest& checked, std::vector<Config> configs,
                             const CheckFlags& options) {
  ComparisonOptions compared;
  compared.measure.cold_cache = !options.search.warm_cache;
  compared.measure.timing = checked.session.settings.timing.value_or(Timing::eager);
  compared.rounds.max_rounds = options.rounds;
  compared.rounds.min_rounds = std::min(compared.rounds.min_rounds, options.rounds);
  compared.stop = &stop_on_signals();
  return {checked.session.spec,   checked.session.problem, checked.device.backend,
          checked.device.ordinal, std::move(configs),      compared};
}

/// What the finals say of the first config.
void judge(CheckedBest& checked, const std::vector<Config>& configs, const Comparison& comparison) {
  const std::vector<std::vector<double>>& rounds = comparison.samples.front();
  const Config usual =
      Setting(checked.session.spec, checked.session.problem, checked.device).default_config();
  checked.now_ns = median(rounds.front());
  checked.fastest_ns = checked.now_ns;
  checked.fastest = configs.front().text();
  if (!comparison.wrong.front().empty()) {
    checked.finding = CheckedBest::Finding::wrong;
    checked.reason = comparison.wrong.front();
    return;
  }
  for (std::size_t i = 1; i < rounds.size(); ++i) {
    if (!comparison.wrong[i].empty()) continue;
    const RatioInterval ratio = ratio_interval(rounds.front(), rounds[i]);
    const bool is_clear = ratio.is_known() && ratio.low > 1 + kPracticalTie;
    if (!is_clear || median(rounds[i]) >= checked.fastest_ns) continue;
    checked.finding = CheckedBest::Finding::beaten;
    checked.fastest_ns = median(rounds[i]);
    checked.fastest = configs[i].text();
    const bool is_default = checked.fastest == usual.text();
    checked.reason = fmt::format("{} is {:.2f}x as fast",
                                 is_default ? "the default" : "a runner-up", ratio.middle);
  }
}

/// One that cannot be compiled or run ends the finals: without the others, it is the best itself.
void measure(CheckedBest& checked, const CheckFlags& options) {
  std::vector<Config> configs = entrants_of(checked);
  while (true) {
    try {
      const Comparison comparison = compare(request_of(checked, configs, options));
      if (comparison.samples.empty()) return;  // interrupted
      judge(checked, configs, comparison);
      return;
    } catch (const Error& error) {
      if (ends_all(error) || configs.size() == 1) throw;
      configs.resize(configs.size() > 2 ? 2 : 1);
    }
  }
}

CheckedBest check_best(const Store& store, const ReadySession& session, const DeviceInfo& device,
                       const CheckFlags& options) {
  CheckedBest checked{
      session, device_of(session.spec, device), {}, CheckedBest::Finding::holds, {}, 0, 0, {}};
  checked.best = stored_best(store, session, checked.device);
  if (!checked.best) {
    checked.finding = CheckedBest::Finding::missing;
    checked.reason = "no session of this kernel, problem and device has published a best";
    return checked;
  }
  try {
    measure(checked, options);
  } catch (const Error& error) {
    if (ends_all(error)) throw;
    checked.finding = CheckedBest::Finding::broken;
    checked.reason = first_line(error.what());
  }
  return checked;
}

std::string versions_of(const BestRecord& best) {
  return best.key.driver + ", " + best.key.compiler;
}

Json checked_json(const CheckedBest& checked) {
  Json json = {{"kernel", checked.session.spec.name},
               {"problem", to_json(checked.session.problem)},
               {"device", identity_of(checked.device)},
               {"finding", name_of(checked.finding)},
               {"reason", checked.reason}};
  if (checked.best) {
    json["session"] = checked.best->session;
    json["config"] = checked.best->config.text();
    json["published_at"] = checked.best->published_at;
    json["published_with"] = versions_of(*checked.best);
    json["published_ns"] = checked.best->time_ns;
  }
  json["now_ns"] = checked.now_ns > 0 ? Json(checked.now_ns) : Json();
  json["fastest_ns"] = checked.fastest_ns > 0 ? Json(checked.fastest_ns) : Json();
  json["fastest_config"] = checked.fastest.empty() ? Json() : Json(checked.fastest);
  return json;
}

Style style_of(CheckedBest::Finding finding) {
  return finding == CheckedBest::Finding::holds ? Style::good : Style::bad;
}

std::string checked_table(const std::vector<CheckedBest>& all, const Screen& screen) {
  Table table({{"kernel"},
               {"problem"},
               {"finding"},
               {"published", Table::Align::right},
               {"now", Table::Align::right},
               {"fastest", Table::Align::right}});
  for (const CheckedBest& checked : all) {
    std::vector<std::string> notes;
    if (!checked.reason.empty()) notes.push_back(checked.reason);
    if (checked.finding == CheckedBest::Finding::beaten) notes.push_back(checked.fastest);
    table.add_row(
        {checked.session.spec.name, checked.session.problem.short_text(checked.session.spec),
         styled(std::string(name_of(checked.finding)), style_of(checked.finding), screen),
         time_or_dash(checked.best ? checked.best->time_ns : 0), time_or_dash(checked.now_ns),
         time_or_dash(checked.fastest_ns)},
        notes);
  }
  return table.text(screen.width);
}

/// "slower than when published: 3 of 10, by 1.42x in the median"; empty: none is, by more than
/// noise. The order of configs may hold all the same.
std::string slower_text(const std::vector<CheckedBest>& all) {
  constexpr double kNotable = 1.1;
  std::vector<double> ratios;
  for (const CheckedBest& checked : all) {
    const double then = checked.best ? checked.best->time_ns : 0;
    if (then > 0 && checked.now_ns > kNotable * then) ratios.push_back(checked.now_ns / then);
  }
  if (ratios.empty()) return "";
  return fmt::format(
      "slower than when published: {} of {}, by {:.2f}x in the median; a driver, a clock or a busy "
      "machine slows all configs alike",
      ratios.size(), all.size(), median(ratios));
}

bool holds(const CheckedBest& checked) { return checked.finding == CheckedBest::Finding::holds; }

void print_checked(const std::vector<CheckedBest>& all, const CheckFlags& options) {
  if (options.common.json) {
    Json list = Json::array();
    for (const CheckedBest& checked : all) list.push_back(checked_json(checked));
    print_shown("{}", json_output(list));
    return;
  }
  const Screen screen = screen_of(STDOUT_FILENO);
  print_shown("{}\nbests that hold: {} of {}\n", checked_table(all, screen),
              std::count_if(all.begin(), all.end(), holds), all.size());
  const std::string slower = slower_text(all);
  if (!slower.empty()) print_shown("{}", paragraph(slower, screen.width));
}

/// Whether every one of them has a best again.
bool retune(std::vector<CheckedBest> all, const CheckFlags& options) {
  std::erase_if(all, holds);
  Store store = open_store(options.common, options.search);
  SearchOptions search = options.search;
  search.fresh = true;  // what was measured under the same driver is what does not hold
  std::vector<SessionSummary> summaries;
  for (const CheckedBest& checked : all) {
    if (stop_on_signals()) return false;
    const ReadySession& session = checked.session;
    summaries.push_back(summarise({session.spec, session.problem, checked.device}));
    run_ready(session, fmt::format("[{}/{}]", summaries.size(), all.size()), checked.device, store,
              search, summaries.back());
  }
  const Screen screen = screen_of(STDERR_FILENO);
  print_shown(stderr, "\nTuned again:\n{}",
              report(summaries, std::nullopt, ReportFormat::text, screen));
  return std::all_of(summaries.begin(), summaries.end(), found_best);
}

struct Checks {
  DeviceInfo device;  ///< of those that are kernels
  std::vector<ReadySession> sessions;
};

Checks stored_checks(const Store& store, const CheckFlags& options) {
  const DeviceInfo device = choose_device(options.device);
  return {device, stored_sessions(store, options, device)};
}

Checks planned_checks(const CheckFlags& options) {
  std::vector<ReadySession> sessions = ready_sessions(
      options.plan, options.kernels, options.common.library(), options.search.settings);
  for (const ReadySession& session : sessions) require_trust(session.spec, options.common);
  return {choose_device(specs_of(sessions), options.device), std::move(sessions)};
}

ExitCode run_check(const CheckFlags& options) {
  std::vector<CheckedBest> all;
  std::size_t planned = 0;
  {
    // What is wrong with a plan is told first, whatever the database is.
    Checks checks;
    if (!options.plan.empty()) checks = planned_checks(options);
    const Store store(options.common.database, Store::Mode::read);
    if (options.plan.empty()) checks = stored_checks(store, options);
    const auto& [device, sessions] = checks;
    planned = sessions.size();
    if (sessions.empty()) {
      throw InputError(
          fmt::format("{} holds no best of {} to check; name a plan to see what is missing",
                      options.common.database.string(), identity_of(device)));
    }
    for (const ReadySession& session : sessions) {
      if (stop_on_signals()) break;
      if (!options.search.quiet) {
        print_shown(stderr, "[{}/{}] {} {}\n", all.size() + 1, planned, session.spec.name,
                    session.problem.short_text(session.spec));
      }
      all.push_back(check_best(store, session, device, options));
    }
  }
  if (stop_on_signals() && !all.empty()) all.pop_back();  // cut short
  print_checked(all, options);
  if (all.size() < planned) return interrupted_exit_code();
  if (std::all_of(all.begin(), all.end(), holds)) return ExitCode::ok;
  if (!options.retune) return ExitCode::failed;
  const bool retuned = retune(all, options);
  if (stop_on_signals()) return interrupted_exit_code();
  return retuned ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_check_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<CheckFlags>();
  CLI::App* command =
      app.add_subcommand("check", "Measure stored bests again and print which still hold");
  add_value(*command, "plan", options->plan, "FILE",
            "Plan file with the problems; without it: every best of the database that was\n"
            "measured on this device. A kernel's folder: as --kernel; a\n"
            "database: as --db");
  add_value(*command, "--kernel", options->kernels, "KERNEL",
            "Only this kernel, by its name or its folder; may repeat")
      ->allow_extra_args(false);
  add_value(*command, "--rounds", options->rounds, "COUNT", "Rounds of a best's finals at most")
      ->check(whole_number(8))
      ->capture_default_str()
      ->group(kMoreOptions);
  command->add_flag("--retune", options->retune,
                    "Tune again what does not hold, with the options of a search below");
  add_device_option(*command, options->device);
  constexpr std::int64_t kNightlyPatience = 3600;  // seconds
  add_search_options(*command, options->search, kNightlyPatience);
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  add_trust_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "A best holds if neither the default config nor a runner-up of its session is clearly\n"
      "faster, all measured in turn now. Nothing is stored without --retune. Exit code 1 if one\n"
      "does not hold, is wrong, cannot run or is not stored, and is not tuned again.\n"
      "\n"
      "Example:\n"
      "  kiln check production.plan.toml --retune --seconds 60");
  command->callback([options, &work] {
    std::error_code error;
    if (std::filesystem::is_directory(options->plan, error))
      options->kernels.push_back(std::exchange(options->plan, {}).string());
    if (is_sqlite_file(options->plan)) options->common.database = std::exchange(options->plan, {});
    work = [options] { return run_check(*options); };
  });
}

}  // namespace kiln::cli
