// SPDX-License-Identifier: Apache-2.0
#include "search/model/model_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "search/moves.hpp"

namespace kiln {
namespace {

constexpr double kCeilingShare = 0.75;      // of the times, sorted: slower ones count as equal
constexpr float kLeastChance = 0.05F;       // of running: the model may be wrong about failures
constexpr std::size_t kPool = 2048;         // candidates, beside neighbours of the fastest configs
constexpr std::size_t kListed = 4 * kPool;  // a space of at most so many configs is listed
constexpr std::size_t kMaxPoints = 400;     // then the slow ones are forgotten
constexpr std::size_t kKeptPoints = 280;    // when they are
constexpr std::size_t kLeastFitPoints = 4;
constexpr std::size_t kFitPoints = 120;         // of these the kernel is fitted to so many
constexpr double kRefitGrowth = 1.4;            // refitted when there are so many times the points
constexpr std::size_t kMostPoolDraws = 20'000;  // for the pool, where few indices are legal
constexpr std::size_t kFruitless = 64;          // draws and walks there that bring nothing new
constexpr std::size_t kMoreCandidates = 1024;   // room for neighbours of the fastest configs
constexpr std::size_t kSkillWindow = 40;        // predictions that tell the skill, at most
constexpr std::size_t kLeastSkillTrials = 24;   // and at least
constexpr float kLeastVariance = 1e-6F;         // of a prediction, relative to the scale
constexpr std::size_t kFastest = 4;       // configs whose neighbours are candidates at a refit
constexpr std::size_t kTransferred = 16;  // fastest configs that other variants take over
constexpr std::size_t kParents = 64;      // fastest configs from which walks begin
constexpr std::size_t kShortestWalk = 2;  // of such a walk
constexpr std::size_t kLongestWalk = 3;
constexpr std::size_t kRivalEvery = 4;  // proposals
// A rival's best takes at most so much more time, as a logarithm: the less, the more often it was
// tried. Half of it after so many trials.
constexpr float kRivalGap = 0.2F;
constexpr float kRivalTrials = 200;
// What each rival adds to the fastest configs: their neighbours, walks, points of the process.
constexpr std::size_t kFastestOfRival = 2;
constexpr std::size_t kParentsOfRival = 16;
constexpr std::size_t kPointsOfRival = 24;

// Of a normal variable with mean `gain`, its part above 0.
float expected_improvement(float gain, float deviation) {
  const float z = gain / deviation;
  const float density = 0.39894228F * std::exp(-0.5F * z * z);
  const float share = 0.5F * std::erfc(-z * 0.70710678F);
  return gain * share + deviation * density;
}

}  // namespace

ModelSearch::ModelSearch(const Space& space, const Coordinates& coordinates, Random& random,
                         std::function<bool(std::size_t)> is_taken)
    : space_(space),
      coordinates_(coordinates),
      random_(random),
      is_taken_(std::move(is_taken)),
      variants_(space.variant_count()),
      kernel_(GaussianKernel::initial(coordinates)) {}

void ModelSearch::expect(std::size_t index) {
  if (!numbers_.try_emplace(index, points_.size()).second) return;
  const std::size_t variant = space_.row(index).variant;
  points_.push_back({index, variant, coordinates_.point(index)});
  ++variants_[variant].points;
  if (const auto found = pool_place_.find(index); found != pool_place_.end()) {
    drop_candidate(found->second);
  }
  if (process_ && !process_->points_full()) add_to_process(points_.size() - 1);
}

void ModelSearch::learn(std::size_t index, const Trial& trial) {
  expect(index);
  Point& point = points_[numbers_.at(index)];
  if (point.state != Point::State::pending) return;
  if (!trial.ok() || !(trial.time_ns > 0)) {
    point.state = Point::State::failed;
    ++failed_count_;
    return;
  }
  point.state = Point::State::ok;
  const auto measured = static_cast<float>(std::log(trial.time_ns));
  if (std::isfinite(point.log_ns)) comparisons_.push_back({point.log_ns, measured});
  if (comparisons_.size() > kSkillWindow) comparisons_.pop_front();
  point.log_ns = measured;
  variants_[point.variant].best = std::min(variants_[point.variant].best, measured);
  if (best_ && point.log_ns >= points_[*best_].log_ns) return;
  best_ = numbers_.at(index);
  if (!process_) return;
  for (const std::size_t near : space_.neighbours(index, Neighbourhood::hamming)) offer(near);
  for (const std::size_t like : counterparts(index)) offer(like);
}

std::optional<std::size_t> ModelSearch::propose(Choice choice) {
  if (!best_) return std::nullopt;
  if (is_outgrown()) {
    fit();
    rebuild();
  } else if (pool_.empty() || process_->points_full()) {
    rebuild();
  }
  if (pool_.empty()) return std::nullopt;
  const Prediction predicted = predict();
  std::optional<std::size_t> chosen;
  if (++proposals_ % kRivalEvery == 0) {
    if (const auto rival = least_tried_rival()) chosen = best_candidate(predicted, choice, rival);
  }
  if (!chosen) chosen = best_candidate(predicted, choice, std::nullopt);
  const std::size_t index = pool_[*chosen].index;
  expect(index);
  points_.back().log_ns = predicted.means[static_cast<Eigen::Index>(*chosen)];
  return index;
}

bool ModelSearch::is_rival(std::size_t variant) const {
  const VariantState& state = variants_[variant];
  if (!best_ || variant == points_[*best_].variant) return false;
  const float tried = static_cast<float>(state.points) / kRivalTrials;
  return state.best - points_[*best_].log_ns <= kRivalGap / (1 + tried);
}

/// nullopt: there is none, or they were tried as often as the fastest.
std::optional<std::size_t> ModelSearch::least_tried_rival() const {
  std::optional<std::size_t> found;
  std::size_t fewest = variants_[points_[*best_].variant].points;
  for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
    if (!is_rival(variant) || variants_[variant].points >= fewest) continue;
    found = variant;
    fewest = variants_[variant].points;
  }
  return found;
}

