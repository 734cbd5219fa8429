// Timing several candidates in one run, so that clocks, heat and neighbours are the same for all.
//
// Round after round, each candidate runs once, forth and back: A B C, C B A, ... (with two in one
// order, what makes every second run slower would count against one of them). Before each run the
// last-level cache is overwritten, because applications seldom find their data in it. Times are
// CUDA events around the run. While the flush runs, the host enqueues what follows, so that its own
// speed does not show.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "bench/peers/device_data.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {

struct TimingOptions {
  int samples = 50;  ///< of each candidate, even; at least 30 for figures that are told to others
  int warm_up = 5;   ///< rounds before the first sample
  bool cold = true;  ///< flush the last-level cache before each run
};

class Timer {
 public:
  Timer(cudaStream_t stream, const TimingOptions& options);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// result[candidate][round], in microseconds.
  [[nodiscard]] std::vector<std::vector<double>> in_turn(std::span<Peer* const> candidates);

 private:
  void flush();
  double time_once(Peer& candidate);

  cudaStream_t stream_;
  TimingOptions options_;
  DeviceArray flushed_;
  int flush_byte_ = 0;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace kiln::peers
