// Prepares each of the other problems when it is first needed, and runs configs on it.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/extra_checks.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/hash.hpp"
#include "core/outside_reference.hpp"
#include "core/setting.hpp"
#include "tuner/rules/drawn_scalars.hpp"
#include "tuner/rules/shrink_problem.hpp"

namespace kiln {
namespace {

constexpr InputSet kBothSets[] = {InputSet::verify, InputSet::timing};

// Of a problem that extremes walk through place by place: two passes of the largest block.
constexpr double kWalkedOperations = 2048;
// Places of each larger one: blocks of any size have some of them where they are a few, and a few
// they are for one of the problems.
constexpr std::size_t kPlacesOfLarger = 24;
// For repeated calls: a tenth of a second of the CPU loop, and what a device reference computes as
// fast.
constexpr double kMostCalledOperations = 2e7;
constexpr double kMostCalledElements = 1 << 26;
// Of configs that were there before: some have borders of their own.
constexpr std::size_t kBordersKept = 200;

}  // namespace

ExtraChecks::ExtraChecks(const ProblemBench::Tools& tools, const KernelSpec& spec,
                         const Problem& problem, std::uint64_t seed, double max_operations)
    : tools_(tools),
      spec_(spec),
      problem_(problem),
      seed_(seed),
      max_operations_(has_cpu_reference(spec) ? max_operations : 0),
      drawer_({spec, problem, tools.device.info()}, {max_operations_, seed}) {}

Status ExtraChecks::prepare_planned() {
  is_prepared_ = true;
  if (max_operations_ > 0) {
    for (Problem& chosen :
         extra_problems({spec_, problem_, tools_.device.info()}, max_operations_)) {
      if (!shares_source(spec_, problem_, chosen)) continue;
      if (Status status = prepare(chosen_.emplace_back(Extra{std::move(chosen)})); !status)
        return status;
    }
  }
  sites_ = call_sites();
  return make_walks();
}

/// The tuned problem, made smaller as little as the loop needs, and then larger ones, for configs
/// to which a small one is not legal. Where no loop can be waited for, the problem itself.
std::vector<ExtraChecks::CallSite> ExtraChecks::call_sites() const {
  std::vector<CallSite> sites;
  const Setting setting(spec_, problem_, tools_.device.info());
  const auto add = [&](Problem problem) {
    const bool is_new = std::none_of(sites.begin(), sites.end(),
                                     [&](const CallSite& site) { return site.problem == problem; });
    if (is_new) sites.push_back({std::move(problem)});
  };
  if (find_recorded(spec_, problem_) != nullptr) return sites;
  if (max_operations_ <= 0) {
    if (!has_cpu_reference(spec_) && argument_elements(setting) <= kMostCalledElements)
      add(problem_);
    return sites;
  }
  for (double operations = max_operations_; operations <= kMostCalledOperations; operations *= 8) {
    Problem problem = shrink_problem(setting, operations);
    if (cpu_operations({spec_, problem, tools_.device.info()}) <= kMostCalledOperations &&
        shares_source(spec_, problem_, problem))
      add(std::move(problem));
  }
  return sites;
}

Status ExtraChecks::make(CallSite& site) {
  site.is_made = true;
  Result<std::unique_ptr<RepeatedCalls>> calls =
      RepeatedCalls::create(tools_, spec_, site.problem, ++last_seed_);
  if (!calls) return calls.failure().sticky ? Status(calls.failure()) : Status(Done{});
  site.calls = std::move(*calls);
  const Setting setting(spec_, site.problem, tools_.device.info());
  const bool any =
      std::any_of(spec_.arguments.begin(), spec_.arguments.end(), [&](const auto& each) {
        const bool is_input = each.access == Access::read || each.access == Access::read_write;
        return is_input && takes_special_values(each, setting.scope());
      });
  if (!any || !has_cpu_reference(spec_)) return Done{};
  for (const VerifyInputs inputs : {VerifyInputs::with_nans, VerifyInputs::with_infinities}) {
    Extra& extra = site.specials.emplace_back(Extra{site.problem, {}, inputs});
    if (Status status = prepare(extra); !status) return status;
  }
  return Done{};
}

Result<double> ExtraChecks::check_calls(const Config& config, const ConfigRun& run) {
  for (CallSite& site : sites_) {
    const Result<LaunchPlan> plan = Setting(spec_, site.problem, tools_.device.info()).plan(config);
    if (!plan) continue;
    if (!site.is_made) {
      if (Status status = make(site); !status) return status.failure();
    }
    if (!site.calls) continue;
    if (tools_.doing) tools_.doing("calling it repeatedly on " + site.problem.text());
    Result<double> worst = site.calls->check(config, run);
    if (!worst) return worst;
    for (Extra& extra : site.specials) {
      if (!extra.bench) continue;
      Result<double> error = check_on(extra, *plan, run, kBothSets);
      if (error) continue;
      Failure failure = error.failure();
      if (failure.outcome == Outcome::wrong_result)
        failure.message = "with special values among its inputs, " + failure.message + kSpecialHint;
      return failure;
    }
    return worst;
  }
  return 0.0;
}

Status ExtraChecks::prepare(Extra& extra) {
  Result<std::unique_ptr<ProblemBench>> bench =
      ProblemBench::create(tools_, spec_, extra.problem, ++last_seed_,
                           std::numeric_limits<double>::infinity(), extra.inputs, extra.scalars);
  if (bench) {
    extra.bench = std::move(*bench);
  } else if (bench.failure().sticky) {
    return bench.failure();
  }
  return Done{};
}

ExtraChecks::Extra* ExtraChecks::drawn(std::size_t index) {
  while (drawn_.size() <= index) {
    if (drawn_.size() == kDrawnInAll) return nullptr;
    std::optional<Problem> next = drawer_.next();
    if (!next) return nullptr;
    const std::size_t turn = drawn_.size();
    ScalarValues scalars;
    if (turn % 2 == 1)
      scalars = draw_scalars({spec_, *next, tools_.device.info()}, seed_, turn / 2);
    drawn_.push_back({std::move(*next), std::move(scalars)});
  }
  return &drawn_[index];
}

Result<double> ExtraChecks::check_on(Extra& extra, const LaunchPlan& plan, const ConfigRun& run,
                                     std::span<const InputSet> sets) {
  double worst = 0;
  if (tools_.doing) tools_.doing("checking it on " + extra.problem.text());
  Result<ConfigRun> here = run.rebound(extra.bench->bench(), plan);
  if (!here) return here.failure();
  for (const InputSet set : sets) {
    const Result<double> error = here->run_checked(set, extra.bench->expected(set));
    if (!error) {
      Failure failure = error.failure();
      const std::string values = scalars_text(extra.scalars);
      failure.message = fmt::format("on {}{}: {}{}", extra.problem.text(),
                                    values.empty() ? "" : " with " + values, failure.message,
                                    values.empty() ? "" : kScalarHint);
      return failure;
    }
    worst = std::max(worst, *error);
  }
  return worst;
}

Status ExtraChecks::reseed_first(const Config& config) {
  if (chosen_.empty() || !chosen_.front().bench) return Done{};
  return chosen_.front().bench->reseed(seed_ ^ hash64(config.text()));
}

Result<double> ExtraChecks::check_on_chosen(const Config& config, const ConfigRun& run) {
  double worst = 0;
  for (Extra& extra : chosen_) {
    const Result<LaunchPlan> plan =
        Setting(spec_, extra.problem, tools_.device.info()).plan(config);
    if (!plan || !extra.bench) continue;
    const Result<double> error = check_on(extra, *plan, run, kBothSets);
    if (!error) return error;
    worst = std::max(worst, *error);
  }
  return worst;
}

Result<ExtraChecks::Extra*> ExtraChecks::border(const Problem& problem) {
  const auto known = std::find_if(borders_.begin(), borders_.end(),
                                  [&](const Extra& extra) { return extra.problem == problem; });
  if (known != borders_.end()) return &*known;
  if (borders_.size() == kBordersKept) borders_.clear();
  Extra extra{problem};
  if (Status status = prepare(extra); !status) return status.failure();
  if (!walks_.empty() && extra.bench) {
    auto walk = make_walk(problem, kPlacesOfLarger);
    if (!walk) return walk.failure();
    extra.walk = std::move(*walk);
  }
  borders_.push_back(std::move(extra));
  return &borders_.back();
}

Result<double> ExtraChecks::check_at_borders(const Config& config, const ConfigRun& run) {
  double worst = 0;
  if (max_operations_ <= 0) return worst;
  const DeviceInfo& device = tools_.device.info();
  for (const Problem& problem :
       border_problems({spec_, problem_, device}, config, max_operations_)) {
    const Result<LaunchPlan> plan = Setting(spec_, problem, device).plan(config);
    if (!plan || !shares_source(spec_, problem_, problem)) continue;
    const Result<Extra*> extra = border(problem);
    if (!extra) return extra.failure();
    if (!(*extra)->bench) continue;
    const Result<double> error = check_on(**extra, *plan, run, kBothSets);
    if (!error) return error;
    worst = std::max(worst, *error);
    if (!(*extra)->walk) continue;
    if (Status status = (*extra)->walk->check(config, run); !status) return status.failure();
  }
  return worst;
}

Result<double> ExtraChecks::check_on_drawn(const Config& config, const ConfigRun& run) {
  double worst = 0;
  std::size_t checked = 0;
  for (std::size_t i = 0; checked < kDrawnProblems; ++i) {
    Extra* extra = drawn(i);
    if (extra == nullptr) break;
    const Result<LaunchPlan> plan =
        Setting(spec_, extra->problem, tools_.device.info()).plan(config, extra->scalars);
    if (!plan) continue;
    if (!extra->bench) {
      if (Status status = prepare(*extra); !status) return status.failure();
      if (!extra->bench) continue;
    }
    const Result<double> error = check_on(*extra, *plan, run, {&kBothSets[i % 2], 1});
    if (!error) return error;
    worst = std::max(worst, *error);
    ++checked;
  }
  return worst;
}

/// A vector with a tail; a matrix of shapes like the problem's, so that what wants whole vectors
/// runs.
Problem ExtraChecks::small_problem_to_walk() const {
  const Setting setting(spec_, problem_, tools_.device.info());
  const double operations = std::min(max_operations_, kWalkedOperations);
  Problem like = shrink_problem(setting, operations);
  const auto above_one =
      std::count_if(spec_.problem.begin(), spec_.problem.end(), [&](const ProblemField& field) {
        return field.type == FieldType::integer && !field.specialize &&
               like.integer(field.name) > 1;
      });
  if (above_one > 1) return like;
  const std::vector<Problem> others = extra_problems(setting, operations);
  return others.empty() ? like : others.front();
}

Result<std::unique_ptr<ExtremeWalk>> ExtraChecks::make_walk(const Problem& problem,
                                                            std::size_t max_places) {
  Result<std::unique_ptr<ExtremeWalk>> walk =
      ExtremeWalk::create(tools_, spec_, problem, ++last_seed_, max_places);
  if (walk || walk.failure().sticky) return walk;
  return std::unique_ptr<ExtremeWalk>();
}

Status ExtraChecks::make_walks() {
  if (max_operations_ <= 0) return Done{};
  const DeviceInfo& device = tools_.device.info();
  const auto operations = [&](const Problem& problem) {
    return cpu_operations({spec_, problem, device});
  };
  const auto add = [&](const Problem& problem, std::size_t max_places) {
    Result<std::unique_ptr<ExtremeWalk>> walk = make_walk(problem, max_places);
    if (!walk) return Status(walk.failure());
    if (*walk) walks_.push_back(std::move(*walk));
    return Status(Done{});
  };
  const Problem small = small_problem_to_walk();
  if (operations(small) <= kWalkedOperations && shares_source(spec_, problem_, small)) {
    const Status status = add(small, std::numeric_limits<std::size_t>::max());
    if (!status) return status;
  }
  if (walks_.empty()) return Done{};
  Problem larger = shrink_problem({spec_, problem_, device}, max_operations_);
  while (operations(larger) <= max_operations_) {
    if (Status status = add(larger, kPlacesOfLarger); !status) return status;
    const Problem half = shrink_problem({spec_, larger, device}, operations(larger) / 2);
    if (half == larger) break;
    larger = half;
  }
  return Done{};
}

Status ExtraChecks::walk_extremes(const Config& config, const ConfigRun& run) {
  for (const std::unique_ptr<ExtremeWalk>& walk : walks_) {
    if (Status status = walk->check(config, run); !status) return status;
  }
  return Done{};
}

Result<double> ExtraChecks::check(const Config& config, const ConfigRun& run) {
  if (!is_prepared_) {
    if (Status status = prepare_planned(); !status) return status.failure();
  }
  if (Status status = reseed_first(config); !status) return status.failure();
  const Result<double> chosen = check_on_chosen(config, run);
  if (!chosen) return chosen;
  const Result<double> borders = check_at_borders(config, run);
  if (!borders) return borders;
  const Result<double> drawn = check_on_drawn(config, run);
  if (!drawn) return drawn;
  const Result<double> calls = check_calls(config, run);
  if (!calls) return calls;
  if (tools_.doing) tools_.doing("letting extremes walk");
  if (Status status = walk_extremes(config, run); !status) return status.failure();
  if (tools_.doing) tools_.doing("");
  return std::max({*chosen, *borders, *drawn, *calls});
}

}  // namespace kiln
