// Interleaved, cold samples, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/timing.hpp"

#include "bench/peers/cuda_check.hpp"

namespace kiln::peers {
namespace {

std::size_t flush_bytes() {
  int device = 0;
  int cache_bytes = 0;
  KILN_CUDA(cudaGetDevice(&device));
  KILN_CUDA(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
  return 2 * static_cast<std::size_t>(cache_bytes);
}

}  // namespace

Timer::Timer(cudaStream_t stream, const TimingOptions& options)
    : stream_(stream), options_(options), flushed_(options.cold ? flush_bytes() : 0) {
  KILN_CUDA(cudaEventCreate(&begin_));
  KILN_CUDA(cudaEventCreate(&end_));
}

Timer::~Timer() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

void Timer::flush() {
  if (!options_.cold) return;
  flush_byte_ =
      (flush_byte_ + 1) & 0xff;  // another value each time: no cache line is clean by chance
  KILN_CUDA(cudaMemsetAsync(flushed_.data(), flush_byte_, flushed_.bytes(), stream_));
}

double Timer::time_once(Peer& candidate) {
  flush();
  KILN_CUDA(cudaEventRecord(begin_, stream_));
  candidate.run(stream_);
  KILN_CUDA(cudaEventRecord(end_, stream_));
  KILN_CUDA(cudaEventSynchronize(end_));
  float ms = 0;
  KILN_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
  return static_cast<double>(ms) * 1e3;
}

std::vector<std::vector<double>> Timer::in_turn(std::span<Peer* const> candidates) {
  std::vector<std::vector<double>> us(candidates.size());
  for (int round = -options_.warm_up; round < options_.samples; ++round) {
    for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
      const std::size_t i = round % 2 == 0 ? turn : candidates.size() - 1 - turn;
      const double time = time_once(*candidates[i]);
      if (round >= 0) us[i].push_back(time);
    }
  }
  return us;
}

}  // namespace kiln::peers
