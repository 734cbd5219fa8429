// Declares the options of kiln_vs_peers and reads them from the command line.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/options.hpp"

#include <CLI/CLI.hpp>

namespace kiln::peers {
namespace {

std::vector<CacheMode> caches_of(const std::string& text, bool warm) {
  if (text == "both") return {CacheMode::cold, CacheMode::warm};
  return {warm || text == "warm" ? CacheMode::warm : CacheMode::cold};
}

void add_problem_options(CLI::App& app, Options& options) {
  app.add_option("--problem", options.problems,
                 "A kernel and its problem, e.g. \"reduce n=2^20\"; may be repeated");
  app.add_option("--list", options.lists,
                 "A file with one such problem a line; # begins a comment; may be repeated");
  app.add_option("--only", options.only,
                 "Run these of the problems, by number, e.g. 1-6,9; --show prints the numbers");
  app.add_flag("--show", options.show, "Print the numbered problems; needs no device");
}

void add_timing_options(CLI::App& app, Options& options, std::string& cache, bool& warm) {
  app.add_option("--samples", options.timing.samples, "Samples of each candidate (default 50)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--sample-seconds", options.timing.seconds,
                 "Take fewer samples of a problem, but at least 10, where all would take longer "
                 "(default 10)")
      ->check(CLI::PositiveNumber);
  CLI::Option* mode =
      app.add_option("--cache", cache,
                     "cold (default): flush the cache before each run; warm: do not; both: one "
                     "after the other")
          ->check(CLI::IsMember({"cold", "warm", "both"}));
  app.add_flag("--warm", warm, "The same as --cache warm")->excludes(mode);
}

void add_tune_options(CLI::App& app, Options& options) {
  CLI::Option* database = app.add_option(
      "--db", options.database, "The database that `kiln tune` wrote (default: where kiln looks)");
  CLI::Option* seconds =
      app.add_option("--seconds", options.tune.seconds,
                     "Tune each problem for this long first, into the database of --db")
          ->check(CLI::PositiveNumber)
          ->needs(database);
  app.add_flag("--tune-only", options.tune.only, "Tune, and compare nothing")->needs(seconds);
  app.add_option("--kiln", options.tune.program,
                 "The program `kiln` (default: beside this program, else from $PATH)");
  app.add_option("--tune-argument", options.tune.arguments,
                 "Hand this to `kiln tune`, e.g. --tune-argument=--variant --tune-argument=mma")
      ->needs(seconds);
}

}  // namespace

std::optional<Options> read_options(int argc, const char* const* argv, int& exit_code) {
  Options options;
  std::string cache;
  bool warm = false;
  CLI::App app("Tuned kernels against CUB, cuBLAS, cublasLt and device copies, in one run.");
  add_problem_options(app, options);
  add_timing_options(app, options, cache, warm);
  add_tune_options(app, options);
  app.add_option("--json", options.json, "Also write the report with all samples to this file");
  app.add_option("--json-lines", options.json_lines,
                 "Also append each row to this file as soon as it is measured, as a line of JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return std::nullopt;
  }
  options.caches = caches_of(cache, warm);
  return options;
}

}  // namespace kiln::peers
