// Warms the device up, estimates a run, and takes samples of launches or of replayed graphs.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/measure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/last_level_cache.hpp"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

// Samples between two looks at whether they are enough.
constexpr std::size_t kNextSamples = 8;
constexpr double kMaxNextNs = 20e6;
// Event timers tick at up to 1 us: a batch of this length keeps that below 2%.
constexpr double kMinBatchNs = 50e3;
constexpr double kMaxBatch = 1000;
// A graph is replayed once before the timed replay, so that the device is busy when the host sends
// that. A replay of this length makes what lies between two graphs, 1 to 2 us, small.
constexpr double kMinGraphNs = 400e3;
constexpr double kMaxGraphRuns = 256;
// Cold runs in a graph stand behind flushes, which take tens of microseconds each.
constexpr double kMinColdGraphNs = 1e6;
constexpr double kMaxColdGraphRuns = 16;
// A cold sample of a graph is a difference: one that is not above 0 is taken again so many times.
constexpr int kDifferences = 3;
// Untimed runs before the estimate; long runs need none, for the first check was one.
constexpr int kWarmUpRuns = 2;
constexpr double kLongRunNs = 20e6;
// Runs up to this are taken forth and back in finals.
constexpr double kShortRunNs = 1e6;

// A config that is not hopeless by then has been looked at long enough.
constexpr std::size_t kLookSamples = 2;
// How often the device is asked for its clocks while a config is sampled: the first samples may be
// over before the question is answered.
constexpr std::size_t kStatesAsked = 2;

// Energy: chunks between two looks at the meter; the time before the first step counts, so that the
// board's power has settled; a meter that does not move for so long has stopped moving.
constexpr double kChunkNs = 2e6;
constexpr double kEnergyWarmUpNs = 50e6;
constexpr double kMaxStepNs = 0.3e9;

// The flush writes twice the last-level cache. On CPU devices the cache that is reported may be
// shared by a hundred cores, of which we own two: more than this only costs time.
constexpr std::size_t kMinFlushBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxCpuFlushBytes = std::size_t{64} << 20;

// New inputs for each sample: what is copied, per input. A warm cache must stay warm.
constexpr std::size_t kMostStirredBytes = std::size_t{4} << 20;
constexpr std::size_t kMostStirredBytesWarm = 4096;

std::size_t flush_bytes(const DeviceInfo& device) {
  const std::size_t wanted =
      std::max(kMinFlushBytes, static_cast<std::size_t>(2 * bytes_to_flush_out(device)));
  return device.is_cpu ? std::min(wanted, kMaxCpuFlushBytes) : wanted;
}

// A CPU device shares its cores with everything else: its samples spread by tens of per cent.
constexpr std::array<double, 4> kCpuDropFactors = {std::numeric_limits<double>::infinity(), 3.0,
                                                   1.25, 1.25};

void be_patient(StopOptions& stop) {
  for (std::size_t i = 0; i < kCpuDropFactors.size(); ++i)
    stop.drop_factors[i] = std::max(stop.drop_factors[i], kCpuDropFactors[i]);
}

void set_conditions(Samples& samples, const Device::ClockState& state) {
  samples.clock_khz_after = state.clock_khz;
  samples.memory_clock_khz = state.memory_clock_khz;
  samples.temperature_c = state.temperature_c;
  samples.power_mw = state.power_mw;
  samples.throttled = state.throttled;
  samples.throttle = state.throttle;
}

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

Measurer::Measurer(Device& device, const MeasureOptions& options)
    : device_(device), options_(options) {
  if (device.info().is_cpu) be_patient(options_.stop);
}

Status Measurer::allocate_flushed() {
  if (flushed_.get().bytes > 0) return Done{};
  Result<OwnedBuffer> memory = OwnedBuffer::allocate(device_, flush_bytes(device_.info()));
  if (!memory) return memory.failure();
  flushed_ = std::move(*memory);
  return Done{};
}

Status Measurer::flush() {
  if (Status status = allocate_flushed(); !status) return status;
  return device_.fill(flushed_.get(), 0, flushed_.get().bytes, flush_byte_++);
}

Status Measurer::warm_device(const DeviceWork& work, double just_ran_ns) {
  device_is_warm_ |= just_ran_ns >= options_.warm_up_ns && just_ran_ns > 0;
  const auto start = Clock::now();
  while (!device_is_warm_ && ns_since(start) < options_.warm_up_ns) {
    if (Status status = work.enqueue(device_); !status) return status;
    if (Status status = device_.synchronize(); !status) return status;
  }
  device_is_warm_ = true;
  return Done{};
}

