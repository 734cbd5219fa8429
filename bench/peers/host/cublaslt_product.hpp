// LtProduct: one product of cublasLt with its descriptors, and the algorithms that its heuristic
// proposes for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/peers/host/cublaslt_plan.hpp"

namespace kiln::peers {

/// A handle or descriptor, destroyed at the end of its scope.
class LtObject {
 public:
  LtObject() = default;
  LtObject(void* object, int (*destroy)(void*)) : object_(object), destroy_(destroy) {}
  ~LtObject() {
    if (object_ != nullptr) destroy_(object_);
  }
  LtObject(LtObject&& other) noexcept { *this = std::move(other); }
  LtObject& operator=(LtObject&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  [[nodiscard]] void* get() const { return object_; }

 private:
  void* object_ = nullptr;
  int (*destroy_)(void*) = nullptr;
};

/// Where the matrices lie on the device, in cublasLt's order.
struct LtPointers {
  const void* first = nullptr;
  const void* second = nullptr;
  void* result = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

enum class LtSums { exact, fast };  ///< fast: CUBLASLT_MATMUL_DESC_FAST_ACCUM, 8-bit floats only

/// What cublasLt is asked with; needs no device.
class LtDescriptors {
 public:
  /// Throws std::runtime_error when cublasLt refuses a description.
  LtDescriptors(const LtApi& api, const LtPlan& plan, LtSums sums, const LtPointers& pointers);

  [[nodiscard]] void* operation() const { return operation_.get(); }
  [[nodiscard]] void* first() const { return first_.get(); }
  [[nodiscard]] void* second() const { return second_.get(); }
  [[nodiscard]] void* result() const { return result_.get(); }
  [[nodiscard]] void* preference() const { return preference_.get(); }

 private:
  LtObject operation_;
  LtObject first_;
  LtObject second_;
  LtObject result_;
  LtObject preference_;
};

class LtProduct {
 public:
  /// Asks the heuristic for at most `wanted` algorithms. `api` must outlive the product. Throws
  /// std::runtime_error with cublasLt's status, e.g. when it has no algorithm for the plan.
  LtProduct(const LtApi& api, const LtPlan& plan, LtSums sums, const LtPointers& pointers,
            int wanted);

  [[nodiscard]] int count() const { return static_cast<int>(found_.size()); }
  /// "id 66, tile 18, stages 34, splits 1, cluster 2": numbers of cublasLt.
  [[nodiscard]] std::string describe(int index) const;
  /// Enqueues the product with algorithm `index` on a cudaStream_t; does not wait.
  void run(int index, double alpha, double beta, void* stream) const;

 private:
  const LtApi& api_;
  LtPlan plan_;
  LtPointers pointers_;
  LtDescriptors descriptors_;
  LtObject handle_;
  std::vector<LtHeuristic> found_;  // in the heuristic's order, usable ones only
};

}  // namespace kiln::peers
