// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/launch_plan.hpp"

namespace kiln {
namespace {

struct Candidate {
  const BestRecord* best = nullptr;
  Grade grade = Grade::fallback;
  double distance = 0;
  std::string problem;             ///< short text of the row's problem
  std::vector<std::string> stale;  ///< what changed since the row was measured
};

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

std::optional<Grade> grade_of(const BestRecord& best, const DeviceInfo& device, double distance) {
  const DeviceInfo& measured = best.device_info;
  if (measured.backend != device.backend) {
    return std::nullopt;
  }
  if (best.key.device == identity_of(device)) {
    return distance == 0 ? Grade::exact : Grade::near_size;
  }
  if (measured.architecture == device.architecture) {
    return Grade::same_arch;
  }
  if (measured.vendor == device.vendor) {
    return Grade::same_vendor;
  }
  return std::nullopt;
}

std::vector<std::string> changes_since(const BestRecord& best, const KernelSpec& spec,
                                       const DeviceInfo& device) {
  std::vector<std::string> changes;
  if (best.key.driver != device.driver) {
    changes.push_back(fmt::format("driver {} is now {}", best.key.driver, device.driver));
  }
  if (best.key.compiler != device.compiler && !device.compiler.empty()) {
    changes.push_back(fmt::format("compiler {} is now {}", best.key.compiler, device.compiler));
  }
  const Variant* variant = spec.find_variant(best.config.variant);
  if (variant != nullptr && best.template_hash != template_hash(spec, *variant)) {
    changes.push_back(fmt::format("the template of '{}' has changed", variant->name));
  }
  return changes;
}

// Nothing but content decides, so that the order of rows in a database does not show: of two that
// match alike the one of the earlier layer, then the newer one, then the one whose text sorts
// first.
bool goes_before(const Candidate& a, const Candidate& b) {
  const auto match = [](const Candidate& each) {
    return std::tuple(each.grade, !each.stale.empty(), each.distance, each.best->layer);
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
    const std::optional<double> apart =
        measured ? distance(spec, problem, *measured) : std::nullopt;
    // Fields of weight 0 (leading dimensions) keep the distance at 0 without making the problems
    // equal.
    const std::optional<Grade> grade =
        apart ? grade_of(best, device, *measured == problem ? 0 : std::max(*apart, 1e-9))
              : std::nullopt;
    if (grade) {
      candidates.push_back(
          {&best, *grade, *apart, measured->short_text(spec), changes_since(best, spec, device)});
    }
  }
  std::sort(candidates.begin(), candidates.end(), goes_before);
  return candidates;
}

std::string reason_for(const Candidate& candidate, const DeviceInfo& device) {
  const std::string& tuned_on = candidate.best->device_info.name;
  switch (candidate.grade) {
    case Grade::exact:
      return fmt::format("tuned for this problem on this device ({})", device.name);
    case Grade::near_size:
      return fmt::format("nearest problem tuned on this device: {} (distance {:.3g})",
                         candidate.problem, candidate.distance);
    case Grade::same_arch:
      return fmt::format(
          "nearest problem tuned on another device of architecture {} ({}): {} (distance {:.3g})",
          device.architecture, tuned_on, candidate.problem, candidate.distance);
    case Grade::same_vendor:
      return fmt::format("nearest problem tuned on another device of {} ({}): {} (distance {:.3g})",
                         device.vendor, tuned_on, candidate.problem, candidate.distance);
    case Grade::fallback:
      break;
  }
  return "";  // no candidate has this grade
}

// The row's config as the spec reads today: tunables added since it was stored take their defaults.
// Legal means launchable: the rules of the spec and the limits of the device.
Result<Config> legal_config(const KernelSpec& spec, const BestRecord& best, const Problem& problem,
                            const DeviceInfo& device) {
  try {
    Config config = parse_config(spec, best.config.text(), problem, device);
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

}  // namespace

Result<Match> lookup(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                     std::span<const BestRecord> bests) {
  Match match;
  for (const Candidate& candidate : ranked_candidates(spec, problem, device, bests)) {
    const std::string title = fmt::format("{}: {} from session {}", name_of(candidate.grade),
                                          candidate.best->config.text(), candidate.best->session);
    Result<Config> legal = legal_config(spec, *candidate.best, problem, device);
    if (!legal) {
      match.steps.push_back(fmt::format("{}: passed over: {}", title, legal.failure().message));
      continue;
    }
    match.config = std::move(*legal);
    match.grade = candidate.grade;
    match.distance = candidate.distance;
    match.reason = reason_for(candidate, device);
    match.stale = !candidate.stale.empty();
    if (match.stale) {
      match.reason += fmt::format("; stale: {}", fmt::join(candidate.stale, ", "));
    }
    match.best = *candidate.best;
    match.steps.push_back(title + ": chosen");
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