Result<double> Measurer::estimate(const DeviceWork& work) {
  double ns = 0;
  for (int run = 0; run <= kWarmUpRuns; ++run) {
    const Result<EventId> from = device_.record();
    if (!from) return from.failure();
    if (Status status = work.enqueue(device_); !status) return status.failure();
    const Result<EventId> to = device_.record();
    if (!to) return to.failure();
    Result<double> elapsed = device_.elapsed_ns(*from, *to);
    if (!elapsed) return elapsed.failure();
    ns = *elapsed;
    if (ns > kLongRunNs) break;
  }
  return ns;
}

Result<CapturedGraph*> Measurer::flushes_of(std::int64_t batch) {
  std::unique_ptr<CapturedGraph>& flushes = flushes_[batch];
  if (flushes) return flushes.get();
  Result<std::unique_ptr<CapturedGraph>> captured = device_.capture([&]() -> Status {
    for (std::int64_t run = 0; run < batch; ++run) {
      if (Status status = flush(); !status) return status;
    }
    return Done{};
  });
  if (!captured) return captured.failure();
  flushes = std::move(*captured);
  return flushes.get();
}

Result<Measurer::SampleRuns> Measurer::ready(const DeviceWork& work, double estimate_ns) {
  SampleRuns runs;
  runs.batch = batch_for(estimate_ns);
  if (options_.timing == Timing::eager) return runs;
  if (options_.cold_cache) {
    if (Status status = allocate_flushed(); !status) return status.failure();
    const Result<CapturedGraph*> flushes = flushes_of(runs.batch);
    if (!flushes) return flushes.failure();
    runs.flushes = *flushes;
  }
  Result<std::unique_ptr<CapturedGraph>> captured = device_.capture([&]() -> Status {
    for (std::int64_t run = 0; run < runs.batch; ++run) {
      if (Status status = options_.cold_cache ? flush() : Status(Done{}); !status) return status;
      if (Status status = work.enqueue(device_); !status) return status;
    }
    return Done{};
  });
  if (!captured) return captured.failure();
  runs.graph = std::move(*captured);
  return runs;
}

/// All that belongs to a sample is on the queue before its first part is over: nothing waits for
/// the host. Cold: the time of the flushes is taken just before, and subtracted.
Result<double> Measurer::take_replay(const SampleRuns& runs, Device::ClockState* state) {
  CapturedGraph& first = runs.flushes != nullptr ? *runs.flushes : *runs.graph;
  std::array<EventId, 3> events{};
  std::size_t recorded = 0;
  const auto replay = [&](CapturedGraph& graph) -> Status {
    if (Status status = graph.replay(); !status) return status;
    const Result<EventId> event = device_.record();
    if (!event) return event.failure();
    events[recorded++] = *event;
    return Done{};
  };
  if (Status status = replay(first); !status) return status.failure();
  if (runs.flushes != nullptr) {
    if (Status status = replay(first); !status) return status.failure();
  }
  if (Status status = replay(*runs.graph); !status) return status.failure();
  if (state != nullptr) *state = device_.clock_state();  // while the sample runs
  const Result<double> taken = device_.elapsed_ns(events[recorded - 2], events[recorded - 1]);
  if (!taken || runs.flushes == nullptr) return taken;
  const Result<double> flushing = device_.elapsed_ns(events[0], events[1]);
  if (!flushing) return flushing;
  return *taken - *flushing;
}

Result<double> Measurer::take(const DeviceWork& work, const SampleRuns& runs,
                              Device::ClockState* state) {
  if (stir_) {
    Status status = stir_(options_.cold_cache ? kMostStirredBytes : kMostStirredBytesWarm);
    if (!status) return status.failure();
  }
  if (runs.graph) {
    for (int chance = 0; chance < kDifferences; ++chance) {
      const Result<double> taken = take_replay(runs, state);
      if (!taken) return taken;
      if (*taken > 0) return *taken / static_cast<double>(runs.batch);
    }
    return Failure{Outcome::launch_error,
                   "a cold run in a graph is too short to distinguish from the flush before it; "
                   "measure it with a warm cache"};
  }
  if (options_.cold_cache) {
    if (Status status = flush(); !status) return status.failure();
  }
  const Result<EventId> from = device_.record();
  if (!from) return from.failure();
  for (std::int64_t run = 0; run < runs.batch; ++run) {
    if (Status status = work.enqueue(device_); !status) return status.failure();
  }
  const Result<EventId> to = device_.record();
  if (!to) return to.failure();
  if (state != nullptr) *state = device_.clock_state();  // while the sample runs
  const Result<double> elapsed = device_.elapsed_ns(*from, *to);
  if (!elapsed) return elapsed.failure();
  return *elapsed / static_cast<double>(runs.batch);
}

