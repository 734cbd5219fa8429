// RivalCall: the call of a vendor's library for the problem that is tuned, on the same buffers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/cublas/cublas_library.hpp"
#include "core/launch_plan.hpp"
#include "tuner/checks/config_run.hpp"

namespace kiln {

class RivalCall final : public DeviceWork {
 public:
  /// `library`: "cublas", for problems of matmul. `plan`: of any config; its arguments and scalars
  /// are the problem's. A Failure says why there is no such call.
  [[nodiscard]] static Result<std::unique_ptr<RivalCall>> make(const std::string& library,
                                                               const Bench& bench,
                                                               const KernelSpec& spec,
                                                               const Problem& problem,
                                                               const LaunchPlan& plan);

  [[nodiscard]] Status enqueue(Device& device) const override;
  /// Restores the inputs, runs once and waits.
  [[nodiscard]] Status run_once() const;
  /// "cublas 13.1.0".
  [[nodiscard]] const std::string& library() const { return call_->library(); }

 private:
  RivalCall(const Bench& bench, std::unique_ptr<CublasCall> call)
      : bench_(bench), call_(std::move(call)) {}

  Bench bench_;
  std::unique_ptr<CublasCall> call_;
};

/// Returns the norm of `found` - `expected` over the norm of `expected`, of at most 2^22 elements
/// that lie evenly in the buffers. NaN if either holds one.
[[nodiscard]] Result<double> relative_error(Device& device, DType dtype, const Buffer& found,
                                            const Buffer& expected);

}  // namespace kiln
