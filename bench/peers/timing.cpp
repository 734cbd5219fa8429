// Times candidates in turn, forth and back, each after a flush or after an untimed run.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/timing.hpp"

#include <chrono>

#include "bench/peers/cuda_check.hpp"

namespace kiln::peers {
namespace {

using Clock = std::chrono::steady_clock;

/// About 20 us: longer than the host needs to enqueue what follows.
constexpr long long kHoldCycles = 40000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t flush_bytes() {
  int device = 0;
  int cache_bytes = 0;
  KILN_CUDA(cudaGetDevice(&device));
  KILN_CUDA(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
  return 2 * static_cast<std::size_t>(cache_bytes);
}

}  // namespace

Timer::Timer(cudaStream_t stream, const TimingOptions& options)
    : stream_(stream), options_(options), flushed_(flush_bytes()) {
  KILN_CUDA(cudaEventCreate(&begin_));
  KILN_CUDA(cudaEventCreate(&end_));
}

Timer::~Timer() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

void Timer::flush() {
  flush_byte_ =
      (flush_byte_ + 1) & 0xff;  // another value each time: no cache line is clean by chance
  KILN_CUDA(cudaMemsetAsync(flushed_.data(), flush_byte_, flushed_.bytes(), stream_));
}

double Timer::time_once(Peer& candidate, CacheMode cache) {
  if (cache == CacheMode::cold) {
    flush();
  } else {
    candidate.run(stream_);
    hold(kHoldCycles, stream_);
  }
  KILN_CUDA(cudaEventRecord(begin_, stream_));
  candidate.run(stream_);
  KILN_CUDA(cudaEventRecord(end_, stream_));
  KILN_CUDA(cudaEventSynchronize(end_));
  float ms = 0;
  KILN_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
  return static_cast<double>(ms) * 1e3;
}

void Timer::time_round(std::span<Peer* const> candidates, CacheMode cache, int round, Samples& us) {
  for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
    const std::size_t i = round % 2 == 0 ? turn : candidates.size() - 1 - turn;
    us[i].push_back(time_once(*candidates[i], cache));
  }
}

/// Returns the seconds that the last round took. Fewer rounds where they are long.
double Timer::warm_up(std::span<Peer* const> candidates, CacheMode cache) {
  Samples dropped(candidates.size());
  const auto start = Clock::now();
  double last = 0;
  for (int round = 0; round < options_.warm_up; ++round) {
    if (round > 0 && seconds_since(start) > options_.seconds / 10) break;
    const auto begin = Clock::now();
    time_round(candidates, cache, round, dropped);
    last = seconds_since(begin);
  }
  return last;
}

std::vector<std::vector<double>> Timer::in_turn(std::span<Peer* const> candidates,
                                                CacheMode cache) {
  Samples us(candidates.size());
  const int count = sample_count(options_, warm_up(candidates, cache));
  for (int round = 0; round < count; ++round) time_round(candidates, cache, round, us);
  return us;
}

}  // namespace kiln::peers
