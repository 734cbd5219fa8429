// kiln_vs_peers: tuned kernels and the library calls they replace, side by side in one run on one
// GPU.
//
//   kiln_vs_peers --db kiln.db --problem "reduce n=2^28" --problem "transpose rows=16384
//   cols=16384"
//
// docs/benchmarks.md tells the method. Ends with 0, or with 1 when a problem could not be run or
// results disagree.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "bench/peers/cuda_check.hpp"
#include "bench/peers/kiln_side.hpp"
#include "bench/peers/report.hpp"
#include "core/trial.hpp"

namespace kiln::peers {
namespace {

constexpr std::uint64_t kSeed = 20261121;

struct Options {
  std::vector<std::string> problems;
  std::string list;
  std::string database;
  std::string json;
  TimingOptions timing;
};

/// The lines of `path` that are neither empty nor comments.
std::vector<std::string> read_list(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

class Comparison {
 public:
  explicit Comparison(const Options& options) : options_(options) {
    KILN_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    kiln_ = std::make_unique<KilnSide>(options.database, stream_);
    timer_ = std::make_unique<Timer>(stream_, options.timing);
    int driver = 0;
    KILN_CUDA(cudaDriverGetVersion(&driver));
    report_.device = kiln_->device();
    report_.driver =
        "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    report_.timing = options.timing;
    for (const std::string& warning : kiln_->warnings())
      std::cerr << "warning: " << warning << "\n";
    if (!why_no_cublas().empty())
      std::cerr << "warning: no rows of cuBLAS: " << why_no_cublas() << "\n";
  }

  void run(const std::string& line) {
    try {
      compare(make_workload(line, kSeed, stream_));
    } catch (const std::exception& error) {
      report_.missing.push_back({line, error.what(), true});
    }
  }

  [[nodiscard]] const Report& report() const { return report_; }

 private:
  void compare(const Workload& workload) {
    const std::unique_ptr<TunedKernel> kernel = kiln_->prepare(workload);
    const Peers peers = make_peers(workload);
    if (peers.empty()) {
      report_.missing.push_back({workload.title, "no peer for this problem", false});
      return;
    }
    if (kernel->grade() != "exact") std::cerr << workload.title << ": " << kernel->reason() << "\n";

    std::vector<Row> rows;
    std::vector<Peer*> candidates = {kernel.get()};
    run_once(*kernel);
    for (const auto& peer : peers) {
      rows.push_back(row_of(workload, *kernel, *peer));
      candidates.push_back(peer.get());
    }
    const std::vector<std::vector<double>> samples = timer_->in_turn(candidates);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].kiln_samples = samples.front();
      rows[i].peer_samples = samples[i + 1];
      rows[i].kiln_us = median(samples.front());
      rows[i].peer_us = median(samples[i + 1]);
      report_.rows.push_back(std::move(rows[i]));
    }
  }

  /// One run on an output that holds the same values for all: some kernels read it, and all must
  /// overwrite it.
  void run_once(Peer& peer) {
    if (peer.result() != nullptr) fill(*peer.result(), Pattern::uniform, {0, 100}, kSeed, stream_);
    peer.run(stream_);
    KILN_CUDA(cudaStreamSynchronize(stream_));
  }

  Row row_of(const Workload& workload, const TunedKernel& kernel, Peer& peer) {
    run_once(peer);
    Row row;
    row.problem = workload.title;
    row.peer = peer.name();
    row.config = kernel.config();
    row.grade = kernel.grade();
    row.bytes = workload.cost.bytes;
    row.flops = workload.cost.flops;
    row.compared = peer.result() != nullptr;
    if (row.compared)
      row.agreement = judge(workload, peers::compare(*kernel.result(), *peer.result(), stream_));
    return row;
  }

  const Options& options_;
  cudaStream_t stream_ = nullptr;  // lives until the program ends
  std::unique_ptr<KilnSide> kiln_;
  std::unique_ptr<Timer> timer_;
  Report report_;
};

/// 1 when something could not be run or disagreed.
int exit_code(const Report& report) {
  const bool all_agree = std::all_of(report.rows.begin(), report.rows.end(), [](const Row& row) {
    return !row.compared || row.agreement.agrees;
  });
  const bool any_failed = std::any_of(report.missing.begin(), report.missing.end(),
                                      [](const Missing& missing) { return missing.failed; });
  return all_agree && !any_failed ? 0 : 1;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): its own copy, completed from the list
int run(Options options) {
  if (!options.list.empty()) {
    for (std::string& line : read_list(options.list)) options.problems.push_back(std::move(line));
  }
  if (options.problems.empty())
    throw std::runtime_error("no problem is given: use --problem or --list");
  Comparison comparison(options);
  for (const std::string& problem : options.problems) comparison.run(problem);
  std::cout << table_text(comparison.report());
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << json_text(comparison.report());
    if (!file.flush()) throw std::runtime_error(options.json + ": cannot be written");
  }
  return exit_code(comparison.report());
}

}  // namespace
}  // namespace kiln::peers

int main(int argc, char** argv) {
  kiln::peers::Options options;
  bool warm = false;
  CLI::App app("Tuned kernels against CUB, cuBLAS and device copies, in one run.");
  app.add_option("--problem", options.problems,
                 "a kernel and its problem, e.g. \"reduce n=2^20\"; may be repeated");
  app.add_option("--list", options.list, "a file with one such problem a line; # begins a comment");
  app.add_option("--db", options.database,
                 "the database that `kiln tune` wrote; default: where kiln looks");
  app.add_option("--samples", options.timing.samples, "samples of each candidate")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--warm", warm, "do not flush the cache before each run");
  app.add_option("--json", options.json, "also write the report with all samples to this file");
  CLI11_PARSE(app, argc, argv);
  options.timing.cold = !warm;
  try {
    return kiln::peers::run(std::move(options));
  } catch (const std::exception& error) {
    std::cerr << "kiln_vs_peers: " << error.what() << "\n";
    return 1;
  }
}
