// SPDX-License-Identifier: Apache-2.0
#include "search/loop_time.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr double kReached = 0.75;           // of the highest clock and of the memory, under load
constexpr double kLatencyCycles = 2000;     // from a copy's issue to its use, with its barriers
constexpr double kRoundCycles = 20;         // of a round that nothing hides
constexpr double kClusterShare = 0.1;       // blocks of a cluster wait for each other: per doubling
constexpr double kReadBytesPerCycle = 128;  // of shared memory
constexpr double kCopiedBytesPerCycle = 55;  // from the L2, of one compute unit
constexpr double kResultNs = 810;            // of a block: the loop drains and fills again
constexpr double kResultNsPerByte = 0.077;
constexpr double kStartNs = 6000;   // until the first round, from the end of the last store
constexpr double kLaunchNs = 2000;  // each further one
constexpr double kSharpness = 4;    // how sudden the change from one limit to the other is

double cycles_of_round(const LoopNumbers& loop, const LoopPlace& place) {
  const double arithmetic = loop.flops / std::max(1.0, loop.flops_per_cycle);
  // The L2 serves fewer units better.
  const double copies = loop.copied / kCopiedBytesPerCycle * std::sqrt(place.units);
  const double busy = std::max(
      {arithmetic * place.resident, loop.read / kReadBytesPerCycle * place.resident,
       copies * place.resident, (kLatencyCycles + arithmetic) / std::max(1.0, loop.ahead)});
  return kRoundCycles + busy * (1 + kClusterShare * std::log2(std::max(1.0, place.cluster)));
}

}  // namespace

double loop_time_ns(const LoopNumbers& loop, const LoopPlace& place) {
  const double rounds =
      loop.rounds * cycles_of_round(loop, place) / (kReached * place.cycles_per_ns);
  const double results =
      loop.results * (kResultNs + kResultNsPerByte * loop.stored * place.resident);
  const double bytes_per_ns = kReached * place.bytes_per_ns;
  const double computing = std::pow(place.waves * (rounds + results), kSharpness);
  const double moving = std::pow(place.bytes / bytes_per_ns, kSharpness);
  return kStartNs + std::pow(computing + moving, 1 / kSharpness) +
         kLaunchNs * (place.launches - 1) + loop.prepared / bytes_per_ns;
}

}  // namespace kiln
