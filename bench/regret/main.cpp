// kiln_lookup_regret: how much slower looked-up configs are than freshly tuned ones.
//
//   kiln_lookup_regret --plan UNSEEN.plan.toml --tuned TUNED.db... --fresh FRESH.db...
//                      [--short-sessions] [--json FILE]
//
// Of each problem of the plan: what a lookup in TUNED.db gives, and the best of its session in
// FRESH.db, measured in turn like the finals of a session. Several files speak together. A problem
// that TUNED.db has a session of is refused, but for --short-sessions: then it is what they lose.
// bench/regret/lists/README.md shows the commands. Ends with 0; with 1 where a problem could not be
// compared.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/regret/regret.hpp"
#include "core/errors.hpp"
#include "core/statistics.hpp"
#include "db/store.hpp"
#include "spec/plan.hpp"

namespace kiln::regret {
namespace {

struct Options {
  std::string plan;
  std::vector<std::string> tuned;
  std::vector<std::string> fresh;
  std::string backend = "cuda";
  int ordinal = 0;
  bool short_sessions = false;
  std::string json;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be read; expected a plan file");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<BestRecord> read_bests(const std::vector<std::string>& files) {
  std::vector<BestRecord> bests;
  for (const std::string& file : files) {
    for (BestRecord& best : Store(file, Store::Mode::read).bests()) {
      bests.push_back(std::move(best));
    }
  }
  return bests;
}

nlohmann::ordered_json to_json(const Regret& regret) {
  nlohmann::ordered_json json = {{"kernel", regret.kernel}, {"problem", regret.problem}};
  if (!regret.error.empty()) {
    json["error"] = regret.error;
    return json;
  }
  json["grade"] = name_of(regret.grade);
  json["looked_up"] = regret.looked_up;
  json["fresh"] = regret.fresh;
  json["looked_up_ns"] = regret.looked_up_ns;
  json["fresh_ns"] = regret.fresh_ns;
  json["regret"] = regret.share;
  return json;
}

void print(const Regret& regret) {
  const std::string name = fmt::format("{} {}", regret.kernel, regret.problem);
  if (!regret.error.empty()) {
    fmt::print("{:>7}  {:10} {}\n         {}\n", "?", "", name, regret.error);
  } else if (regret.looked_up == regret.fresh) {
    fmt::print("{:6.1f}%  {:10} {}\n         both       {}\n", 0.0, name_of(regret.grade), name,
               regret.fresh);
  } else {
    fmt::print(
        "{:6.1f}%  {:10} {}\n         looked up  {}  {:.2f} us\n"
        "         fresh      {}  {:.2f} us\n",
        100 * regret.share, name_of(regret.grade), name, regret.looked_up,
        regret.looked_up_ns / 1e3, regret.fresh, regret.fresh_ns / 1e3);
  }
  std::fflush(stdout);
}

int run(const Options& options) {
  const SweepPlan plan = parse_plan(read_file(options.plan), options.plan);
  Comparison comparison(options.backend, options.ordinal, read_bests(options.tuned),
                        read_bests(options.fresh),
                        options.short_sessions ? Comparison::Own::taken : Comparison::Own::refused);
  for (const std::string& warning : comparison.warnings()) {
    fmt::print(stderr, "kiln_lookup_regret: warning: {}\n", warning);
  }
  std::vector<double> shares;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PlannedSession& session : plan.sessions) {
    const Regret regret = comparison.compare(session.kernel, session.problem);
    print(regret);
    rows.push_back(to_json(regret));
    if (regret.error.empty()) shares.push_back(regret.share);
  }
  const double middle = quantile(shares, 0.5);
  const double high = quantile(shares, 0.95);
  const double worst = quantile(shares, 1);
  fmt::print("\n{} of {} problems: median {:.1f}%, 95th percentile {:.1f}%, worst {:.1f}%\n",
             shares.size(), plan.sessions.size(), 100 * middle, 100 * high, 100 * worst);
  if (!options.json.empty()) {
    std::ofstream(options.json) << nlohmann::ordered_json{{"rows", rows},
                                                          {"median", middle},
                                                          {"percentile_95", high},
                                                          {"worst", worst}}
                                       .dump(2)
                                << '\n';
  }
  return shares.size() == plan.sessions.size() ? 0 : 1;
}

}  // namespace
}  // namespace kiln::regret

int main(int argc, char** argv) {
  kiln::regret::Options options;
  CLI::App app("How much slower looked-up configs are than freshly tuned ones.",
               "kiln_lookup_regret");
  app.add_option("--plan", options.plan, "the problems, as for kiln sweep")->required();
  app.add_option("--tuned", options.tuned, "databases that answer; they hold none of them")
      ->required();
  app.add_option("--fresh", options.fresh, "databases with a session of each")->required();
  app.add_option("--backend", options.backend, "cuda, hip or opencl")->capture_default_str();
  app.add_option("--ordinal", options.ordinal, "index of the device")->capture_default_str();
  app.add_flag("--short-sessions", options.short_sessions,
               "--tuned holds sessions of these problems, too: what they lose");
  app.add_option("--json", options.json, "file to write");
  CLI11_PARSE(app, argc, argv);
  try {
    return kiln::regret::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kiln_lookup_regret: %s\n", error.what());
    return 1;
  }
}
