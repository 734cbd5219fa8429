// What the launcher costs, each figure beside what it is compared with, in one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/launch/application.hpp"

namespace kiln::launch_bench {

/// One kernel launched in bursts, by the driver alone and through the launcher in turn. Times are
/// the calling thread's, medians over the bursts; the device is waited for between bursts.
struct LaunchCost {
  double raw_ns = 0;
  double kiln_ns = 0;
  double over_ns = 0;             ///< median of the differences of neighbouring bursts
  std::uint64_t allocations = 0;  ///< operator new in all of the launcher's bursts together
};
[[nodiscard]] LaunchCost measure_launch(Application& application, const std::string& cache,
                                        int bursts);

/// The same of a kernel with two tensor maps, over the driver with maps that were encoded once.
struct MapLaunchCost {
  LaunchCost same;   ///< the pointers of the launch before: nothing is encoded
  LaunchCost moved;  ///< two pairs of pointers in turn: both maps are encoded for each launch
};
/// Throws DeviceError where the device has no tensor maps.
[[nodiscard]] MapLaunchCost measure_map_launch(Application& application, const std::string& cache,
                                               int bursts);

/// select() and prepare() of 50 known problems in turn.
struct SelectCost {
  double select_ns = 0;        ///< texts that the program keeps
  double select_typed_ns = 0;  ///< texts put together by ProblemText for each call
  double prepare_ns = 0;
  std::uint64_t allocations = 0;
};
[[nodiscard]] SelectCost measure_select(Application& application, const std::string& cache);

/// From an application with a context to the result of its first kernel: opening the launcher,
/// looking up, preparing, launching, waiting. In this process, once.
struct FirstLaunch {
  std::string config;
  double total_ms = 0;
  double open_ms = 0;
  double prepare_ms = 0;
  bool from_cache = false;
  bool compiler_loaded = false;  ///< a library of NVRTC is in this process
};
/// Of a kernel that takes the device no time: a "transpose" of 32 x 32, or a "matmul" of a size
/// that nobody tuned, for which a lookup asks eight that are shipped. The launcher is opened on the
/// default databases: the caller sees to it that only the shipped one is there.
[[nodiscard]] FirstLaunch measure_first_launch(Application& application, const std::string& cache,
                                               const std::string& kernel);
/// Puts the binary of that launch into the cache, for processes without a compiler. Their answer is
/// another (rows are stale by the compiler), so the first of them still looks up.
void warm_first_launch(const Application& application, const std::string& cache,
                       const std::string& kernel);

/// Does a captured launch give what the launch gives? "ok", "no graphs here", or what was wrong.
[[nodiscard]] std::string check_graph(Application& application, const std::string& cache);

}  // namespace kiln::launch_bench
