// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/proof.hpp"

#include <utility>

#include "tuner/session/pipeline.hpp"
#include "tuner/session/session.hpp"

namespace kiln {

Proof prove(const ComparisonRequest& request) {
  const ComparisonOptions& options = request.options;
  ComparedDevice device(request);
  ProblemJob job = comparison_job(request);
  job.extra_operations = TuneOptions().extra_operations;
  device.client.set_problem(std::move(job));
  CompilePool compilers(device.host,
                        {device.info, options.compile_workers, options.compile_deadline, 0});
  TrialPipeline pipeline({request.spec, request.problem, device.info}, compilers, device.client);
  Proof proof;
  proof.device = device.info;
  pipeline.submit(request.configs.front());
  while (pipeline.in_flight() > 0) {
    // No config is known to be faster: this one leads, so it is put through every check.
    for (Trial& trial : pipeline.step(Clock::now() + std::chrono::seconds(1), 0))
      proof.trial = std::move(trial);
  }
  proof.reference = device.client.reference();
  return proof;
}

}  // namespace kiln