std::optional<double> ModelSearch::skill() const {
  if (comparisons_.size() < kLeastSkillTrials) return std::nullopt;
  const auto count = static_cast<Eigen::Index>(comparisons_.size());
  const float cap = ceiling();
  Eigen::VectorXd predicted(count);
  Eigen::VectorXd measured(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const PredictedTime& one = comparisons_[static_cast<std::size_t>(i)];
    predicted[i] = one.predicted;
    measured[i] = std::min(one.measured, cap);
  }
  predicted.array() -= predicted.mean();
  measured.array() -= measured.mean();
  const double norms = predicted.norm() * measured.norm();
  return norms > 0 ? predicted.dot(measured) / norms : 0;
}

bool ModelSearch::is_outgrown() const {
  const auto points = static_cast<double>(points_.size());
  return !process_ || points >= kRefitGrowth * static_cast<double>(points_when_fitted_);
}

ModelSearch::Prediction ModelSearch::predict() const {
  const float cap = ceiling();
  const auto count = static_cast<Eigen::Index>(in_process_.size());
  Eigen::VectorXf values(count);
  Eigen::VectorXf failures(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Point& point = points_[in_process_[static_cast<std::size_t>(i)]];
    values[i] = value_of(point, cap);
    failures[i] = point.state == Point::State::failed ? 1.0F : 0.0F;
  }
  const float mean = values.mean();
  values.array() -= mean;
  Prediction out;
  out.means = process_->means(values).array() + mean;
  out.deviations =
      (process_->variances().array().max(kLeastVariance) * process_->scale(values)).sqrt();
  out.chances = Eigen::VectorXf::Ones(out.means.size());
  if (failed_count_ > 0) {
    out.chances = (1 - process_->means(failures).array()).max(kLeastChance).min(1.0F);
  }
  return out;
}

