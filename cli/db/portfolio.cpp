// `kiln db portfolio`: the fewest configs that are good enough for all tuned problems of a kernel,
// and how well a lookup does for problems it has not seen.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/portfolio.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/units.hpp"
#include "core/statistics.hpp"
#include "db/store.hpp"
#include "db/stored_problem.hpp"
#include "lookup/lookup.hpp"

namespace kiln::cli {
namespace {

struct DbPortfolioFlags {
  CommonOptions common;
  std::string kernel;
  std::string device;
  double within = 5;  ///< per cent
  bool leave_one_out = false;
};

/// The bests of one kernel on one device, each with what its session's trials say.
struct Tuned {
  KernelSpec spec;
  std::vector<BestRecord> bests;
  std::vector<TunedProblem> problems;  ///< of the same index
};

std::string device_asked_for(const DbPortfolioFlags& options,
                             const std::vector<BestRecord>& bests) {
  std::vector<std::string> devices;
  for (const BestRecord& best : bests) devices.push_back(best.key.device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  if (devices.empty()) {
    throw DatabaseError(
        fmt::format("{}: holds no best of {}", options.common.database.string(), options.kernel));
  }
  if (options.device.empty() && devices.size() == 1) return devices.front();
  if (std::find(devices.begin(), devices.end(), options.device) != devices.end()) {
    return options.device;
  }
  throw UsageError(fmt::format("--device must be one of:\n  {}", fmt::join(devices, "\n  ")));
}

// By the session's trials, and by what the row tells, which of an imported one is all there is.
std::vector<CloseConfig> tried(const BestRecord& best, const std::vector<TrialRecord>& trials) {
  std::vector<CloseConfig> configs = slowdowns(trials);
  std::set<std::string> known;
  for (const CloseConfig& each : configs) known.insert(each.config);
  for (CloseConfig& each : known_configs(best)) {
    if (known.insert(each.config).second) configs.push_back(std::move(each));
  }
  return configs;
}

Tuned read_tuned(const DbPortfolioFlags& options) {
  Tuned tuned{options.common.library().load(options.kernel), {}, {}};
  const Store store(options.common.database, Store::Mode::read);
  tuned.bests = store.bests(tuned.spec.name);
  std::erase_if(tuned.bests, [](const BestRecord& best) {
    return best.verdict == Verdict::none || best.key.timing != Timing::eager;
  });
  const std::string device = device_asked_for(options, tuned.bests);
  std::erase_if(tuned.bests, [&](const BestRecord& best) { return best.key.device != device; });
  std::sort(tuned.bests.begin(), tuned.bests.end(),
            [](const auto& a, const auto& b) { return a.key.problem < b.key.problem; });
  for (BestRecord& best : tuned.bests) {
    const std::vector<TrialRecord> trials = store.trials(best.session);
    // A row of an older version lists less than its session tried, an imported one more.
    if (options.leave_one_out && slowdowns(trials).size() > known_configs(best).size()) {
      Evidence evidence = read_evidence(best.evidence);
      add_close_configs(evidence, trials);
      best.evidence = to_text(evidence);
    }
    tuned.problems.push_back({best.key.problem, tried(best, trials)});
  }
  return tuned;
}

ExitCode print_portfolio(const DbPortfolioFlags& options, const Tuned& tuned) {
  const Portfolio portfolio = find_portfolio(tuned.problems, options.within / 100);
  const std::vector<PortfolioMember>& members = portfolio.members;
  if (options.common.json) {
    Json list = Json::array();
    for (const PortfolioMember& member : members) {
      Json problems = Json::array();
      for (const std::size_t i : member.problems) problems.push_back(tuned.problems[i].problem);
      list.push_back({{"config", member.config}, {"worst", member.worst}, {"problems", problems}});
    }
    print_shown("{}", json_output({{"kernel", tuned.spec.name},
                                   {"device", tuned.bests.front().key.device},
                                   {"within", options.within / 100},
                                   {"problems", tuned.problems.size()},
                                   {"at_least", portfolio.at_least},
                                   {"portfolio", list}}));
    return ExitCode::ok;
  }
  print_shown("{} of {} {} {} within {:g}%\n",
              counted(static_cast<std::int64_t>(members.size()), "config"), tuned.spec.name,
              members.size() == 1 ? "covers" : "cover",
              counted(static_cast<std::int64_t>(tuned.problems.size()), "problem"), options.within);
  if (portfolio.at_least < members.size()) {
    print_shown("not proved to be the fewest: no portfolio has fewer than {}\n",
                portfolio.at_least);
  }
  for (const PortfolioMember& member : members) {
    print_shown("\n{}  (at worst {:.1f}% slower)\n", member.config, 100 * (member.worst - 1));
    for (const std::size_t i : member.problems) print_shown("  {}\n", tuned.problems[i].problem);
  }
  return ExitCode::ok;
}

/// What a lookup says for a tuned problem when it is taken out of the database.
struct Left {
  std::string problem;
  std::string config;
  std::string grade;
  std::optional<double> slowdown;  ///< none: the config was never tried for the problem
};

Left leave_out(const Tuned& tuned, std::size_t index) {
  std::vector<BestRecord> others;
  for (const BestRecord& best : tuned.bests) {
    if (best.key.problem != tuned.bests[index].key.problem) others.push_back(best);
  }
  const BestRecord& best = tuned.bests[index];
  const Problem problem = Problem::make(tuned.spec, stored_fields(best.problem_json, best.session));
  const Result<Match> match = lookup({tuned.spec, problem, tuned.bests[index].device_info}, others);
  if (!match) throw DeviceError(match.failure().message);
  Left left{problem.short_text(tuned.spec), match->config.text(),
            std::string(name_of(match->grade)), std::nullopt};
  for (const CloseConfig& tried : tuned.problems[index].configs) {
    if (tried.config == left.config) left.slowdown = tried.slowdown;
  }
  return left;
}

ExitCode print_leave_one_out(const DbPortfolioFlags& options, const Tuned& tuned) {
  Table table({{"problem"}, {"grade"}, {"slower", Table::Align::right}, {"config"}});
  Json list = Json::array();
  std::vector<double> regrets;
  for (std::size_t i = 0; i < tuned.bests.size(); ++i) {
    const Left left = leave_out(tuned, i);
    if (left.slowdown) regrets.push_back(*left.slowdown - 1);
    const std::string slower =
        left.slowdown ? fmt::format("{:.1f}%", 100 * (*left.slowdown - 1)) : "not tried";
    table.add_row({left.problem, left.grade, slower, left.config});
    list.push_back({{"problem", left.problem},
                    {"grade", left.grade},
                    {"config", left.config},
                    {"slowdown", left.slowdown ? Json(*left.slowdown) : Json(nullptr)}});
  }
  if (options.common.json) {
    print_shown("{}", json_output({{"problems", list},
                                   {"known", regrets.size()},
                                   {"median", quantile(regrets, 0.5)},
                                   {"p95", quantile(regrets, 0.95)}}));
    return ExitCode::ok;
  }
  print_shown(
      "{}\nknown for {} of {}: median {:.1f}% slower than the best, 95th percentile {:.1f}%\n",
      table.text(output_width()), regrets.size(), tuned.bests.size(), 100 * quantile(regrets, 0.5),
      100 * quantile(regrets, 0.95));
  return ExitCode::ok;
}

ExitCode run_db_portfolio(const DbPortfolioFlags& options) {
  const Tuned tuned = read_tuned(options);
  return options.leave_one_out ? print_leave_one_out(options, tuned)
                               : print_portfolio(options, tuned);
}

}  // namespace

void add_db_portfolio(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbPortfolioFlags>();
  CLI::App* command = db.add_subcommand(
      "portfolio", "The fewest configs that are good enough for all tuned problems");
  add_value(*command, "kernel", options->kernel, "KERNEL",
            "Name of a kernel, or the folder of your own")
      ->required();
  add_value(*command, "--within", options->within, "PERCENT",
            "How much slower than the best is good enough")
      ->check(positive_number())
      ->capture_default_str();
  add_value(*command, "--device", options->device, "IDENTITY",
            "Which device, as `kiln db info` prints it, where there are several");
  command->add_flag("--leave-one-out", options->leave_one_out,
                    "For each tuned problem: what a lookup would say without it, and how much\n"
                    "slower that is than its best");
  add_common_options(*command, options->common);
  command->callback([options, &work] { work = [options] { return run_db_portfolio(*options); }; });
}

}  // namespace kiln::cli