Result<Measurer::FirstLook> Measurer::first_look(const DeviceWork& work, double check_ns,
                                                 double incumbent_ns) {
  FirstLook look;
  Samples& samples = look.samples;
  samples.cold_cache = options_.cold_cache;
  samples.first_run_ns = check_ns;
  if (check_ns > kLongRunNs) {
    look.run_ns = check_ns;  // exact enough for a batch of one run
  } else if (!races(incumbent_ns) || !options_.cold_cache || options_.timing == Timing::graph) {
    const Result<double> estimated = estimate(work);
    if (!estimated) return estimated.failure();
    look.run_ns = *estimated;
    look.untimed_runs = kWarmUpRuns + 1;
  }
  if (!races(incumbent_ns)) return look;
  Result<SampleRuns> runs = ready(work, look.run_ns);
  if (!runs) return runs.failure();
  look.runs = std::move(*runs);
  samples.batch = look.runs.batch;
  const bool check_was_slow = check_ns > options_.stop.drop_factors[1] * incumbent_ns;
  Device::ClockState state;
  while (samples.ns.size() < kLookSamples && !look.hopeless) {
    const Result<double> taken = take(work, look.runs, samples.ns.empty() ? &state : nullptr);
    if (!taken) return taken.failure();
    samples.ns.push_back(*taken);
    look.hopeless = (samples.ns.size() > 1 || check_was_slow) &&
                    decide(samples.ns, 0, incumbent_ns, options_.stop) == StopDecision::dropped;
  }
  look.run_ns = *std::min_element(samples.ns.begin(), samples.ns.end());
  set_conditions(samples, state);
  samples.clock_khz_before = state.clock_khz;
  samples.dropped_early = look.hopeless;
  return look;
}

Result<Samples> Measurer::measure(const DeviceWork& work, FirstLook look, double incumbent_ns) {
  Samples samples = std::move(look.samples);
  std::size_t takes = samples.ns.empty() ? 0 : 1;
  if (samples.ns.empty()) {
    samples.cold_cache = options_.cold_cache;
    Result<SampleRuns> runs = ready(work, look.run_ns);
    if (!runs) return runs.failure();
    look.runs = std::move(*runs);
    samples.batch = look.runs.batch;
    samples.clock_khz_before = device_.clock_state().clock_khz;
  }
  const double sample_ns = std::max(look.run_ns, 1.0) * static_cast<double>(samples.batch);
  const auto most =
      std::clamp(static_cast<std::size_t>(kMaxNextNs / sample_ns), std::size_t{1}, kNextSamples);

  Device::ClockState state;
  const auto start = Clock::now();
  StopDecision decision = StopDecision::more;
  while (decision == StopDecision::more) {
    const std::size_t wanted = std::min(most, next_samples(samples.ns.size(), incumbent_ns));
    const std::size_t room =
        options_.stop.max_samples - std::min(options_.stop.max_samples, samples.ns.size());
    for (std::size_t left = std::clamp(room, std::size_t{1}, wanted); left > 0; --left) {
      const Result<double> taken = take(work, look.runs, takes++ < kStatesAsked ? &state : nullptr);
      if (!taken) return taken.failure();
      samples.ns.push_back(*taken);
    }
    decision = decide(samples.ns, ns_since(start), options_.race ? incumbent_ns : 0, options_.stop);
  }
  set_conditions(samples, state);
  samples.dropped_early = decision == StopDecision::dropped;
  return samples;
}

/// Runs chunks for at least `min_ns` and on until the meter has just moved, which it does in steps;
/// returns what it says then and adds to `runs`.
Result<double> Measurer::run_until_step(const DeviceWork& work, std::int64_t chunk, double min_ns,
                                        std::int64_t& runs) {
  const auto start = Clock::now();
  std::optional<double> before;
  while (true) {
    for (std::int64_t run = 0; run < chunk; ++run) {
      if (Status status = work.enqueue(device_); !status) return status.failure();
    }
    if (Status status = device_.synchronize(); !status) return status.failure();
    runs += chunk;
    const std::optional<double> now = device_.energy_j();
    if (!now) return Failure{Outcome::launch_error, "the meter of energy does not answer"};
    const double spent_ns = ns_since(start);
    const bool moved = before && *now != *before;
    if (spent_ns >= min_ns && (moved || spent_ns >= min_ns + kMaxStepNs)) return *now;
    before = now;
  }
}

