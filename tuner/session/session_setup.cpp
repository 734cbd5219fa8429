// Chooses the strategy, the first configs and the limits of workers from a request.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session_setup.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "core/command_spec.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "search/prior.hpp"
#include "wisdom/shipped.hpp"

namespace kiln {
namespace {

/// One a core, less one for the device worker where there are enough; a CPU device shares its cores
/// with the compilers, which then take turns with it anyway.
std::size_t compile_workers(const TuneOptions& options) {
  if (options.compile_slots != nullptr) return options.compile_slots->most_of_one();
  if (options.compile_workers > 0) return options.compile_workers;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return cores > 2 ? cores - 1 : cores;
}

std::uint64_t compile_memory_bytes(const TuneOptions& options) {
  if (options.compile_memory_bytes > 0) return options.compile_memory_bytes;
  constexpr std::uint64_t kLeast = std::uint64_t{2} << 30;  // with less PoCL crashes
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return kMost;
  const std::uint64_t all =
      static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  const std::size_t workers =
      options.compile_slots != nullptr ? options.compile_slots->count() : compile_workers(options);
  return std::clamp(all / 2 / workers, kLeast, kMost);
}

/// A tenth of the session, for one of a few runs of a reference.
double reference_seconds(const Budget& budget) {
  constexpr double kMost = 2;
  return budget.seconds ? std::clamp(*budget.seconds / 10, 0.1, kMost) : kMost;
}

/// As many earlier trials as the budget has, the default config among the first.
void keep_within(const Budget& budget, const Config& default_config, EarlierTrials& earlier) {
  const auto is_default = [&](const Trial& trial) { return trial.config == default_config; };
  const auto rest = std::stable_partition(earlier.trials.begin(), earlier.trials.end(), is_default);
  const bool has_default = rest != earlier.trials.begin();
  if (!budget.trials) return;
  const auto most = static_cast<std::size_t>(
      std::max<std::int64_t>(0, has_default ? *budget.trials : *budget.trials - 1));
  if (earlier.trials.size() > most) earlier.trials.resize(most);
}

}  // namespace

std::string strategy_of(const TuneOptions& options) {
  return options.strategy.empty() ? strategies().front().name : options.strategy;
}

CompilePool::Options compile_options(const TuneOptions& options, const DeviceInfo& target) {
  return {.target = target,
          .workers = compile_workers(options),
          .deadline = options.compile_deadline,
          .memory_bytes = compile_memory_bytes(options),
          .use = BinaryUse::once,
          .slots = options.compile_slots};
}

DeviceDeadlines session_deadlines(const TuneRequest& request) {
  DeviceDeadlines deadlines = request.options.deadlines;
  deadlines.first_launch = request.options.compile_deadline;
  if (const std::optional<double>& seconds = request.options.budget.seconds) {
    // Compared as numbers: a duration could not hold every number of seconds.
    const double left = *seconds + std::chrono::duration<double>(deadlines.past_budget).count();
    if (left < std::chrono::duration<double>(deadlines.prepare).count())
      deadlines.prepare = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * left));
  }
  if (request.spec.command) {
    const auto run = std::chrono::duration<double>(request.spec.command->seconds);
    deadlines.run_cap = std::chrono::duration_cast<std::chrono::milliseconds>(run);
    deadlines.run_floor = deadlines.run_cap;
  }
  return deadlines;
}

std::unique_ptr<Strategy> new_strategy(const TuneOptions& options, const Setting& setting,
                                       const Space& space) {
  const Prior prior(setting);
  return make_strategy(strategy_of(options), space, options.seed, &prior);
}

std::vector<WarmConfig> find_warm_configs(const TuneOptions& options, const Setting& setting,
                                          const Space& space, const Store& store) {
  const std::size_t most = options.warm_configs;
  if (most == 0) return {};
  const std::string& kernel = setting.spec().name;
  std::vector<BestRecord> bests = store.bests(kernel);
  std::ranges::move(shipped_bests(kernel), std::back_inserter(bests));
  std::vector<WarmConfig> warm = warm_configs(setting, bests, most, options.measure.timing);
  const Config first = setting.default_config();
  std::erase_if(warm, [&](const WarmConfig& each) {
    return each.config == first || !space.index_of(each.config);
  });
  return warm;
}

EarlierTrials find_earlier_trials(const TuneRequest& request, const SessionLog& log,
                                  const Space& space, const Store& store) {
  const Setting& setting = log.setting();
  EarlierTrials earlier = earlier_trials(store, log.key(), setting, space);
  if (request.options.same_card && earlier.ordinal != setting.device().ordinal) return {};
  keep_within(request.options.budget, setting.default_config(), earlier);
  return earlier;
}

ProblemJob session_job(const TuneRequest& request, const Objective& objective) {
  MeasureOptions measure = request.options.measure;
  measure.race = measure.race && objective.is_time();
  measure.energy = objective.needs_energy;
  return {request.spec.path,
          request.spec.text,
          request.spec.files,
          request.problem.fields(),
          request.options.seed,
          measure,
          request.options.max_cpu_operations,
          request.options.extra_operations,
          reference_seconds(request.options.budget)};
}

void require_meter(const Objective& objective, const TuneOptions& options,
                   const DeviceClient& device) {
  if (objective.needs_energy && options.measure.timing == Timing::graph) {
    throw InputError(
        fmt::format("the objective '{}' needs the energy of eager runs; expected --timing eager",
                    objective.name));
  }
  if (!objective.needs_energy || device.energy_unavailable().empty()) return;
  throw DeviceError(
      fmt::format("the objective '{}' needs the device's energy, which cannot be measured: {}",
                  objective.name, device.energy_unavailable()));
}

std::unique_ptr<SessionLog> open_log(Store& store, const TuneRequest& request,
                                     const Setting& setting, const Space& space,
                                     const Scoring& scoring) {
  const std::string strategy = strategy_of(request.options);
  auto log = std::make_unique<SessionLog>(store, request, strategy, setting, space, scoring);
  const bool is_good = !request.options.same_card || !log->is_of_another_card() ||
                       log->answers(request.options.budget);
  if (is_good) return log;
  TuneRequest anew = request;
  anew.options.fresh = true;
  return std::make_unique<SessionLog>(store, anew, strategy, setting, space, scoring);
}

}  // namespace kiln
