// SPDX-License-Identifier: Apache-2.0
#include "search/prior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/occupancy.hpp"
#include "core/setting.hpp"
#include "search/loop_time.hpp"
#include "search/space.hpp"

namespace kiln {
namespace {

// Rough on purpose: they hold for every GPU within a factor of two, and no more is asked of them.
constexpr double kStepNs = 2000;         // a launch, after another one
constexpr double kLatencyNs = 800;       // of a load from busy device memory
constexpr double kBytesPerThread = 64;   // under way at most: a few wide loads
constexpr double kLatencyThreads = 128;  // of a compute unit: tiles in registers hide the rest
constexpr double kFlopsPerCycle = 256;   // of a compute unit
// Bulk copies fill shared memory ahead of the threads: a unit then draws up to twice its share of
// the bandwidth.
constexpr double kBulkShare = 2;
constexpr double kBytesPerSecondPerUnit = 20e9;  // where the device does not tell
constexpr double kCyclesPerSecond = 1.5e9;       // likewise
constexpr double kNs = 1e9;                      // of a second
constexpr double kTransfersPerCycle = 2;         // of memory: double data rate
// So many spilled bytes of a thread (64 registers) make a config count as twice as slow. A guess:
// how often they are stored and loaded again nobody knows before the config runs.
constexpr double kSpilledBytes = 256;

double product(const std::array<std::uint32_t, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

double at_least_one(std::int64_t count) {
  return static_cast<double>(std::max<std::int64_t>(1, count));
}

const StepPlan* largest_launch(const LaunchPlan& plan) {
  const StepPlan* largest = nullptr;
  double most = 0;
  for (const StepPlan& step : plan.steps) {
    const double threads = product(step.grid) * product(step.block);
    if (step.kind != StepKind::launch || threads <= most) continue;
    most = threads;
    largest = &step;
  }
  return largest;
}

const StepPlan* launch_of(const LaunchPlan& plan, const std::string& entry) {
  const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                  [&](const StepPlan& step) { return step.entry == entry; });
  return found == plan.steps.end() ? nullptr : &*found;
}

bool passes_tensor_maps(const StepPlan& step, const LaunchPlan& plan) {
  return std::any_of(step.arguments.begin(), step.arguments.end(), [&](const std::string& name) {
    return plan.find_tensor_map(name) != nullptr;
  });
}

}  // namespace

Prior::Prior(Setting setting) : setting_(std::move(setting)), cost_(setting_.cost()) {}

std::optional<Forecast> Prior::forecast(const Config& config) const {
  return forecast_with(config, nullptr);
}

std::optional<Forecast> Prior::forecast(const Config& config, const Binary& binary) const {
  return forecast_with(config, &binary);
}

std::optional<Forecast> Prior::forecast_with(const Config& config, const Binary* binary) const {
  const Result<LaunchPlan> plan = setting_.plan(config);
  if (!plan) return std::nullopt;
  const Loop* described = loop_of(config.variant);
  const std::optional<LoopNumbers> loop = described ? numbers_of(*described, config) : std::nullopt;
  Forecast out;
  out.steps = plan->steps.size();
  if (const StepPlan* step = loop ? launch_of(*plan, described->entry) : largest_launch(*plan)) {
    const double blocks = product(step->grid);
    const double threads = product(step->block);
    const double warp = at_least_one(setting_.device().warp_size);
    const double padded = std::ceil(threads / warp) * warp;
    const double units = at_least_one(setting_.device().compute_units);
    BlockNeeds needs{.threads = static_cast<std::int64_t>(threads),
                     .shared_bytes = step->shared_bytes};
    if (binary != nullptr) {
      needs.registers = binary->registers;
      needs.shared_bytes += std::max<std::int64_t>(0, binary->shared_bytes);
      out.spills +=
          static_cast<double>(std::max<std::int64_t>(0, binary->spill_bytes)) / kSpilledBytes;
    } else if (loop && loop->registers > 0) {
      needs.registers = static_cast<std::int64_t>(loop->registers);
    }
    const auto fitting = static_cast<double>(resident_blocks(needs, setting_.device()));
    out.resident = std::min(fitting, std::ceil(blocks / units));
    out.waves = std::ceil(blocks / (units * fitting));
    out.cluster = product(step->cluster);
    out.lanes = threads / padded;
    out.units = std::min(1.0, blocks / units);
    out.threads_per_unit = out.resident * threads;
    const double by_threads = threads * std::min(kBytesPerThread, cost_.bytes / (blocks * threads));
    out.copies_in_bulk = passes_tensor_maps(*step, *plan);
    out.bytes_in_flight =
        out.resident *
        (out.copies_in_bulk ? std::max<double>(by_threads, step->shared_bytes) : by_threads);
  }
  out.has_loop = loop.has_value();
  out.time_ns = out.spills * (loop ? time_of(out, *loop) : time_of(out));
  return out;
}

const Loop* Prior::loop_of(const std::string& name) const {
  const Variant* variant = setting_.spec().find_variant(name);
  return variant != nullptr && variant->loop && !setting_.device().is_cpu ? &*variant->loop
                                                                          : nullptr;
}

std::optional<LoopNumbers> Prior::numbers_of(const Loop& loop, const Config& config) const {
  return evaluate(loop, setting_.scope(config));
}

double Prior::cycles_per_second() const {
  return setting_.device().clock_khz > 0 ? 1e3 * static_cast<double>(setting_.device().clock_khz)
                                         : kCyclesPerSecond;
}

double Prior::time_of(const Forecast& forecast, const LoopNumbers& loop) const {
  return loop_time_ns(loop, {.resident = forecast.resident,
                             .cluster = forecast.cluster,
                             .units = forecast.units,
                             .waves = forecast.waves,
                             .cycles_per_ns = cycles_per_second() / kNs,
                             .bytes_per_ns = bytes_per_second() / kNs,
                             .bytes = cost_.bytes,
                             .launches = static_cast<double>(forecast.steps)});
}

double Prior::bytes_per_second() const {
  constexpr double kBitsPerByte = 8;
  const double told = kTransfersPerCycle * 1e3 *
                      static_cast<double>(setting_.device().memory_clock_khz) *
                      static_cast<double>(setting_.device().memory_bus_bits) / kBitsPerByte;
  return told > 0 ? told : kBytesPerSecondPerUnit * at_least_one(setting_.device().compute_units);
}

// The roofline, each of its sides divided by the share of it that the launch can reach. A CPU hides
// latencies without threads: there only idle units count.
double Prior::time_of(const Forecast& forecast) const {
  const double units = at_least_one(setting_.device().compute_units);
  double memory = forecast.units;
  double arithmetic = forecast.units;
  if (!setting_.device().is_cpu) {
    const double needed = bytes_per_second() * kLatencyNs / kNs / units;
    const double most = forecast.copies_in_bulk ? kBulkShare : 1.0;
    memory = std::min(1.0, memory * std::min(most, forecast.bytes_in_flight / needed));
    arithmetic *= forecast.lanes * std::min(1.0, forecast.threads_per_unit / kLatencyThreads);
  }
  double seconds = 0;
  if (cost_.bytes > 0) seconds = cost_.bytes / bytes_per_second() / memory;
  if (cost_.flops > 0) {
    seconds = std::max(seconds,
                       cost_.flops / (units * cycles_per_second() * kFlopsPerCycle) / arithmetic);
  }
  return kStepNs * static_cast<double>(forecast.steps) + kNs * seconds;
}

void Hopes::add(const Forecast& forecast) {
  fastest_ns_ = std::min(fastest_ns_, forecast.time_ns);
  if (forecast.has_loop) fastest_loop_ns_ = std::min(fastest_loop_ns_, forecast.time_ns);
}

double Hopes::limit_ns(const Forecast& forecast) const {
  return kHopeless * (forecast.has_loop ? fastest_loop_ns_ : fastest_ns_);
}

bool Hopes::is_hopeless(const Forecast& forecast) const {
  return forecast.time_ns > limit_ns(forecast);
}

std::vector<std::size_t> hopeful(const Prior& prior, const Space& space,
                                 std::span<const std::size_t> indices, std::size_t least) {
  if (indices.empty()) return {};
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<Forecast> forecasts;
  Hopes hopes;
  std::vector<double> times;
  for (const std::size_t index : indices) {
    forecasts.push_back(prior.forecast(space.at(index)).value_or(Forecast{.time_ns = kNever}));
    hopes.add(forecasts.back());
    times.push_back(forecasts.back().time_ns);
  }
  std::sort(times.begin(), times.end());
  const double needed = least == 0 ? 0 : times[std::min(least, times.size()) - 1];
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const double limit = hopes.limit_ns(forecasts[i]);
    if (forecasts[i].time_ns <= std::max(limit, needed)) kept.push_back(indices[i]);
  }
  return kept;
}

}  // namespace kiln
