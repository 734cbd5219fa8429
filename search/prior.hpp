// Prior: forecasts the time of a config before anything is compiled.
//
// The inputs are the launch (grid, block, dynamic shared memory), the limits of the device and the
// spec's [cost]. They determine how much of the device the launch can keep busy and how many bytes
// it can have in flight. The resulting time only serves to recognise hopeless configs. If the spec
// describes the main loop of a variant ([variants.loop]), the time also ranks its configs
// (search/loop_time.hpp). docs/results/chosen_numbers.md has the evidence. Registers, spills
// and static shared memory, which only a compiler knows, count as free unless a compiled binary is
// given. Pure: no device, no files.
//
// Sources: J. D. C. Little, "A proof for the queuing formula L = lambda W" (1961), for bytes under
// way; S. Williams, A. Waterman, D. Patterson, "Roofline" (2009), for the larger of two times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/artifact.hpp"
#include "core/config.hpp"
#include "core/loop.hpp"
#include "core/setting.hpp"

namespace kiln {

class Space;

/// Of the launch with the most threads, unless said otherwise. Shares are above 0 and at most 1.
struct Forecast {
  std::size_t steps = 0;        ///< launches and clears of one run
  double lanes = 1;             ///< threads of a block, as a share of its whole warps
  double units = 1;             ///< share of the compute units that get a block at all
  double resident = 1;          ///< blocks of a compute unit at the same time, at most
  double cluster = 1;           ///< blocks of a cluster
  double waves = 1;             ///< rounds of resident blocks
  double threads_per_unit = 0;  ///< resident at the same time, at most
  double bytes_in_flight = 0;   ///< per compute unit, at most; 0: the spec states no bytes
  bool copies_in_bulk = false;  ///< by tensor maps: shared memory holds what is under way
  bool has_loop = false;        ///< the spec describes the main loop: `time_ns` can rank configs
  double spills = 1;            ///< factor of `time_ns` for registers that a compiler spilled
  double time_ns = 0;           ///< rough, to compare configs of one space
};

class Prior {
 public:
  explicit Prior(Setting setting);

  /// nullopt: the config is not legal here, and Setting::plan() says why.
  [[nodiscard]] std::optional<Forecast> forecast(const Config& config) const;
  /// The same once the config is compiled: registers and static shared memory of its kernels limit
  /// how many threads are resident, and spilled registers cost time.
  [[nodiscard]] std::optional<Forecast> forecast(const Config& config, const Binary& binary) const;

 private:
  [[nodiscard]] std::optional<Forecast> forecast_with(const Config& config,
                                                      const Binary* binary) const;
  /// nullptr: the spec does not describe it, or the device is not one for it.
  [[nodiscard]] const Loop* loop_of(const std::string& variant) const;
  [[nodiscard]] std::optional<LoopNumbers> numbers_of(const Loop& loop, const Config& config) const;
  [[nodiscard]] double bytes_per_second() const;
  [[nodiscard]] double cycles_per_second() const;
  [[nodiscard]] double time_of(const Forecast& forecast) const;
  [[nodiscard]] double time_of(const Forecast& forecast, const LoopNumbers& loop) const;

  Setting setting_;
  ProblemCost cost_;
};

/// A config is hopeless if its forecast is more than this many times the least one. No measured
/// best was hopeless. A described loop is compared only with other described loops, since the
/// forecasts of the rest are lower bounds.
inline constexpr double kHopeless = 2;

/// Tells hopeless forecasts among those that it was shown.
class Hopes {
 public:
  void add(const Forecast& forecast);
  [[nodiscard]] bool is_hopeless(const Forecast& forecast) const;
  /// The time from which on a forecast of this kind is hopeless.
  [[nodiscard]] double limit_ns(const Forecast& forecast) const;

 private:
  double fastest_ns_ = std::numeric_limits<double>::infinity();
  double fastest_loop_ns_ = std::numeric_limits<double>::infinity();
};

/// Returns the `indices` that are not hopeless, in their order. If they are fewer than `least`,
/// adds those with the next smallest times. Never fewer than min(least, indices.size()).
[[nodiscard]] std::vector<std::size_t> hopeful(const Prior& prior, const Space& space,
                                               std::span<const std::size_t> indices,
                                               std::size_t least);

}  // namespace kiln
