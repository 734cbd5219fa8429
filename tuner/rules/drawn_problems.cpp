// Draws sizes at random, and repairs or drops those that the rules of the problem forbid.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/drawn_problems.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <random>
#include <string>

#include "tuner/rules/shrink_problem.hpp"

namespace kiln {
namespace {

// A loop may touch so many elements for each of its operations.
constexpr double kElementsPerOperation = 4;
// Sizes of one order of magnitude are so many times their geometric mean at most.
constexpr double kEvenSizes = 4;
// Of what a problem mostly has one of: filters and channels come in tiles, too.
constexpr std::int64_t kMoreThanATile = 200;
// What is several tiles, for most of them, and a tail.
constexpr std::int64_t kTile = 32;
constexpr std::int64_t kMostTiles = 8;
// Where vectors are to be whole and tiles have tails: elements of a vector, vectors of a size.
constexpr std::int64_t kVector = 8;
constexpr std::int64_t kMostVectors = 12;
// Draws of one size before it stays as small as it can be, and of a problem of full tiles before
// another one is tried.
constexpr int kTries = 6;
// Draws of problems until there seem to be no more.
constexpr int kDraws = 32;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

class ProblemDrawer::Impl {
 public:
  Impl(const Setting& setting, const Limits& limits);
  std::optional<Problem> next();

 private:
  /// The same numbers everywhere: the distributions of the standard library differ.
  class Dice {
   public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    /// Evenly from `low` to `high`, both included.
    std::int64_t integer(std::int64_t low, std::int64_t high) {
      return low +
             static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool one_in(std::int64_t count) { return integer(1, count) == 1; }
    /// Evenly in log space from 1 to `high`.
    std::int64_t magnitude(std::int64_t high) {
      const double part = static_cast<double>(random_() >> 11) * 0x1p-53;
      return static_cast<std::int64_t>(std::exp2(part * std::log2(static_cast<double>(high) + 1)));
    }
    template <typename T>
    void shuffle(std::vector<T>& items) {
      for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_() % i]);
    }

   private:
    std::mt19937_64 random_;
  };

  struct Size {
    std::string name;
    bool is_one = false;  ///< unless a caller says otherwise
    std::int64_t base = 0;
    std::vector<std::string> related;  ///< sizes that a rule of the spec names with it
    bool has_rule = false;
  };

  void choose_fields();
  void relate(Size& size) const;
  void make_smallest();
  enum class Change { made, too_much, against_a_rule };
  /// Nothing changes unless it is made.
  Change change(const std::vector<std::pair<std::string, std::int64_t>>& sizes,
                double max_operations);
  bool change_or_repair(const Size& size, std::int64_t value, double max_operations);
  [[nodiscard]] std::int64_t draw_size(const Size& size, std::int64_t longest);
  [[nodiscard]] std::int64_t draw_full(const Size& size);
  [[nodiscard]] std::int64_t draw_tiles_and_tail();
  void draw_mixed();
  void draw_whole_vectors();
  void draw_full_tiles();
  void loosen(const std::string& follower);
  std::optional<Problem> draw();
  [[nodiscard]] bool fits(const Problem& problem, double max_operations) const;

