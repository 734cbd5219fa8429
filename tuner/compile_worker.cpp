// The compile worker: one source in, one binary or log out.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>

#include "backends/backend.hpp"
#include "tuner/messages.hpp"
#include "tuner/worker_loops.hpp"

namespace kiln {

void serve_compile_jobs(const WorkerOptions& options, BlockingChannel& channel) {
  const std::unique_ptr<Backend> backend = make_backend(options.backend);
  std::unique_ptr<Compiler> compiler;
  while (const auto frame = channel.receive()) {
    const CompileJob job = decode_compile_job(*frame);
    if (!compiler) compiler = backend->open_compiler(job.target);
    const auto start = std::chrono::steady_clock::now();
    Result<Binary> binary = compiler->compile(job.source);
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - start;

    CompileReport report;
    report.compile_ns = spent.count();
    if (binary) {
      report.binary = std::move(*binary);
    } else {
      report.failure = binary.failure();
    }
    if (!channel.send(encode(report))) return;
  }
}

}  // namespace kiln
