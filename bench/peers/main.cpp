// kiln_vs_peers: tuned kernels and the library calls they replace, side by side in one run on one
// GPU. Tunes them first where --seconds is given.
//
//   kiln_vs_peers --db kiln.db --problem "reduce n=2^28" --problem "transpose rows=16384
//   cols=16384"
//
// docs/benchmarks_peers.md tells the method. Ends with 0, or with 1 when a problem could not be run
// or results disagree.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/peers/comparison.hpp"
#include "bench/peers/host/report.hpp"
#include "bench/peers/host/tuning.hpp"

namespace kiln::peers {
namespace {

/// 1 when something could not be run or disagreed.
int exit_code(const Report& report) {
  const bool all_agree = std::all_of(report.rows.begin(), report.rows.end(), [](const Row& row) {
    return !row.compared || row.agreement.agrees;
  });
  const bool any_failed = std::any_of(report.missing.begin(), report.missing.end(),
                                      [](const Missing& missing) { return missing.failed; });
  return all_agree && !any_failed ? 0 : 1;
}

void write_json(const std::string& path, const Report& report) {
  std::ofstream file(path);
  file << json_text(report);
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

void append_lines(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream file(path, std::ios::app);
  for (const Row& row : rows) file << json_line(row);
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

/// Tunes one problem where the options say so. Returns why not, or nothing.
std::string tune_first(const Options& options, const ListedProblem& listed) {
  if (!options.tune.seconds) return "";
  try {
    const ParsedProblem parsed = parse_problem(listed);
    tune(options, parsed.spec.name, parsed.problem.text());
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

int tune_all(const Options& options, const std::vector<ListedProblem>& problems) {
  int code = 0;
  for (const ListedProblem& listed : problems) {
    const std::string failure = tune_first(options, listed);
    if (failure.empty()) continue;
    std::cerr << "kiln_vs_peers: " << listed.line << ": " << failure << "\n";
    code = 1;
  }
  return code;
}

void print_progress(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::cerr << fmt::format("  {:>9.2f} us, {:.2f}x {} ({})\n", row.kiln_us, row.speed_up(),
                             row.peer, name_of(row.cache));
  }
}

int compare_all(const Options& options, const std::vector<ListedProblem>& problems) {
  Comparison comparison(options);
  for (const ListedProblem& listed : problems) {
    std::cerr << listed.number << ": " << listed.line << "\n";
    const std::string failure = tune_first(options, listed);
    if (!failure.empty()) {
      comparison.add_missing({listed.line, failure, true});
      continue;
    }
    if (options.tune.seconds) comparison.forget_databases();
    const std::vector<Row> rows = comparison.run(listed);
    print_progress(rows);
    if (!options.json_lines.empty()) append_lines(options.json_lines, rows);
  }
  std::cout << report_text(comparison.report());
  if (!options.json.empty()) write_json(options.json, comparison.report());
  return exit_code(comparison.report());
}

int run(const Options& options) {
  const std::vector<ListedProblem> problems = listed_problems(options);
  if (options.show) {
    const NumberedProblems shown = numbered(problems);
    std::cout << shown.text;
    return shown.errors == 0 ? 0 : 1;
  }
  return options.tune.only ? tune_all(options, problems) : compare_all(options, problems);
}

}  // namespace
}  // namespace kiln::peers

int main(int argc, char** argv) {
  int code = 0;
  const std::optional<kiln::peers::Options> options = kiln::peers::read_options(argc, argv, code);
  if (!options) return code;
  try {
    return kiln::peers::run(*options);
  } catch (const std::exception& error) {
    std::cerr << "kiln_vs_peers: " << error.what() << "\n";
    return 1;
  }
}