Result<double> Measurer::measure_energy(const DeviceWork& work, double estimate_ns) {
  const auto chunk =
      static_cast<std::int64_t>(std::clamp(kChunkNs / std::max(estimate_ns, 1.0), 1.0, kMaxBatch));
  std::int64_t warm_up_runs = 0;
  Result<double> from = run_until_step(work, chunk, kEnergyWarmUpNs, warm_up_runs);
  if (!from) return from.failure();
  for (int chance = 0; chance < 2; ++chance) {
    std::int64_t runs = 0;
    const Result<double> to = run_until_step(work, chunk, options_.energy_ns, runs);
    if (!to) return to.failure();
    if (*to > *from) return (*to - *from) / static_cast<double>(runs);
    from = to;  // it stood still, or was set back: nothing runs on nothing
  }
  return Failure{Outcome::launch_error, "the energy meter does not move"};
}

/// In a race each of the first samples may be the last. Then come those that are enough for a
/// config that is behind, those that make a full set, and then some at a time.
std::size_t Measurer::next_samples(std::size_t taken, double incumbent_ns) const {
  const StopOptions& stop = options_.stop;
  if (races(incumbent_ns) && taken < stop.drop_factors.size()) return 1;
  if (races(incumbent_ns) && taken < stop.behind_samples) return stop.behind_samples - taken;
  if (taken < stop.min_samples) return stop.min_samples - taken;
  return kNextSamples;
}

/// Warm samples are batches where a run is short for the timer; a cold sample is one run. A graph
/// holds as many runs as make it long.
std::int64_t Measurer::batch_for(double estimate_ns) const {
  if (options_.timing == Timing::graph) {
    const double least_ns = options_.cold_cache ? kMinColdGraphNs : kMinGraphNs;
    return static_cast<std::int64_t>(
        std::clamp(std::ceil(least_ns / std::max(estimate_ns, 1.0)), 1.0,
                   options_.cold_cache ? kMaxColdGraphRuns : kMaxGraphRuns));
  }
  if (options_.cold_cache) return 1;
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(kMinBatchNs / std::max(estimate_ns, 1.0)), 1.0, kMaxBatch));
}

Result<Measurer::Rounds> Measurer::measure_in_turn(std::span<const DeviceWork* const> works,
                                                   const FinalsOptions& finals) {
  std::vector<double> estimates;
  std::vector<SampleRuns> runs;
  for (const DeviceWork* work : works) {
    if (Status status = warm_device(*work); !status) return status.failure();
    const Result<double> ns = estimate(*work);
    if (!ns) return ns.failure();
    estimates.push_back(*ns);
    Result<SampleRuns> made = ready(*work, *ns);
    if (!made) return made.failure();
    runs.push_back(std::move(*made));
  }
  Rounds rounds;
  rounds.ns.resize(works.size());
  const bool with_energy = options_.energy && finals.energy;
  if (with_energy) rounds.energy_j.resize(works.size());
  const bool and_back =
      std::all_of(estimates.begin(), estimates.end(), [](double ns) { return ns <= kShortRunNs; });
  const auto one_sample = [&](std::size_t i) { return take(*works[i], runs[i], nullptr); };
  const auto start = Clock::now();
  for (std::size_t round = 0; round < finals.max_rounds; ++round) {
    if (round >= finals.min_rounds && ns_since(start) >= finals.max_ns) break;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Result<double> sample = one_sample(i);
      if (!sample) return sample.failure();
      rounds.ns[i].push_back(*sample);
    }
    for (std::size_t i = and_back ? works.size() : 0; i-- > 0;) {
      const Result<double> sample = one_sample(i);
      if (!sample) return sample.failure();
      rounds.ns[i].back() = (rounds.ns[i].back() + *sample) / 2;
    }
    if (!with_energy) continue;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Result<double> joules = measure_energy(*works[i], estimates[i]);
      if (!joules) return joules.failure();
      rounds.energy_j[i].push_back(*joules);
    }
  }
  return rounds;
}

}  // namespace kiln