std::optional<std::size_t> ModelSearch::best_candidate(const Prediction& predicted, Choice choice,
                                                       std::optional<std::size_t> variant) const {
  const float best = variant ? variants_[*variant].best : points_[*best_].log_ns;
  std::optional<std::size_t> chosen;
  float most = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    if (variant && pool_[i].variant != *variant) continue;
    const auto c = static_cast<Eigen::Index>(i);
    const float gain = best - predicted.means[c];
    const float merit =
        choice == Choice::fastest
            ? gain + std::log(predicted.chances[c])
            : expected_improvement(gain, predicted.deviations[c]) * predicted.chances[c];
    if (chosen && merit <= most) continue;
    most = merit;
    chosen = i;
  }
  return chosen;
}

// Above this, how slow a config is says nothing about the fast ones.
float ModelSearch::ceiling() const {
  std::vector<float> known;
  for (const Point& point : points_) {
    if (point.state == Point::State::ok) known.push_back(point.log_ns);
  }
  if (known.empty()) return 0;
  const auto at =
      static_cast<std::ptrdiff_t>(kCeilingShare * static_cast<double>(known.size() - 1));
  std::nth_element(known.begin(), known.begin() + at, known.end());
  return known[static_cast<std::size_t>(at)];
}

float ModelSearch::value_of(const Point& point, float ceiling) const {
  return point.state == Point::State::failed ? ceiling : std::min(point.log_ns, ceiling);
}

std::vector<std::size_t> ModelSearch::fastest_points(std::size_t count,
                                                     std::optional<std::size_t> variant) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (variant && points_[i].variant != *variant) continue;
    if (points_[i].state == Point::State::ok) order.push_back(i);
  }
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [this](std::size_t a, std::size_t b) { return points_[a].log_ns < points_[b].log_ns; });
  order.resize(count);
  return order;
}

std::vector<std::size_t> ModelSearch::fastest_with_rivals(std::size_t count,
                                                          std::size_t of_rivals) const {
  std::vector<std::size_t> found = fastest_points(count);
  for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
    if (!is_rival(variant)) continue;
    for (const std::size_t point : fastest_points(of_rivals, variant)) {
      if (std::find(found.begin(), found.end(), point) == found.end()) found.push_back(point);
    }
  }
  return found;
}

// All while there are few; then the fastest ones and a sample of the others.
std::vector<std::size_t> ModelSearch::points_to_keep() {
  std::vector<std::size_t> all(points_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= kKeptPoints) return all;
  std::vector<std::size_t> kept = fastest_with_rivals(kKeptPoints / 2, kPointsOfRival);
  if (kept.size() > kKeptPoints) kept.resize(kKeptPoints);
  std::vector<bool> is_kept(points_.size(), false);
  for (const std::size_t point : kept) is_kept[point] = true;
  random_.shuffle(all);
  for (const std::size_t point : all) {
    if (kept.size() >= kKeptPoints) break;
    if (!is_kept[point]) kept.push_back(point);
  }
  return kept;
}

GaussianKernel ModelSearch::fitted_kernel(const std::vector<std::size_t>& points) {
  std::vector<std::size_t> chosen;
  for (const std::size_t point : points) {
    if (points_[point].state != Point::State::pending) chosen.push_back(point);
  }
  if (chosen.size() > kFitPoints) {
    std::sort(chosen.begin(), chosen.end(), [this](std::size_t a, std::size_t b) {
      const float cap = std::numeric_limits<float>::max();
      return value_of(points_[a], cap) < value_of(points_[b], cap);
    });
    std::vector<std::size_t> others(chosen.begin() + kFitPoints / 2, chosen.end());
    random_.shuffle(others);
    std::copy_n(others.begin(), kFitPoints / 2, chosen.begin() + kFitPoints / 2);
    chosen.resize(kFitPoints);
  }
  const float cap = ceiling();
  Points places(static_cast<Eigen::Index>(coordinates_.dimensions()),
                static_cast<Eigen::Index>(chosen.size()));
  Eigen::VectorXd values(static_cast<Eigen::Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Point& point = points_[chosen[i]];
    const auto column = static_cast<Eigen::Index>(i);
    for (std::size_t d = 0; d < point.place.size(); ++d) {
      places(static_cast<Eigen::Index>(d), column) = point.place[d];
    }
    values[column] = value_of(point, cap);
  }
  if (chosen.size() < kLeastFitPoints) return kernel_;
  values.array() -= values.mean();
  if (values.squaredNorm() < 1e-9) return kernel_;
  return fit_kernel(coordinates_, places, values, kernel_);
}

