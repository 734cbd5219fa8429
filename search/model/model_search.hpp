// ModelSearch: what the trials so far say about configs not tried yet.
//
// A Gaussian process over the logarithm of times predicts a pool of candidates: all configs of a
// small space; of a large one a sample and what short walks from the fastest configs come to, drawn
// anew now and then; and in either the neighbours of the fastest configs. A second reading of the
// same process tells how likely a candidate is to run at all. Cost of an ask: O(points x pool),
// both bounded.
// Variants are spaces of their own, between which hardly a step leads. So that a search does not
// stay in the one that was ahead first, every fourth proposal is of a rival: the least tried of the
// variants that come close.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/trial.hpp"
#include "search/model/coordinates.hpp"
#include "search/model/gaussian_process.hpp"
#include "search/random.hpp"
#include "search/space.hpp"

namespace kiln {

/// How the next candidate is chosen.
enum class Choice {
  improvement,  ///< largest expected improvement over the best time (Jones, Schonlau, Welch, 1998)
  fastest,      ///< smallest predicted time
};

class ModelSearch {
 public:
  /// Both must outlive it. `is_taken`: was the config asked or told already?
  ModelSearch(const Space& space, const Coordinates& coordinates, Random& random,
              std::function<bool(std::size_t)> is_taken);

  /// A config was proposed by somebody and its trial is to come.
  void expect(std::size_t index);
  void learn(std::size_t index, const Trial& trial);

  /// The best candidate that is not taken; nullopt while nothing was told that ran, or when no
  /// candidate is left.
  [[nodiscard]] std::optional<std::size_t> propose(Choice choice);

  /// How far the predictions of the latest proposals came true: the correlation of predicted with
  /// measured logarithms of time, -1 to 1; nullopt while there are too few to tell.
  [[nodiscard]] std::optional<double> skill() const;

 private:
  struct Point {
    std::size_t index = 0;
    std::size_t variant = 0;  ///< position among those in the space
    std::vector<float> place;
    enum class State { pending, ok, failed } state = State::pending;
    // ok: told; pending: predicted when it was proposed here, else as slow as any
    float log_ns = std::numeric_limits<float>::infinity();
  };

  struct Candidate {
    std::size_t index = 0;
    std::size_t variant = 0;
  };

  struct VariantState {
    std::size_t points = 0;
    float best = std::numeric_limits<float>::infinity();  // logarithm of nanoseconds
  };

  /// Logarithms of nanoseconds.
  struct Comparison {
    float predicted = 0;
    float measured = 0;
  };

  /// What the process says of each candidate.
  struct Prediction {
    Eigen::VectorXf means;       // of the logarithm of nanoseconds
    Eigen::VectorXf deviations;  // of the same
    Eigen::VectorXf chances;     // of running at all
  };

  [[nodiscard]] bool is_outgrown() const;
  [[nodiscard]] Prediction predict() const;
  /// Of one variant where it is named; nullopt: there is none.
  [[nodiscard]] std::optional<std::size_t> best_candidate(const Prediction& predicted,
                                                          Choice choice,
                                                          std::optional<std::size_t> variant) const;
  [[nodiscard]] bool is_rival(std::size_t variant) const;
  [[nodiscard]] std::optional<std::size_t> least_tried_rival() const;
  void fit();
  void rebuild();
  void fill_pool();
  [[nodiscard]] std::size_t walk_from(std::size_t index);
  [[nodiscard]] std::vector<std::size_t> counterparts(std::size_t index);
  void offer(std::size_t index);
  void drop_candidate(std::size_t c);
  void add_to_process(std::size_t point);
  [[nodiscard]] std::vector<std::size_t> points_to_keep();
  [[nodiscard]] GaussianKernel fitted_kernel(const std::vector<std::size_t>& points);
  [[nodiscard]] float ceiling() const;
  [[nodiscard]] float value_of(const Point& point, float ceiling) const;
  [[nodiscard]] std::vector<std::size_t> fastest_points(
      std::size_t count, std::optional<std::size_t> variant = std::nullopt) const;
  /// So many of all, and `of_rivals` of each rival beside them.
  [[nodiscard]] std::vector<std::size_t> fastest_with_rivals(std::size_t count,
                                                             std::size_t of_rivals) const;

  const Space& space_;
  const Coordinates& coordinates_;
  Random& random_;
  std::function<bool(std::size_t)> is_taken_;

  std::vector<Point> points_;                             // of everything expected or told
  std::unordered_map<std::size_t, std::size_t> numbers_;  // index -> place in points_
  std::vector<VariantState> variants_;                    // by position among those in the space
  std::size_t proposals_ = 0;
  std::size_t failed_count_ = 0;
  std::optional<std::size_t> best_;     // place in points_
  std::deque<Comparison> comparisons_;  // of proposals made here, the latest last

  GaussianKernel kernel_;
  std::optional<GaussianProcess> process_;
  std::vector<std::size_t> in_process_;  // places in points_, in the order of the process
  std::size_t points_when_fitted_ = 0;
  std::vector<Candidate> pool_;                              // in the order of the process
  std::unordered_map<std::size_t, std::size_t> pool_place_;  // index -> place in pool_
};

}  // namespace kiln
