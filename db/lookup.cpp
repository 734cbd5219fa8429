// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/launch_plan.hpp"
#include "db/likeness.hpp"
#include "db/neighbours.hpp"
#include "db/selection_lock.hpp"

namespace kiln {
namespace {

struct Candidate {
  const BestRecord* best = nullptr;
  Grade grade = Grade::fallback;
  Likeness likeness;
  std::string problem;             ///< short text of the row's problem
  std::vector<std::string> stale;  ///< what changed since the row was measured
  double handicap = 0;             ///< added to the distance when ranking
};

// A new driver or compiler seldom changes which config is best, so a stale row goes behind fresh
// ones as far as a problem this many doublings further away does; a new template may have changed
// what the tunables mean.
constexpr double kNewDriver = 1;
constexpr double kNewCompiler = 1;
constexpr double kNewTemplate = 4;

std::optional<Problem> problem_of(const KernelSpec& spec, const BestRecord& best) {
  try {
    std::vector<std::pair<std::string, Value>> fields;
    const Json json = Json::parse(best.problem_json);
    for (const auto& [name, value] : json.items()) {
      fields.emplace_back(name, value_from_json(value));
    }
    return Problem::make(spec, fields);
  } catch (const Error&) {
    return std::nullopt;  // written for another version of the spec
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::optional<Grade> grade_of(const BestRecord& best, const DeviceInfo& device,
                              bool is_this_problem) {
  const DeviceInfo& measured = best.device_info;
  if (measured.backend != device.backend) {
    return std::nullopt;
  }
  if (best.key.device == identity_of(device)) {
    return is_this_problem ? Grade::exact : Grade::near_size;
  }
  if (measured.architecture == device.architecture) {
    return Grade::same_arch;
  }
  if (measured.vendor == device.vendor) {
    return Grade::same_vendor;
  }
  return std::nullopt;
}

void note_changes(Candidate& candidate, const KernelSpec& spec, const DeviceInfo& device) {
  const BestRecord& best = *candidate.best;
  const auto note = [&](double handicap, std::string change) {
    if (best.layer != kLockedLayer) candidate.handicap += handicap;
    candidate.stale.push_back(std::move(change));
  };
  if (best.key.driver != device.driver) {
    note(kNewDriver, fmt::format("driver {} is now {}", best.key.driver, device.driver));
  }
  if (best.key.compiler != device.compiler && !device.compiler.empty()) {
    note(kNewCompiler, fmt::format("compiler {} is now {}", best.key.compiler, device.compiler));
  }
  const Variant* variant = spec.find_variant(best.config.variant);
  if (variant != nullptr && best.template_hash != template_hash(spec, *variant)) {
    note(kNewTemplate, fmt::format("the template of '{}' has changed", variant->name));
  }
}

// Nothing but content decides, so that the order of rows in a database does not show: of two that
// match alike the one of the earlier layer, then the newer one, then the one whose text sorts
// first.
bool goes_before(const Candidate& a, const Candidate& b) {
  const auto match = [](const Candidate& each) {
    return std::tuple(each.grade, each.likeness.distance + each.handicap,
                      each.likeness.unlike.size(), each.best->layer);
  };
  if (match(a) != match(b)) return match(a) < match(b);
  if (a.best->published_at != b.best->published_at) {
    return a.best->published_at > b.best->published_at;
  }
  return std::tuple(a.best->config.text(), a.problem) <
         std::tuple(b.best->config.text(), b.problem);
}

std::vector<Candidate> ranked_candidates(const KernelSpec& spec, const Problem& problem,
                                         const DeviceInfo& device,
                                         std::span<const BestRecord> bests) {
  std::vector<Candidate> candidates;
  for (const BestRecord& best : bests) {
    if (best.key.kernel != spec.name || best.verdict == Verdict::none) {
      continue;
    }
    const std::optional<Problem> measured = problem_of(spec, best);
    const std::optional<Likeness> alike =
        measured ? likeness(spec, problem, *measured) : std::nullopt;
    // Fields of weight 0 (leading dimensions) keep the distance at 0 without making the problems
    // equal.
    const std::optional<Grade> grade =
        alike ? grade_of(best, device, *measured == problem) : std::nullopt;
    if (grade) {
      candidates.push_back({&best,
                            *grade,
                            *alike,
                            measured->short_text(spec),
                            {},
                            alignment_gap(spec, problem, *measured)});
      note_changes(candidates.back(), spec, device);
    }
  }
  std::sort(candidates.begin(), candidates.end(), goes_before);
  return candidates;
}

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

std::string reason_for(const Candidate& candidate, const DeviceInfo& device) {
  const std::string& tuned_on = candidate.best->device_info.name;
  switch (candidate.grade) {
    case Grade::exact:
      return fmt::format("tuned for this problem on this device ({})", device.name);
    case Grade::near_size:
      return fmt::format("nearest problem tuned on this device: {}", nearest_text(candidate));
    case Grade::same_arch:
      return fmt::format("nearest problem tuned on another device of architecture {} ({}): {}",
                         device.architecture, tuned_on, nearest_text(candidate));
    case Grade::same_vendor:
      return fmt::format("nearest problem tuned on another device of {} ({}): {}", device.vendor,
                         tuned_on, nearest_text(candidate));
    case Grade::fallback:
      break;
  }
  return "";  // no candidate has this grade
}

// The row's config as the spec reads today: tunables added since it was stored take their defaults.
// Legal means launchable: the rules of the spec and the limits of the device.
Result<Config> legal_config(const KernelSpec& spec, const std::string& text, const Problem& problem,
                            const DeviceInfo& device) {
  try {
    Config config = parse_config(spec, text, problem, device);
    if (const Result<LaunchPlan> plan = make_launch_plan(spec, config, problem, device); !plan) {
      return plan.failure();
    }
    return config;
  } catch (const Error& error) {
    return Failure{Outcome::constraint, error.what()};
  }
}

// The spec's default config, or that of the next variant where the device's limits forbid it.
Result<Config> legal_default(const KernelSpec& spec, const Problem& problem,
                             const DeviceInfo& device) {
  std::string reasons;
  for (const Variant& variant : spec.variants) {
    try {
      Config config = default_config(variant, spec, problem, device);
      const Result<LaunchPlan> plan = make_launch_plan(spec, config, problem, device);
      if (plan) {
        return config;
      }
      reasons += fmt::format("\n  {}: {}", variant.name, plan.failure().message);
    } catch (const Error& error) {
      reasons += fmt::format("\n  {}: {}", variant.name, error.what());
    }
  }
  return Failure{Outcome::constraint,
                 fmt::format("no variant of {} is possible for {} on {} ({}):{}", spec.name,
                             problem.text(), device.name, selector_of(device), reasons)};
}

// What a row says at this distance, stale rows as far away as they are ranked.
Neighbour neighbour_of(const Candidate& candidate) {
  constexpr double kLeast = 1.0 / 64;  // fields of weight 0 leave a distance of 0
  return {std::max(kLeast, candidate.likeness.distance + candidate.handicap),
          close_configs(*candidate.best)};
}

// The candidates from `first` on that have a say about what the first one's problem is near to.
std::vector<Neighbour> neighbours_of(std::span<const Candidate> candidates) {
  std::vector<Neighbour> neighbours;
  for (const Candidate& candidate : candidates) {
    Neighbour neighbour = neighbour_of(candidate);
    const bool within_reach =
        neighbours.empty() || neighbour.distance <= kReach * neighbours.front().distance;
    if (candidate.grade != candidates.front().grade || !within_reach) break;
    neighbours.push_back(std::move(neighbour));
    if (neighbours.size() == kMaxNeighbours) break;
  }
  return neighbours;
}

// For a problem never tuned: the config that the nearest ones together expect the most of, where it
// is another than the best of the nearest and legal here.
void ask_the_neighbours(Match& match, const KernelSpec& spec, const Problem& problem,
                        const DeviceInfo& device, std::span<const Candidate> candidates) {
  const std::vector<Neighbour> neighbours = neighbours_of(candidates);
  if (neighbours.size() < 2) return;
  for (const ExpectedConfig& expected : rank_configs(neighbours)) {
    if (expected.config == candidates.front().best->config.text()) return;
    Result<Config> legal = legal_config(spec, expected.config, problem, device);
    if (!legal) continue;
    match.config = std::move(*legal);
    match.reason += fmt::format(
        "; with the {} nearest together, {} is expected to be closer to "
        "the best (within {:.0f}%) than {}",
        neighbours.size(), expected.config, 100 * (expected.slowdown - 1),
        candidates.front().best->config.text());
    match.steps.push_back(fmt::format("near_size: {} from {} problems together: chosen instead",
                                      expected.config, neighbours.size()));
    return;
  }
}

}  // namespace

Result<Match> lookup(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                     std::span<const BestRecord> bests) {
  Match match;
  const std::vector<Candidate> candidates = ranked_candidates(spec, problem, device, bests);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const std::string title = fmt::format("{}: {} from session {}", name_of(candidate.grade),
                                          candidate.best->config.text(), candidate.best->session);
    Result<Config> legal = legal_config(spec, candidate.best->config.text(), problem, device);
    if (!legal) {
      match.steps.push_back(fmt::format("{}: passed over: {}", title, legal.failure().message));
      continue;
    }
    match.config = std::move(*legal);
    match.grade = candidate.grade;
    match.distance = candidate.likeness.distance;
    match.reason = reason_for(candidate, device);
    match.stale = !candidate.stale.empty();
    if (match.stale) {
      match.reason += fmt::format("; stale: {}", fmt::join(candidate.stale, ", "));
    }
    match.best = *candidate.best;
    match.steps.push_back(title + ": chosen");
    if (match.grade == Grade::near_size) {
      ask_the_neighbours(match, spec, problem, device, std::span(candidates).subspan(i));
    }
    return match;
  }
  Result<Config> fallback = legal_default(spec, problem, device);
  if (!fallback) {
    return fallback.failure();
  }
  match.config = std::move(*fallback);
  match.reason =
      match.steps.empty()
          ? "nothing tuned for this kernel on a device like this one: the spec's default config"
          : "no tuned config is legal for this problem on this device: the spec's default config";
  match.steps.push_back(fmt::format("default: {}: chosen", match.config.text()));
  return match;
}

}  // namespace kiln
