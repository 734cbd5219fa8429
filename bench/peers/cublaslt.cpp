// The peers from cublasLt: for one product each algorithm that its heuristic proposes.
// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include "bench/peers/host/cublaslt_product.hpp"
#include "bench/peers/host/load_error.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

constexpr int kAlgorithms = 8;
constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

/// The product with its memory; the operands are the workload's.
class LtWorkload {
 public:
  LtWorkload(const Workload& workload, const MatmulShape& shape, const LtPlan& plan, LtSums sums)
      : shape_(shape),
        family_(sums == LtSums::fast ? "cublasLt, fast sums" : "cublasLt"),
        c_(workload.output_dtype, workload.output_count),
        workspace_(kWorkspaceBytes),
        product_(cublaslt(), plan, sums,
                 {workload.inputs.at("b").data(), workload.inputs.at("a").data(), c_.data(),
                  workspace_.data(), kWorkspaceBytes},
                 kAlgorithms) {}

  [[nodiscard]] const LtProduct& product() const { return product_; }
  /// nullptr where the product is not what Kiln computes.
  [[nodiscard]] const DeviceArray* result() const { return shape_.has_formula ? nullptr : &c_; }
  [[nodiscard]] const std::string& family() const { return family_; }
  void run(int index, cudaStream_t stream) const {
    product_.run(index, shape_.alpha, shape_.beta, stream);
  }

 private:
  MatmulShape shape_;
  std::string family_;
  DeviceArray c_;
  DeviceArray workspace_;
  LtProduct product_;
};

class LtMatmul final : public Peer {
 public:
  LtMatmul(std::shared_ptr<const LtWorkload> workload, int index)
      : workload_(std::move(workload)), index_(index) {}

  std::string name() const override {
    return fmt::format("{} no. {}", workload_->family(), index_ + 1);
  }
  void run(cudaStream_t stream) override { workload_->run(index_, stream); }
  const DeviceArray* result() const override { return workload_->result(); }
  std::optional<Choice> choice() const override {
    return Choice{workload_->family(), index_, workload_->product().describe(index_)};
  }

 private:
  std::shared_ptr<const LtWorkload> workload_;
  int index_;
};

void add_family(const Workload& workload, const MatmulShape& shape, const LtPlan& plan, LtSums sums,
                Peers& peers, std::vector<std::string>& notes) {
  try {
    const auto shared = std::make_shared<const LtWorkload>(workload, shape, plan, sums);
    for (int i = 0; i < shared->product().count(); ++i)
      peers.push_back(std::make_unique<LtMatmul>(shared, i));
  } catch (const std::exception& error) {
    notes.push_back(fmt::format("{}: {}", sums == LtSums::fast ? "cublasLt, fast sums" : "cublasLt",
                                error.what()));
  }
}

}  // namespace

const std::string& why_no_cublaslt() {
  static const std::string reason = load_error(cublaslt);
  return reason;
}

void add_cublaslt(const Workload& workload, Peers& peers, std::vector<std::string>& notes) {
  if (!workload.product || !why_no_cublaslt().empty()) return;
  const MatmulShape& shape = *workload.product;
  std::string reason;
  const std::optional<LtPlan> plan = lt_plan(shape, reason);
  if (!plan) {
    notes.push_back("cublasLt " + reason);
    return;
  }
  if (shape.has_formula) notes.emplace_back("cublasLt computes the product without the epilogue");
  add_family(workload, shape, *plan, LtSums::exact, peers, notes);
  if (plan->has_fast_sums) add_family(workload, shape, *plan, LtSums::fast, peers, notes);
}

}  // namespace kiln::peers
