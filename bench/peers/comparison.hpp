// Comparison: runs problems and their peers side by side on one device and collects the rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/peers/host/options.hpp"
#include "bench/peers/host/problem_list.hpp"
#include "bench/peers/host/row.hpp"
#include "bench/peers/kiln_side.hpp"
#include "bench/peers/matmul_reference.hpp"
#include "bench/peers/timing.hpp"

namespace kiln::peers {

class Comparison {
 public:
  /// Takes the current CUDA device. `options` must outlive the comparison. Throws
  /// std::runtime_error when there is no device.
  explicit Comparison(const Options& options);

  /// Adds the rows of one problem to the report and returns them; what goes wrong is in the report.
  std::vector<Row> run(const ListedProblem& listed);

  /// Reads the databases anew before the next problem: one was tuned.
  void forget_databases() { kiln_.reset(); }

  void add_missing(Missing missing) { report_.missing.push_back(std::move(missing)); }
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  struct Candidates;

  KilnSide& kiln();
  std::vector<Row> compare(int number, const Workload& workload);
  [[nodiscard]] std::unique_ptr<MatmulReference> make_reference(const Workload& workload) const;
  void run_once(Peer& peer, const Workload& workload);
  Row row_of(const Workload& workload, const TunedKernel& kernel, Peer& peer,
             const MatmulReference* reference);
  void add_peer(std::unique_ptr<Peer> peer, const Workload& workload,
                const MatmulReference* reference, Candidates& candidates);
  std::vector<Row> timed_rows(const Candidates& candidates, CacheMode cache);

  const Options& options_;
  cudaStream_t stream_ = nullptr;  // lives until the program ends
  std::unique_ptr<KilnSide> kiln_;
  std::unique_ptr<Timer> timer_;
  Report report_;
};

}  // namespace kiln::peers
