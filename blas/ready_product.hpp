// ReadyProduct: the kernel that runs a product on one device, compiled and loaded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "blas/product_call.hpp"
#include "blas/workspaces.hpp"
#include "core/config.hpp"
#include "launcher/src/prepared_kernel.hpp"

namespace kiln::blas {

class ReadyProduct {
 public:
  /// Renders, compiles (or finds in the cache) and loads. A Failure says why it cannot run here.
  [[nodiscard]] static Result<std::unique_ptr<ReadyProduct>> make(
      const std::shared_ptr<Runtime>& runtime, Workspaces& workspaces,
      const std::shared_ptr<const KernelSpec>& spec, const Problem& problem, const Config& config);

  /// Puts the product on its stream. False: it did not run, and C is as it was. Any thread.
  [[nodiscard]] bool launch(const ProductCall& call) const noexcept;

 private:
  struct Part {
    std::string name;
    std::size_t bytes = 0;
    std::size_t offset = 0;  ///< in the zeroed or the scratch memory
    bool zeroed = false;
  };
  explicit ReadyProduct(Workspaces& workspaces) : workspaces_(workspaces) {}

  Workspaces& workspaces_;
  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<Part> parts_;
  WorkspaceSize workspace_;
  bool has_bias_ = false;
  mutable std::atomic<bool> has_failed_{false};
};

}  // namespace kiln::blas
