// A compiler that lives in a worker process: what crashes or hangs there is a failure here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "backends/backend.hpp"
#include "tuner/workers/compile_pool.hpp"
#include "tuner/workers/worker_host.hpp"

namespace kiln {

class WorkerCompiler final : public Compiler {
 public:
  /// The worker starts with the first source and takes all that follow.
  explicit WorkerCompiler(DeviceInfo target);

  /// A Failure is what Compiler says, or compile_crash or compile_timeout. Throws Error when the
  /// worker has no compiler for the target.
  [[nodiscard]] Result<Binary> compile(const Source& source) override;

 private:
  WorkerHost host_;
  CompilePool pool_;
};

}  // namespace kiln
