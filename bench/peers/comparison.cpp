// Prepares Kiln's kernel and its peers for each problem, compares their results, and times them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/comparison.hpp"

#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/peers/agreement.hpp"
#include "bench/peers/cuda_check.hpp"
#include "bench/peers/host/cublaslt_api.hpp"
#include "bench/peers/host/cudnn_api.hpp"
#include "bench/peers/host/npp_api.hpp"
#include "core/trial.hpp"

namespace kiln::peers {
namespace {

constexpr std::uint64_t kSeed = 20261121;

std::string driver_text() {
  int driver = 0;
  KILN_CUDA(cudaDriverGetVersion(&driver));
  return fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10);
}

void warn_of_missing(const std::string& library, const std::string& reason) {
  if (!reason.empty()) std::cerr << "warning: no rows of " << library << ": " << reason << "\n";
}

}  // namespace

/// The kernel and the peers that run, with their rows as far as they are known.
struct Comparison::Candidates {
  std::unique_ptr<TunedKernel> kernel;
  Peers peers;
  std::vector<Row> rows;  ///< one for each peer
};

Comparison::Comparison(const Options& options) : options_(options) {
  KILN_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  timer_ = std::make_unique<Timer>(stream_, options.timing);
  report_.device = kiln().device();
  report_.driver = driver_text();
  report_.timing = options.timing;
  std::vector<std::string> libraries;
  if (why_no_cublaslt().empty()) libraries.push_back("cublasLt " + version_text(cublaslt()));
  if (why_no_cudnn().empty()) libraries.push_back("cuDNN " + version_text(cudnn()));
  if (why_no_npp().empty()) libraries.push_back("NPP " + npp().version);
  report_.libraries = fmt::format("{}", fmt::join(libraries, ", "));
  for (const std::string& warning : kiln().warnings()) std::cerr << "warning: " << warning << "\n";
  warn_of_missing("cuBLAS", why_no_cublas());
  warn_of_missing("cublasLt", why_no_cublaslt());
  warn_of_missing("cuDNN", why_no_cudnn());
  warn_of_missing("NPP", why_no_npp());
}

KilnSide& Comparison::kiln() {
  if (kiln_ == nullptr) kiln_ = std::make_unique<KilnSide>(options_.database, stream_);
  return *kiln_;
}

std::vector<Row> Comparison::run(const ListedProblem& listed) {
  std::vector<Row> rows;
  try {
    rows = compare(listed.number, make_workload(parse_problem(listed), kSeed, stream_));
  } catch (const std::exception& error) {
    add_missing({listed.line, error.what(), true});
  }
  report_.rows.insert(report_.rows.end(), rows.begin(), rows.end());
  return rows;
}

std::vector<Row> Comparison::compare(int number, const Workload& workload) {
  Candidates candidates;
  candidates.kernel = kiln().prepare(workload);
  std::vector<std::string> notes;
  Peers peers = make_peers(workload, notes);
  for (const std::string& note : notes) add_missing({workload.title, note, false});
  if (peers.empty()) {
    add_missing({workload.title, "no peer for this problem", false});
    return {};
  }
  if (candidates.kernel->grade() != "exact")
    std::cerr << workload.title << ": " << candidates.kernel->reason() << "\n";

  const std::unique_ptr<MatmulReference> reference = make_reference(workload);
  run_once(*candidates.kernel, workload);
  for (auto& peer : peers) add_peer(std::move(peer), workload, reference.get(), candidates);
  for (Row& row : candidates.rows) row.number = number;
  std::vector<Row> rows;
  for (const CacheMode cache : options_.caches) {
    for (Row& row : first_and_best(timed_rows(candidates, cache))) rows.push_back(std::move(row));
  }
  return rows;
}

/// nullptr where there is no product, or one too large.
std::unique_ptr<MatmulReference> Comparison::make_reference(const Workload& workload) const {
  if (!workload.product || !MatmulReference::is_affordable(*workload.product)) return nullptr;
  const DeviceArray before(workload.output_dtype, workload.output_count);
  fill(before, Pattern::uniform, output_range(workload), kSeed, stream_);
  auto reference = std::make_unique<MatmulReference>(*workload.product, workload.inputs.at("a"),
                                                     workload.inputs.at("b"), before, stream_);
  KILN_CUDA(cudaStreamSynchronize(stream_));
  return reference;
}

/// One run on an output that holds the same values for all: some kernels read it, and all must
/// overwrite it.
void Comparison::run_once(Peer& peer, const Workload& workload) {
  if (peer.result() != nullptr)
    fill(*peer.result(), Pattern::uniform, output_range(workload), kSeed, stream_);
  peer.run(stream_);
  KILN_CUDA(cudaStreamSynchronize(stream_));
}

void Comparison::add_peer(std::unique_ptr<Peer> peer, const Workload& workload,
                          const MatmulReference* reference, Candidates& candidates) {
  try {
    candidates.rows.push_back(row_of(workload, *candidates.kernel, *peer, reference));
    candidates.peers.push_back(std::move(peer));
  } catch (const std::exception& error) {
    if (!peer->choice()) throw;
    add_missing({workload.title, peer->name() + ": " + error.what(), false});
  }
}

Row Comparison::row_of(const Workload& workload, const TunedKernel& kernel, Peer& peer,
                       const MatmulReference* reference) {
  run_once(peer, workload);
  Row row;
  row.problem = workload.title;
  row.peer = peer.name();
  row.choice = peer.choice();
  row.config = kernel.config();
  row.grade = kernel.grade();
  row.bytes = workload.cost.bytes;
  row.flops = workload.cost.flops;
  row.compared = peer.result() != nullptr;
  if (row.compared)
    row.agreement = judge(workload, peers::compare(*kernel.result(), *peer.result(), stream_));
  if (reference != nullptr) {
    row.kiln_error = reference->error_of(*kernel.result());
    if (row.compared) row.peer_error = reference->error_of(*peer.result());
  }
  return row;
}

std::vector<Row> Comparison::timed_rows(const Candidates& candidates, CacheMode cache) {
  std::vector<Peer*> all = {candidates.kernel.get()};
  for (const auto& peer : candidates.peers) all.push_back(peer.get());
  const std::vector<std::vector<double>> samples = timer_->in_turn(all, cache);
  std::vector<Row> rows = candidates.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].cache = cache;
    rows[i].kiln_samples = samples.front();
    rows[i].peer_samples = samples[i + 1];
    rows[i].kiln_us = median(samples.front());
    rows[i].peer_us = median(samples[i + 1]);
  }
  return rows;
}

}  // namespace kiln::peers
