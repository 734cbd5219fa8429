// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/comparison.hpp"

#include <utility>

#include "core/errors.hpp"
#include "tuner/rules/problem_limits.hpp"
#include "tuner/rules/verdict.hpp"
#include "tuner/session/pipeline.hpp"

namespace kiln {
namespace {

void note_wrong(const FinalsReport& report, std::vector<std::string>& wrong) {
  for (std::size_t i = 0; i < report.wrong.size(); ++i) {
    if (wrong[i].empty()) wrong[i] = report.wrong[i];
  }
}

DeviceDeadlines deadlines_of(const ComparisonOptions& options) {
  DeviceDeadlines deadlines = options.deadlines;
  deadlines.first_launch = options.compile_deadline;
  return deadlines;
}

bool is_comparison_stopped(const ComparisonOptions& options) {
  return options.stop != nullptr && options.stop->load();
}

}  // namespace

ProblemJob comparison_job(const ComparisonRequest& request) {
  return {request.spec.path,
          request.spec.text,
          request.spec.files,
          request.problem.fields(),
          request.options.seed,
          request.options.measure,
          request.options.max_cpu_operations,
          0};  // no other sizes: nothing is published
}

ComparedDevice::ComparedDevice(const ComparisonRequest& request)
    : host(request.options.worker_program),
      client(host, request.backend, request.ordinal, deadlines_of(request.options)),
      info(client.open()) {
  require_timing(request.options.measure, client);
  require_problem_fits({request.spec, request.problem, info});
}

Comparison compare(const ComparisonRequest& request) {
  const ComparisonOptions& options = request.options;
  ComparedDevice device(request);
  Comparison comparison;
  comparison.device = device.info;
  comparison.wrong.resize(request.configs.size());
  device.client.set_problem(comparison_job(request));
  CompilePool compilers(device.host,
                        {device.info, options.compile_workers, options.compile_deadline, 0});
  TrialPipeline pipeline({request.spec, request.problem, device.info}, compilers, device.client);
  for (std::size_t i = 0; i < options.finals && !is_comparison_stopped(options); ++i) {
    std::optional<FinalsReport> report =
        pipeline.run_finals(request.configs, options.rounds, options.stop);
    if (!report) break;
    if (report->failure) throw Error(ExitCode::failed, report->failure->message);
    note_wrong(*report, comparison.wrong);
    comparison.samples.push_back(std::move(report->samples));
  }
  return comparison;
}

PairVerdicts count_pairs(const std::vector<std::vector<double>>& samples) {
  PairVerdicts counts;
  for (std::size_t first = 0; first < samples.size(); ++first) {
    for (std::size_t second = 0; second < samples.size(); ++second) {
      if (first == second) continue;
      const bool is_known = ratio_interval(samples[second], samples[first]).is_known();
      const Verdict verdict = is_known ? judge_finals({samples[first], samples[second]}, 0).verdict
                                       : Verdict::unmeasurable;
      if (verdict == Verdict::better) {
        ++counts.better;
      } else if (verdict == Verdict::unmeasurable) {
        ++counts.unmeasurable;
      } else {
        ++counts.tie;
      }
    }
  }
  return counts;
}

}  // namespace kiln
