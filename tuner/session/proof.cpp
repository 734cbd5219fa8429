// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/proof.hpp"

#include "core/problem_limits.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/session/session.hpp"
#include "tuner/workers/worker_host.hpp"

namespace kiln {

Proof prove(const ComparisonRequest& request) {
  const ComparisonOptions& options = request.options;
  WorkerHost host(options.worker_program);
  DeviceDeadlines deadlines = options.deadlines;
  deadlines.first_launch = options.compile_deadline;
  DeviceClient device(host, request.backend, request.ordinal, deadlines);
  Proof proof;
  proof.device = device.open();
  require_timing(options.measure, device);
  require_problem_fits({request.spec, request.problem, proof.device});
  ProblemJob job = comparison_job(request);
  job.extra_operations = TuneOptions().extra_operations;
  device.set_problem(std::move(job));
  CompilePool compilers(host, {proof.device, options.compile_workers, options.compile_deadline, 0});
  TrialPipeline pipeline({request.spec, request.problem, proof.device}, compilers, device);
  pipeline.submit(request.configs.front());
  while (pipeline.in_flight() > 0) {
    // No config is known to be faster: this one leads, so it is put through every check.
    for (Trial& trial : pipeline.step(Clock::now() + std::chrono::seconds(1), 0))
      proof.trial = std::move(trial);
  }
  proof.reference = device.reference();
  return proof;
}

}  // namespace kiln