  const KernelSpec& spec_;
  DeviceInfo device_;
  Problem base_;
  std::vector<Problem> known_;  ///< the base, and what was drawn
  double max_operations_;
  Dice dice_;
  std::vector<Size> sizes_;
  std::size_t turn_ = 0;                ///< of the sizes, to be longer than a tile
  std::vector<std::string> followers_;  ///< fields that are computed from others by default
  std::int64_t longest_ = kLongestOfSeveral;
  Fields smallest_fields_;
  Problem smallest_;
  Fields fields_;    ///< of the problem that is being drawn, without what follows others
  Problem problem_;  ///< the same with all fields
};

ProblemDrawer::Impl::Impl(const Setting& setting, const Limits& limits)
    : spec_(setting.spec()),
      device_(setting.device()),
      base_(setting.problem()),
      known_({base_}),
      max_operations_(limits.max_operations),
      dice_(limits.seed),
      smallest_(base_),
      problem_(base_) {
  choose_fields();
  make_smallest();
}

void ProblemDrawer::Impl::choose_fields() {
  fields_ = base_.fields();
  for (const ProblemField& field : spec_.problem) {
    if (field.type != FieldType::integer || !field.values.empty() || field.specialize) continue;
    const bool follows = field.fallback && !field.fallback->names().empty();
    if (follows) {
      Fields fewer = fields_;
      std::erase_if(fewer, [&](const auto& entry) { return entry.first == field.name; });
      if (!try_problem(spec_, fewer)) continue;
      fields_ = std::move(fewer);
      followers_.push_back(field.name);
    } else if (field.weight > 0) {
      const bool is_one = field.fallback && field.fallback->evaluate_number(Scope()) == 1;
      sizes_.push_back({field.name, is_one, base_.integer(field.name), {}, false});
    }
  }
  for (Size& size : sizes_) relate(size);
  problem_ = *try_problem(spec_, fields_);
  const auto not_one = [](const Size& size) { return !size.is_one; };
  const auto several = std::count_if(sizes_.begin(), sizes_.end(), not_one) > 1;
  if (!several) longest_ = std::max(kLongestOfSeveral, static_cast<std::int64_t>(max_operations_));
}

void ProblemDrawer::Impl::relate(Size& size) const {
  for (const Constraint& rule : spec_.problem_rules) {
    const auto names = rule.require.names();
    const auto has = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (!has(size.name)) continue;
    size.has_rule = true;
    for (const Size& other : sizes_) {
      if (other.name != size.name && has(other.name)) size.related.push_back(other.name);
    }
  }
}

/// Every size as small as the rules allow: what is not drawn leaves room for what is.
void ProblemDrawer::Impl::make_smallest() {
  constexpr double kAny = HUGE_VAL;
  for (const Size& size : sizes_) {
    for (const std::int64_t value : {1, 2, 3, 4, 8, 16, 32, 64}) {
      if (value >= size.base || change({{size.name, value}}, kAny) == Change::made) break;
    }
  }
  smallest_fields_ = fields_;
  smallest_ = problem_;
}

bool ProblemDrawer::Impl::fits(const Problem& problem, double max_operations) const {
  return cpu_operations({spec_, problem, device_}) <= max_operations &&
         argument_elements({spec_, problem, device_}) <= kElementsPerOperation * max_operations;
}

ProblemDrawer::Impl::Change ProblemDrawer::Impl::change(
    const std::vector<std::pair<std::string, std::int64_t>>& sizes, double max_operations) {
  Fields changed = fields_;
  for (const auto& [name, value] : sizes) {
    std::erase_if(changed, [&, &old = name](const auto& entry) { return entry.first == old; });
    changed.emplace_back(name, value);
  }
  auto made = try_problem(spec_, changed);
  if (!made || !shares_source(spec_, base_, *made)) return Change::against_a_rule;
  if (!fits(*made, max_operations)) return Change::too_much;
  fields_ = std::move(changed);
  problem_ = std::move(*made);
  return Change::made;
}

/// Against a rule it becomes a multiple of another size, or makes others its multiples: channels,
/// where it counts groups of them.
bool ProblemDrawer::Impl::change_or_repair(const Size& size, std::int64_t value,
                                           double max_operations) {
  const Change alone = change({{size.name, value}}, max_operations);
  if (alone != Change::against_a_rule) return alone == Change::made;
  if (!size.has_rule) return false;
  const auto multiple = [&](std::int64_t of, std::int64_t unit) {
    return dice_.one_in(2) ? of * unit : round_up(of, unit);
  };
  std::vector<std::pair<std::string, std::int64_t>> along = {{size.name, value}};
  std::vector<std::int64_t> units;
  for (const std::string& other : size.related) {
    const std::int64_t held = problem_.integer(other);
    along.emplace_back(other, multiple(held, value));
    if (held > 1) units.push_back(held);
  }
  for (const std::int64_t unit : units) {
    if (change({{size.name, multiple(value, unit)}}, max_operations) == Change::made) return true;
  }
  if (change(along, max_operations) == Change::made) return true;
  for (const std::int64_t unit : {2, 4, 8, 16, 32, 64}) {
    const Change rounded = change({{size.name, round_up(value, unit)}}, max_operations);
    if (rounded == Change::made) return true;
  }
  return false;
}

std::int64_t ProblemDrawer::Impl::draw_size(const Size& size, std::int64_t longest) {
  if (size.is_one) {
    const std::int64_t kind = dice_.integer(0, 9);
    if (kind < 3) return 1;
    if (kind < 6) return dice_.integer(2, 5);
    if (kind < 9) return dice_.magnitude(kMoreThanATile);
  }
  const std::int64_t kind = dice_.integer(0, 19);
  if (kind < 3) return dice_.integer(1, 3);
  if (kind < 12) {
    const std::int64_t factor = dice_.one_in(2) ? 1 : dice_.one_in(2) ? 3 : 5;
    const std::int64_t last = std::bit_width(static_cast<std::uint64_t>(longest / factor)) - 1;
    const std::int64_t off = dice_.one_in(2) ? 0 : dice_.one_in(2) ? 1 : -1;
    return std::max<std::int64_t>(
        (factor << dice_.integer(0, std::max<std::int64_t>(last, 0))) + off, 1);
  }
  return kind < 17 ? dice_.magnitude(longest) : size.base;
}

std::int64_t ProblemDrawer::Impl::draw_full(const Size& size) {
  if (size.is_one && dice_.one_in(2)) return dice_.integer(1, 2);
  return dice_.integer(1, 3) << dice_.integer(size.is_one ? 2 : 4, size.is_one ? 6 : 7);
}

std::int64_t ProblemDrawer::Impl::draw_tiles_and_tail() {
  return kTile * dice_.magnitude(kMostTiles) + dice_.integer(1, kTile - 1);
}

/// One size after the other, in any order: where sizes may be long, the first ones have the most
/// room, so in every second problem they are of one order of magnitude. In every second one a size
/// comes first that is several tiles and a tail, each size in its turn.
void ProblemDrawer::Impl::draw_mixed() {
  const double max_operations = max_operations_ / static_cast<double>(1 << dice_.integer(0, 4));
  const double even =
      kEvenSizes * std::pow(max_operations, 1.0 / static_cast<double>(sizes_.size()));
  const std::int64_t longest =
      dice_.one_in(2) ? longest_ : std::min(longest_, static_cast<std::int64_t>(even));
  std::vector<Size> order = sizes_;
  dice_.shuffle(order);
  if (!sizes_.empty() && dice_.one_in(2)) {
    const Size& longer = sizes_[turn_++ % sizes_.size()];
    std::erase_if(order, [&](const Size& size) { return size.name == longer.name; });
    (void)change_or_repair(longer, draw_tiles_and_tail(), max_operations);
  }
  for (const Size& size : order) {
    for (int i = 0; i < kTries; ++i) {
      if (change_or_repair(size, draw_size(size, longest), max_operations)) break;
    }
  }
}

/// What loads whole vectors only meets tiles with tails.
void ProblemDrawer::Impl::draw_whole_vectors() {
  std::vector<Size> order = sizes_;
  dice_.shuffle(order);
  for (const Size& size : order) {
    for (int i = 0; i < kTries; ++i) {
      const std::int64_t value =
          size.is_one ? draw_size(size, longest_) : kVector * dice_.integer(1, kMostVectors);
      if (change_or_repair(size, value, max_operations_)) break;
    }
  }
}

void ProblemDrawer::Impl::draw_full_tiles() {
  for (int i = 0; i < kTries; ++i) {
    for (const Size& size : sizes_) (void)change_or_repair(size, draw_full(size), HUGE_VAL);
    if (fits(problem_, max_operations_)) return;
    fields_ = smallest_fields_;
    problem_ = smallest_;
  }
}

void ProblemDrawer::Impl::loosen(const std::string& follower) {
  constexpr std::int64_t kMore[] = {1, 2, 3, 4, 8, 16, -1};
  const std::int64_t value = problem_.integer(follower) + kMore[dice_.integer(0, 6)];
  (void)change({{follower, value}}, max_operations_);
}

/// nullopt: this draw came to nothing.
std::optional<Problem> ProblemDrawer::Impl::draw() {
  fields_ = smallest_fields_;
  problem_ = smallest_;
  const std::int64_t kind = dice_.integer(1, 6);
  kind == 1 ? draw_full_tiles() : kind <= 3 ? draw_whole_vectors() : draw_mixed();
  for (const std::string& follower : followers_) {
    if (dice_.one_in(4)) loosen(follower);
  }
  if (!shares_source(spec_, base_, problem_) || !fits(problem_, max_operations_))
    return std::nullopt;
  return problem_;
}

std::optional<Problem> ProblemDrawer::Impl::next() {
  for (int i = 0; i < kDraws; ++i) {
    std::optional<Problem> drawn = draw();
    if (!drawn || std::find(known_.begin(), known_.end(), *drawn) != known_.end()) continue;
    known_.push_back(*drawn);
    return drawn;
  }
  return std::nullopt;
}

ProblemDrawer::ProblemDrawer(const Setting& setting, const Limits& limits)
    : impl_(std::make_unique<Impl>(setting, limits)) {}
ProblemDrawer::~ProblemDrawer() = default;
ProblemDrawer::ProblemDrawer(ProblemDrawer&&) noexcept = default;

std::optional<Problem> ProblemDrawer::next() { return impl_->next(); }

bool shares_source(const KernelSpec& spec, const Problem& a, const Problem& b) {
  return std::all_of(spec.problem.begin(), spec.problem.end(), [&](const ProblemField& field) {
    return !field.specialize || a.at(field.name) == b.at(field.name);
  });
}

}  // namespace kiln