void ModelSearch::fit() {
  kernel_ = fitted_kernel(points_to_keep());
  points_when_fitted_ = points_.size();
}

void ModelSearch::rebuild() {
  fill_pool();
  process_.emplace(coordinates_, kernel_, kMaxPoints, pool_.size() + kMoreCandidates);
  in_process_.clear();
  for (const Candidate& each : pool_) process_->add_candidate(coordinates_.point(each.index));
  for (const std::size_t point : points_to_keep()) add_to_process(point);
}

void ModelSearch::fill_pool() {
  pool_.clear();
  pool_place_.clear();
  const auto take = [this](std::size_t index) {
    if (is_taken_(index) || numbers_.count(index) > 0) return;
    if (!pool_place_.try_emplace(index, pool_.size()).second) return;
    pool_.push_back({index, space_.row(index).variant});
  };
  for (const std::size_t point : fastest_with_rivals(kFastest, kFastestOfRival)) {
    for (const std::size_t near : space_.neighbours(points_[point].index, Neighbourhood::hamming)) {
      take(near);
    }
  }
  if (space_.size() > kListed) {
    for (const std::size_t point : fastest_points(kTransferred)) {
      for (const std::size_t like : counterparts(points_[point].index)) take(like);
    }
    const std::vector<std::size_t> parents = fastest_with_rivals(kParents, kParentsOfRival);
    Effort draws(kMostPoolDraws);
    const bool is_exact = space_.is_exact();
    std::size_t last_new = 0;
    for (std::size_t i = 0; i < kPool / 2; ++i) {
      // Where few indices are legal, walks cost much and soon come to what they know.
      if (!is_exact && i - last_new > kFruitless) return;
      const std::size_t before = pool_.size();
      if (const auto index = space_.sample(random_, {0, space_.size()}, draws)) take(*index);
      take(walk_from(points_[parents[random_.below(parents.size())]].index));
      if (pool_.size() > before) last_new = i;
    }
    return;
  }
  std::vector<std::size_t> all(space_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  random_.shuffle(all);
  for (const std::size_t index : all) {
    if (pool_.size() >= kPool) return;
    take(index);
  }
}

/// Where several values must change before anything gets faster, single steps lead nowhere, and a
/// sample of millions hardly ever lands nearby.
std::size_t ModelSearch::walk_from(std::size_t index) {
  const std::size_t steps = kShortestWalk + random_.below(kLongestWalk - kShortestWalk + 1);
  for (std::size_t i = 0; i < steps; ++i) index = random_neighbour(space_, index, random_);
  return index;
}

/// In the other variants. What is best in one is often best in another, and no step leads there.
std::vector<std::size_t> ModelSearch::counterparts(std::size_t index) {
  std::vector<std::size_t> alike;
  const std::size_t own = space_.row(index).variant;
  for (std::size_t variant = 0; variant < space_.variant_count(); ++variant) {
    if (variant == own) continue;
    if (const auto like = counterpart(space_, index, variant, random_)) alike.push_back(*like);
  }
  return alike;
}

void ModelSearch::offer(std::size_t index) {
  if (is_taken_(index) || numbers_.count(index) > 0 || process_->candidates_full()) return;
  if (!pool_place_.try_emplace(index, pool_.size()).second) return;
  pool_.push_back({index, space_.row(index).variant});
  process_->add_candidate(coordinates_.point(index));
}

void ModelSearch::drop_candidate(std::size_t c) {
  process_->remove_candidate(c);
  pool_place_.erase(pool_[c].index);
  if (c + 1 != pool_.size()) {
    pool_[c] = pool_.back();
    pool_place_[pool_[c].index] = c;
  }
  pool_.pop_back();
}

void ModelSearch::add_to_process(std::size_t point) {
  process_->add_point(points_[point].place);
  in_process_.push_back(point);
}

}  // namespace kiln
