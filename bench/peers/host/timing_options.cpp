// Computes how many samples there is time for.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/timing_options.hpp"

#include <algorithm>

namespace kiln::peers {
namespace {

constexpr double kFewest = 10;

}  // namespace

int sample_count(const TimingOptions& options, double round_seconds) {
  const double wanted = options.samples;
  const double in_time = round_seconds > 0 ? options.seconds / round_seconds : wanted;
  const int count = static_cast<int>(std::min(wanted, std::max(kFewest, in_time)));
  return std::max(1, count - (count > 2 ? count % 2 : 0));
}

}  // namespace kiln::peers
