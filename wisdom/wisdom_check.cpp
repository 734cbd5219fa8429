// SPDX-License-Identifier: Apache-2.0
#include "wisdom/wisdom_check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/setting.hpp"
#include "db/close_configs.hpp"
#include "db/session_options.hpp"
#include "db/stored_problem.hpp"
#include "lookup/lookup.hpp"

namespace kiln {
namespace {

Problem stored_problem_of(const KernelSpec& spec, const BestRecord& best) {
  return Problem::make(spec, stored_fields(best.problem_json, best.session));
}

/// Adds trials of configs that the spec knows; each config once.
class TrialList {
 public:
  explicit TrialList(Setting setting) : setting_(std::move(setting)) {}

  void add(const std::string& config, double time_ns, std::vector<double> samples) {
    Trial trial;
    try {
      trial.config = setting_.parse(config);
    } catch (const Error&) {
      return;  // a config of another version of the spec proves nothing here
    }
    const bool known = std::any_of(trials_.begin(), trials_.end(), [&](const Trial& other) {
      return other.config == trial.config;
    });
    if (known || time_ns <= 0) return;
    trial.time_ns = time_ns;
    trial.samples.ns = std::move(samples);
    trials_.push_back(std::move(trial));
  }

  std::vector<Trial> take() { return std::move(trials_); }

 private:
  Setting setting_;
  std::vector<Trial> trials_;
};

}  // namespace

void check_wisdom(const KernelSpec& spec, BestRecord& best) {
  if (!KernelIdentity(spec).has(best)) {
    throw InputError(fmt::format(
        "the best is of another kernel named '{}', with other arguments, problem or verification",
        spec.name));
  }
  const Problem problem = stored_problem_of(spec, best);
  best.key.problem = problem.text();
  best.problem_json = to_json(problem).dump();
  const Setting setting(spec, problem, best.device_info);
  best.config = setting.parse(best.config.text());
  const Status legal = setting.check(best.config);
  if (!legal) {
    throw InputError(fmt::format("the config {} is not legal for {} on {}: {}", best.config.text(),
                                 best.key.problem, best.key.device, legal.failure().message));
  }
}

FinishedSession imported_session(const KernelSpec& spec, const BestRecord& best) {
  FinishedSession session;
  session.record.key = best.key;
  add_option(session.record.key.options, session_option::kImported);
  session.record.device_info = best.device_info;
  session.record.problem_json = best.problem_json;
  session.record.budget = session_option::kImported;
  session.record.started_at = best.published_at;
  session.record.finished_at = best.published_at;
  session.record.state = SessionState::finished;
  session.best = best;

  const Problem problem = stored_problem_of(spec, best);
  TrialList trials({spec, problem, best.device_info});
  for (Finalist& finalist : read_evidence(best.evidence).finalists) {
    trials.add(finalist.config, finalist.median_ns.value_or(0), std::move(finalist.ns));
  }
  for (const CloseConfig& close : close_configs(best)) {
    trials.add(close.config, close.slowdown * best.time_ns, {});
  }
  session.trials = trials.take();
  return session;
}

}  // namespace kiln
