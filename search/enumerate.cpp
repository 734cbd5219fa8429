// SPDX-License-Identifier: Apache-2.0
#include "search/enumerate.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "search/rule_set.hpp"

namespace kiln {
namespace {

constexpr std::uint64_t kMaxSteps = 1'000'000'000;  // about a minute

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

class Enumerator {
 public:
  Enumerator(const KernelSpec& spec, const Variant& variant, const Problem& problem,
             const DeviceInfo& device, const RowSink& sink)
      : variant_(variant), rules_(spec, variant, problem, device), sink_(sink) {
    const std::size_t count = variant.tunables.size();
    row_.resize(count);
    cut_.resize(rules_.rules().size());
    below_.assign(count + 1, 1);
    for (std::size_t t = count; t > 0; --t) {
      below_[t - 1] = saturating_multiply(below_[t], variant.tunables[t - 1].values.size());
    }
  }

  VariantReport run() {
    descend(0);
    VariantReport report;
    report.variant = variant_.name;
    report.combinations = below_.front();
    report.configs = configs_;
    report.rules = rules_.rules();
    for (std::size_t i = 0; i < cut_.size(); ++i) report.rules[i].cut = cut_[i];
    return report;
  }

 private:
  // The first `assigned` tunables have values: check what that completes, then go on.
  void descend(std::size_t assigned) {
    if (++steps_ > kMaxSteps) {
      throw InputError(
          variant_.where,
          fmt::format("variant '{}' has too many combinations to list; constrain it by "
                      "its first tunables",
                      variant_.name));
    }
    if (!rules_.hold(assigned)) {
      cut(assigned);
    } else if (assigned == row_.size()) {
      ++configs_;
      stopped_ = !sink_(row_);
    } else {
      branch(assigned);
    }
  }

  void branch(std::size_t t) {
    const std::optional<bool> exists = rules_.exists(t);
    if (!exists) {
      cut(t);
    } else if (!*exists) {
      take(t, kAbsent);
    } else {
      const std::size_t count = variant_.tunables[t].values.size();
      for (std::size_t v = 0; v < count && !stopped_; ++v) take(t, static_cast<ValueIndex>(v));
    }
  }

  void take(std::size_t t, ValueIndex value) {
    row_[t] = value;
    rules_.assign(t, value);
    descend(t + 1);
  }

  void cut(std::size_t assigned) {
    std::uint64_t& count = cut_[rules_.broken()];
    count = saturating_add(count, below_[assigned]);
  }

  const Variant& variant_;
  RuleSet rules_;
  const RowSink& sink_;
  std::vector<ValueIndex> row_;
  std::vector<std::uint64_t> below_;  // combinations of the tunables from t on
  std::vector<std::uint64_t> cut_;
  std::size_t configs_ = 0;
  std::uint64_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace

VariantReport enumerate(const KernelSpec& spec, const Variant& variant, const Problem& problem,
                        const DeviceInfo& device, const RowSink& sink) {
  return Enumerator(spec, variant, problem, device, sink).run();
}

}  // namespace kiln
