// Timing several candidates in one run, so that clocks, heat and neighbours are the same for all.
//
// Round after round, each candidate runs once, forth and back: A B C, C B A, ... (with two in one
// order, what makes every second run slower would count against one of them). Before each cold run
// the last-level cache is overwritten, because applications seldom find their data in it. Before
// each warm run the candidate runs once untimed, and the stream is held for some microseconds.
// Times are CUDA events around the run. While the stream is busy with what comes before, the host
// enqueues the run, so that its own speed does not show.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "bench/peers/device_data.hpp"
#include "bench/peers/host/timing_options.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {

class Timer {
 public:
  Timer(cudaStream_t stream, const TimingOptions& options);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// result[candidate][round], in microseconds.
  [[nodiscard]] std::vector<std::vector<double>> in_turn(std::span<Peer* const> candidates,
                                                         CacheMode cache);

 private:
  using Samples = std::vector<std::vector<double>>;

  void flush();
  double time_once(Peer& candidate, CacheMode cache);
  void time_round(std::span<Peer* const> candidates, CacheMode cache, int round, Samples& us);
  double warm_up(std::span<Peer* const> candidates, CacheMode cache);

  cudaStream_t stream_;
  TimingOptions options_;
  DeviceArray flushed_;
  int flush_byte_ = 0;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace kiln::peers
