// The compile worker: one source in, one binary or log out.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "backends/backend.hpp"
#include "tuner/device/worker_loops.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln {
namespace {

/// A compiler whose memory ran out throws, where it does not end the process with words of its own.
Result<Binary> compile_within_memory(Compiler& compiler, const Source& source) {
  try {
    return compiler.compile(source);
  } catch (const std::bad_alloc&) {
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
      return Failure{Outcome::compile_crash, "the compiler ran out of memory"};
    return Failure{Outcome::compile_crash,
                   fmt::format("the compiler wanted more than the {:.3g} GiB of memory that it "
                               "may have",
                               static_cast<double>(limit.rlim_cur) / (1 << 30))};
  }
}

}  // namespace

void serve_compile_jobs(const WorkerOptions& options, const WorkerParts& parts,
                        BlockingChannel& channel) {
  std::unique_ptr<Compiler> compiler;
  while (const auto frame = channel.receive()) {
    const CompileJob job = decode<CompileJob>(*frame);
    if (!compiler) {
      compiler = parts.open_compiler(options, job.target);
      compiler->prepare_for(job.use);
    }
    const auto start = std::chrono::steady_clock::now();
    Result<Binary> binary = compile_within_memory(*compiler, job.source);
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
