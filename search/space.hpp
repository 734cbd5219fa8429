// Space: all configs that satisfy the constraints for one problem on one device.
//
// Configs have indices 0..size()-1: variants in the order of the spec, and within a variant the
// order in which the space assigns its tunables (VariantReport::order), first tunable slowest,
// values as in the spec. The same spec, problem and device give the same indices on every machine.
// Nothing is listed: a space holds a diagram (diagram.hpp), which may be far smaller than its
// configs, so spaces of 10^12 configs and more are counted, indexed and sampled like small ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/setting.hpp"
#include "search/random.hpp"
#include "search/space_report.hpp"
#include "search/variant_space.hpp"

namespace kiln {

/// Which configs count as neighbours of another one of the same variant.
enum class Neighbourhood {
  hamming,   ///< one tunable has any other value
  adjacent,  ///< one tunable has the next legal value, up or down, in the spec's order
};

/// A config as numbers, for strategies: its variant's position among those in the space, and per
/// tunable the index of its value in the list (kAbsent: the tunable does not exist in this config).
struct SpaceRow {
  std::size_t variant = 0;
  std::vector<ValueIndex> values;
  friend bool operator==(const SpaceRow&, const SpaceRow&) = default;
};

struct SpaceOptions {
  std::vector<std::string> variants;  ///< only these; empty: all that are possible
  /// The largest number of states of one variant, about 100 bytes each while building. A space that
  /// needs more is not exact (see Space::is_exact).
  std::size_t max_states = 1'000'000;
};

/// Immutable; safe to read from many threads. Keeps no reference to what it was built from.
class Space {
 public:
  /// Throws InputError when there is no legal config (naming the constraint that cuts most), when
  /// there are more than 2^63, or for an unknown variant in the options.
  [[nodiscard]] static Space build(const Setting& setting, const SpaceOptions& options = {});

  /// The same for a variant that stands alone: its tunables and constraints, no problem, no device
  /// and no launch limits.
  [[nodiscard]] static Space build(const Variant& variant, const SpaceOptions& options = {});

  /// The space of the given configs, for recorded trials (search/recorded_space.hpp). The default
  /// config of each variant is in default_indices(). Variants without configs are left out; throws
  /// InputError when none is left.
  [[nodiscard]] static Space of(std::vector<VariantSpace> variants);

  /// Number of indices; of configs, too, where the space is exact.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// False if the rules tie so many values together that counting the configs would take too much
  /// time or memory. Some rules are then checked config by config, and indices may name illegal
  /// combinations. sample() draws until it finds a legal config; scan() finds rarer ones.
  [[nodiscard]] bool is_exact() const;

  /// Does the index name a legal config? Always true in an exact space.
  [[nodiscard]] bool is_legal(std::size_t index) const;

  /// The config with this index, which should be legal; std::out_of_range past the end.
  [[nodiscard]] Config at(std::size_t index) const;

  /// Inverse of at(); nullopt when the config is not in the space.
  [[nodiscard]] std::optional<std::size_t> index_of(const Config& config) const;

  /// The config with this index as numbers; std::out_of_range past the end.
  [[nodiscard]] SpaceRow row(std::size_t index) const;

  /// Inverse of row(); nullopt when the config is not in the space.
  [[nodiscard]] std::optional<std::size_t> index_of(const SpaceRow& row) const;

  /// Variants that have a config here, and the tunables of one of them in the order of the spec.
  [[nodiscard]] std::size_t variant_count() const { return parts_.size(); }
  [[nodiscard]] const std::vector<SpaceTunable>& tunables(std::size_t variant) const;

  /// The default config of the first variant whose default is in the space (index 0 when none is).
  [[nodiscard]] std::size_t default_index() const { return default_indices_.front(); }

  /// The same for every variant that is in the space, in the order of the spec. Never empty.
  [[nodiscard]] const std::vector<std::size_t>& default_indices() const { return default_indices_; }

  /// Legal configs one step away, in a fixed order. When a step makes conditional tunables appear,
  /// they take their default (or, where that is illegal, their first legal value).
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t index, Neighbourhood kind) const;

  /// Indices [first, last).
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  /// A legal config drawn uniformly from all, or from those in `range`, which must hold an index.
  /// Exact spaces draw an index; others draw indices until one is legal, which is uniform, too.
  /// nullopt: the effort, a step for each draw (a million where none is given), was spent before.
  [[nodiscard]] std::optional<std::size_t> sample(Random& random) const;
  [[nodiscard]] std::optional<std::size_t> sample(Random& random, Range range,
                                                  Effort& effort) const;

  /// Returns a legal config that `is_wanted`, found by scans from random places. It finds rarer
  /// configs than sample() does, but not uniformly. Each tried value is one step of the effort.
  /// nullopt: there is none, or the effort was spent first.
  [[nodiscard]] std::optional<std::size_t> scan(Random& random,
                                                const std::function<bool(std::size_t)>& is_wanted,
                                                Effort& effort) const;

  /// The first legal config in `range` that `is_wanted`; nullopt as for scan().
  [[nodiscard]] std::optional<std::size_t> first_wanted(
      Range range, const std::function<bool(std::size_t)>& is_wanted, Effort& effort) const;

  /// The indices of the variant that holds `index`.
  [[nodiscard]] Range variant_range(std::size_t index) const;

  /// Sizes per variant and what each constraint cut.
  [[nodiscard]] const SpaceReport& report() const { return report_; }

 private:
  struct Part {
    VariantSpace configs;
    std::size_t first = 0;  // index of its first config
    std::size_t legal = 0;  // index of one that is legal
  };
  [[nodiscard]] const Part& part_of(std::size_t index) const;
  void add(VariantSpace configs, std::size_t legal);
  void finish_defaults();

  std::vector<Part> parts_;  // variants with at least one config, in the order of the spec
  std::size_t size_ = 0;
  std::vector<std::size_t> default_indices_;
  SpaceReport report_;
};

/// The report of a space, also of an empty one. Throws as Space::build does otherwise.
[[nodiscard]] SpaceReport explain_space(const Setting& setting, const SpaceOptions& options = {});
[[nodiscard]] SpaceReport explain_space(const Variant& variant);

}  // namespace kiln
