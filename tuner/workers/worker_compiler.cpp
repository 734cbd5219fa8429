// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/worker_compiler.hpp"

#include <utility>

namespace kiln {
namespace {

constexpr std::chrono::minutes kCompileDeadline{
    10};  // nobody waits for it in vain: Ctrl-C ends the program

}  // namespace

WorkerCompiler::WorkerCompiler(DeviceInfo target)
    : pool_(host_, {.target = std::move(target),
                    .workers = 1,
                    .deadline = kCompileDeadline,
                    .use = BinaryUse::ready}) {}

Result<Binary> WorkerCompiler::compile(const Source& source) {
  pool_.submit("source", source);
  while (true) {
    std::vector<CompilePool::Compiled> done = pool_.step();
    if (!done.empty()) {
      CompileReport& report = done.front().report;
      if (report.failure) return *report.failure;
      return std::move(report.binary);
    }
    std::vector<WorkerProcess*> workers;
    pool_.append_workers(workers);
    poll_workers(workers, Clock::now() + kCompileDeadline);
  }
}

}  // namespace kiln
