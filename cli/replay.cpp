// `kiln replay FILE... --strategy S`: strategies against recorded spaces, without a device.
// SPDX-License-Identifier: Apache-2.0
#include "search/replay.hpp"

#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/recorded_files.hpp"
#include "cli/status_area.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/units.hpp"
#include "search/strategy.hpp"

namespace kiln::cli {
namespace {

struct ReplayFlags {
  CommonOptions common;
  std::vector<std::string> files;
  bool skip_bad = false;
  std::vector<std::string> strategies = {std::string(kiln::strategies().front().name)};
  std::uint64_t seeds = 10;
};

/// The scores of one strategy: the mean over seeds for each recorded space.
struct StrategyScores {
  std::string strategy;
  std::vector<ReplayScore> spaces;  // in the order of the files
};

struct ReplayedSpace {
  RecordedSpace recorded;
  ReplayTarget target;
};

/// "replay auto: space 3 of 7, seed 40 of 100" on a terminal, redrawn; a line a strategy elsewhere.
class ReplayProgress {
 public:
  ReplayProgress(std::size_t spaces, std::uint64_t seeds)
      : spaces_(spaces), seeds_(seeds), width_(terminal_width(fileno(stderr))) {}
  void show(const std::string& strategy, std::size_t space, std::uint64_t seed) {
    if (!width_) return;
    area_.set(0, fmt::format("replay {}: space {} of {}, seed {} of {}", strategy, space + 1,
                             spaces_, seed + 1, seeds_));
  }
  void done(const std::string& strategy, double score) {
    if (width_) area_.set(0, "");
    print_shown(stderr, "replay {}: score {:.3f}\n", strategy, score);
  }

 private:
  std::size_t spaces_;
  std::uint64_t seeds_;
  std::optional<std::size_t> width_;
  StatusArea area_ = StatusArea(1);
};

std::vector<std::string> wanted_strategies(const ReplayFlags& options) {
  std::vector<std::string> names;
  for (const std::string& name : options.strategies) {
    if (name != "all") {
      names.push_back(name);
      continue;
    }
    for (const StrategyInfo& info : strategies()) names.push_back(info.name);
  }
  return names;
}

std::vector<ReplayedSpace> read_files(const ReplayFlags& options) {
  std::vector<ReplayedSpace> spaces;
  std::vector<std::string> bad;
  for (const std::string& file : options.files) {
    for (RecordedSpace& recorded : read_recorded_file(file, options.skip_bad ? &bad : nullptr)) {
      const ReplayTarget target = replay_target(recorded);
      spaces.push_back({std::move(recorded), target});
    }
  }
  for (const std::string& line : bad) print_shown(stderr, "kiln: warning: {}\n", line);
  return spaces;
}

StrategyScores run_strategy(const std::string& strategy, const std::vector<ReplayedSpace>& spaces,
                            std::uint64_t seeds, ReplayProgress& progress) {
  StrategyScores scores{strategy, {}};
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    std::vector<ReplayScore> of_space;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      progress.show(strategy, s, seed);
      of_space.push_back(replay(spaces[s].recorded, spaces[s].target, strategy, seed));
    }
    scores.spaces.push_back(mean(of_space));
  }
  progress.done(strategy, mean(scores.spaces).score);
  return scores;
}

Table score_table(const char* first) {
  std::vector<Table::Column> columns = {{first}, {"score", Table::Align::right}};
  for (const std::size_t count : kShareCounts) {
    columns.push_back({fmt::format("{}", count), Table::Align::right});
  }
  return Table(std::move(columns));
}

void add_score(Table& table, const std::string& name, const ReplayScore& score) {
  std::vector<std::string> cells = {name, fmt::format("{:.3f}", score.score)};
  for (const double share : score.shares) cells.push_back(fmt::format("{:.2f}%", 100 * share));
  table.add_row(std::move(cells));
}

