// SPDX-License-Identifier: Apache-2.0
#include "lookup/lookup.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "lookup/candidates.hpp"
#include "lookup/neighbours.hpp"

namespace kiln {
namespace {

// "n=2048 op=max (distance 3; op differs)".
std::string nearest_text(const Candidate& candidate) {
  std::string text =
      fmt::format("{} (distance {:.3g}", candidate.problem, candidate.likeness.distance);
  if (!candidate.likeness.unlike.empty()) {
    text += fmt::format("; {} {}", fmt::join(candidate.likeness.unlike, ", "),
                        candidate.likeness.unlike.size() == 1 ? "differs" : "differ");
  }
  return text + ")";
}

std::string reason_for(const Candidate& candidate, const Problem& problem,
                       const DeviceInfo& device) {
  const std::string what =
      candidate.measured == problem ? "tuned for this problem" : "nearest problem tuned";
  const std::string which = candidate.measured == problem ? "" : ": " + nearest_text(candidate);
  const std::string& tuned_on = candidate.best->device_info.name;
  switch (candidate.grade) {
    case Grade::exact:
      return fmt::format("{} on this device ({})", what, device.name);
    case Grade::near_size:
      return fmt::format("{} on this device{}", what, which);
    case Grade::same_arch:
      return fmt::format("{} on another device of architecture {} ({}){}", what,
                         device.architecture, tuned_on, which);
    case Grade::same_vendor:
      return fmt::format("{} on another device of {} ({}){}", what, device.vendor, tuned_on, which);
    case Grade::fallback:
      break;
  }
  return "";  // no candidate has this grade
}

std::string expectation_text(Grade grade, const std::string& config, const ExpectedConfig& expected,
                             std::size_t problems) {
  return fmt::format(
      "{}: {}: expected within {:.2f} times the best time, by what {} problem{} measured",
      name_of(grade), config, expected.slowdown, problems, problems == 1 ? "" : "s");
}

// For a problem that nobody tuned: the config that the nearest ones together expect the most of,
// where it is another than the best of the nearest and legal here.
void ask_the_neighbours(Match& match, const Setting& setting,
                        std::span<const Candidate> candidates) {
  const NearbyBests neighbourhood = neighbourhood_of(setting, candidates);
  const std::size_t problems = neighbourhood.problems();
  const std::vector<ExpectedConfig> ranking = rank_configs(neighbourhood);
  const std::string nearest = candidates.front().best->config.text();
  for (const ExpectedConfig& expected : ranking) {
    if (expected.config == nearest) break;
    Result<Config> legal = setting.launchable(expected.config);
    if (!legal) continue;
    const Config& of_nearest = candidates.front().best->config;
    const bool is_alike = legal->variant == of_nearest.variant;
    const std::string difference =
        is_alike ? "its config with " + difference_text(*legal, of_nearest)
                 : fmt::format("another config, of variant '{}',", legal->variant);
    match.config = std::move(*legal);
    match.reason +=
        fmt::format("; {}, {} is expected to be closer to the best",
                    problems == 1 ? "by how its tiles fit"
                                  : fmt::format("with the {} nearest together", problems),
                    difference);
    for (const ExpectedConfig& other : ranking) {
      if (other.config == nearest) {
        match.steps.push_back(expectation_text(match.grade, "that config", other, problems));
      }
    }
    match.steps.push_back(expectation_text(match.grade, "this config", expected, problems) +
                          ": chosen instead");
    break;
  }
  // By the forecast; behind these the bests of problems too far away for one.
  const auto add = [&match, chosen = match.config.text()](const std::string& config) {
    std::vector<std::string>& all = match.runners_up;
    if (all.size() == kMaxRunnersUp || config == chosen) return;
    if (std::find(all.begin(), all.end(), config) == all.end()) all.push_back(config);
  };
  for (const ExpectedConfig& expected : ranking) add(expected.config);
  for (const Candidate& candidate : candidates) add(candidate.best->config.text());
}

}  // namespace

std::string_view name_of(Grade grade) {
  switch (grade) {
    case Grade::exact:
      return "exact";
    case Grade::near_size:
      return "near_size";
    case Grade::same_arch:
      return "same_arch";
    case Grade::same_vendor:
      return "same_vendor";
    case Grade::fallback:
      return "default";
  }
  return "?";
}

std::optional<Grade> parse_grade(std::string_view name) {
  for (const Grade grade : kGrades) {
    if (name_of(grade) == name) return grade;
  }
  return std::nullopt;
}

std::string other_timing_text(Timing wanted) {
  return wanted == Timing::graph ? "; measured eagerly, not in a graph"
                                 : "; measured in a graph, not eagerly";
}

Result<Match> lookup(const Setting& setting, std::span<const BestRecord> bests, Timing timing) {
  const KernelSpec& spec = setting.spec();
  Match match;
  std::vector<Candidate> candidates = ranked_candidates(setting, bests, Devices::alike, timing);
  SourceCheck sources(spec);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const auto title = [&](const std::string& config) {
      const std::int64_t session = candidate.best->session;
      return fmt::format(
          "{}: {} {}", name_of(candidate.grade), config,
          session > 0 ? fmt::format("from session {}", session) : "of those that come with Kiln");
    };
    const std::string text = candidate.best->config.text();
    const std::string row = title(text);
    Result<Config> legal = setting.launchable(text);
    if (!legal) {
      match.steps.push_back(fmt::format("{}: passed over: {}", row, legal.failure().message));
      continue;
    }
    const std::string change = demote_changed(std::span(candidates).subspan(i), sources);
    if (!change.empty()) {
      match.steps.push_back(fmt::format("{}: passed over: {}", row, change));
      --i;  // another row has this place now
      continue;
    }
    match.config = std::move(*legal);
    match.grade = candidate.grade;
    match.distance = candidate.likeness.distance;
    match.reason = reason_for(candidate, setting.problem(), setting.device());
    match.stale = !candidate.stale.empty();
    if (match.stale) {
      match.reason += fmt::format("; stale: {}", fmt::join(candidate.stale, ", "));
    }
    match.other_timing = candidate.best->key.timing != timing;
    if (match.other_timing) match.reason += other_timing_text(timing);
    match.best = *candidate.best;
    const std::size_t step = match.steps.size();
    match.steps.push_back(row + ": chosen");
    if (candidate.measured != setting.problem()) {
      ask_the_neighbours(match, setting, std::span(candidates).subspan(i));
    }
    // The chosen config is printed with the steps, so they need not repeat it.
    if (match.steps.size() == step + 1) match.steps[step] = title("this config") + ": chosen";
    return match;
  }
  Result<Config> fallback = setting.launchable_default();
  if (!fallback) {
    return fallback.failure();
  }
  match.config = std::move(*fallback);
  const KernelIdentity kernel(spec);
  const auto others = std::count_if(bests.begin(), bests.end(), [&](const BestRecord& best) {
    return best.key.kernel == spec.name && !kernel.has(best);
  });
  match.reason =
      match.steps.empty()
          ? "nothing tuned for this kernel on a device like this one: the spec's default config"
          : "no tuned config is legal for this problem on this device: the spec's default config";
  if (others > 0) {
    match.reason += fmt::format(
        " ({} of another kernel named '{}', with other arguments, problem or verification)",
        others == 1 ? "there is a best" : fmt::format("there are {} bests", others), spec.name);
  }
  match.steps.push_back("default: this config: chosen");
  return match;
}

}  // namespace kiln
