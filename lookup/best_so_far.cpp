// SPDX-License-Identifier: Apache-2.0
#include "lookup/best_so_far.hpp"

#include <algorithm>

#include "db/session_options.hpp"

namespace kiln {
namespace {

bool is_about_time(const SessionRecord& session) {
  return !find_option(session.key.options, session_option::kObjective);
}

bool is_faster(const TrialRecord& a, const TrialRecord& b) {
  if (a.trial.ok() != b.trial.ok()) return a.trial.ok();
  return a.trial.time_ns < b.trial.time_ns;
}

}  // namespace

std::optional<BestRecord> best_so_far(const SessionRecord& session,
                                      const std::vector<TrialRecord>& trials) {
  const auto fastest = std::min_element(trials.begin(), trials.end(), is_faster);
  if (fastest == trials.end() || !fastest->trial.ok() || !is_about_time(session))
    return std::nullopt;
  BestRecord best;
  best.session = session.id;
  best.key = session.key;
  best.device_info = session.device_info;
  best.problem_json = session.problem_json;
  best.config = fastest->trial.config;
  best.time_ns = fastest->trial.time_ns;
  best.verdict = Verdict::unmeasurable;
  best.trials = static_cast<std::int64_t>(trials.size());
  best.evidence = "{}";
  for (const TrialRecord& each : trials) {
    if (!each.trial.ok()) {
      ++best.failures;
      continue;
    }
    if (each.sequence == 1) best.default_time_ns = each.trial.time_ns;
    if (each.trial.config.variant == "naive" && !best.naive_time_ns)
      best.naive_time_ns = each.trial.time_ns;
  }
  return best;
}

bool is_unfinished(const BestRecord& best) { return best.published_at.empty(); }

}  // namespace kiln