void print_replay_text(const std::vector<StrategyScores>& all,
                       const std::vector<ReplayedSpace>& spaces, const ReplayFlags& options) {
  Table of_spaces({{"recorded space"},
                   {"configs", Table::Align::right},
                   {"failed", Table::Align::right},
                   {"optimum", Table::Align::right},
                   {"median", Table::Align::right},
                   {"budget", Table::Align::right}});
  for (const auto& [recorded, target] : spaces) {
    const auto failed =
        std::count_if(recorded.results.begin(), recorded.results.end(),
                      [](const RecordedResult& result) { return result.outcome != Outcome::ok; });
    of_spaces.add_row({recorded.name, std::to_string(recorded.space.size()), std::to_string(failed),
                       pretty_time(target.optimum_ns), pretty_time(target.median_ns),
                       std::to_string(target.baseline_ns.size())});
  }
  print_shown("{}\nmean over {} of the score and of the share of the optimum after n evaluations\n",
              of_spaces.text(), counted(static_cast<std::int64_t>(options.seeds), "seed"));
  for (const StrategyScores& scores : all) {
    Table table = score_table(scores.strategy.c_str());
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      add_score(table, spaces[s].recorded.name, scores.spaces[s]);
    }
    if (spaces.size() > 1) add_score(table, "mean", mean(scores.spaces));
    print_shown("\n{}", table.text(output_width()));
  }
  if (all.size() < 2) return;
  Table table = score_table("strategy");
  for (const StrategyScores& scores : all) add_score(table, scores.strategy, mean(scores.spaces));
  print_shown("\n{}", table.text(output_width()));
}

Json score_json(const ReplayScore& score) {
  Json shares = Json::object();
  for (std::size_t i = 0; i < kShareCounts.size(); ++i) {
    shares[std::to_string(kShareCounts[i])] = score.shares[i];
  }
  return {{"score", score.score}, {"share_of_optimum", shares}};
}

void print_json(const std::vector<StrategyScores>& all, const std::vector<ReplayedSpace>& spaces,
                const ReplayFlags& options) {
  Json json = {{"seeds", options.seeds}, {"spaces", Json::array()}, {"strategies", Json::array()}};
  for (const auto& [recorded, target] : spaces) {
    json["spaces"].push_back({{"name", recorded.name},
                              {"configs", recorded.space.size()},
                              {"optimum_ns", target.optimum_ns},
                              {"median_ns", target.median_ns},
                              {"budget", target.baseline_ns.size()}});
  }
  for (const StrategyScores& scores : all) {
    Json entry = {{"strategy", scores.strategy}, {"mean", score_json(mean(scores.spaces))}};
    entry["spaces"] = Json::array();
    for (const ReplayScore& score : scores.spaces) entry["spaces"].push_back(score_json(score));
    json["strategies"].push_back(std::move(entry));
  }
  print_shown("{}", json_output(json));
}

ExitCode run_replay(const ReplayFlags& options) {
  const std::vector<std::string> names = wanted_strategies(options);
  const std::vector<ReplayedSpace> spaces = read_files(options);
  ReplayProgress progress(spaces.size(), options.seeds);
  std::vector<StrategyScores> all;
  for (const std::string& name : names) {
    all.push_back(run_strategy(name, spaces, options.seeds, progress));
  }
  if (options.common.json) {
    print_json(all, spaces, options);
  } else {
    print_replay_text(all, spaces, options);
  }
  return ExitCode::ok;
}

}  // namespace

void add_replay_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<ReplayFlags>();
  CLI::App* command =
      app.add_subcommand("replay", "Score strategies on recorded trials, without a device");
  command
      ->add_option("files", options->files,
                   "A database of Kiln (each session is a space), a Kernel Tuner cache, a T4\n"
                   "file, or results of KTT; all but the first also as .gz")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  add_value(*command, "--strategy", options->strategies, "STRATEGY",
            "Names of strategies, separated by commas, or all (kiln tune --help describes them)")
      ->delimiter(',')
      ->check([](const std::string& name) {
        return name == "all" ? std::string() : strategy_name()(name);
      })
      ->capture_default_str();
  add_value(*command, "--seeds", options->seeds, "COUNT", "Runs of each strategy on each space")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_flag("--skip-bad", options->skip_bad,
                    "Leave out the rows of a file that cannot be read, with a warning for each");
  add_json_option(*command, options->common);
  command->footer(
      "Score: (baseline - found) / (baseline - optimum), averaged over the run up to the budget.\n"
      "The baseline is what random search finds on average; the budget, how long it needs to come\n"
      "95% of the way from the median to the optimum. 0 is as good as random search, 1 finds the\n"
      "optimum at once. A config that failed costs an evaluation.\n"
      "\n"
      "Examples:\n"
      "  kiln replay A4000.json.gz --strategy all --seeds 100\n"
      "  kiln replay kiln.db --strategy auto,local");
  command->callback([options, &work] { work = [options] { return run_replay(*options); }; });
}

}  // namespace kiln::cli
