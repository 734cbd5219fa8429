// ModelSearch: predicts the times of untried configs from the trials so far, and proposes the best.
//
// A Gaussian process over the logarithm of times predicts a pool of candidates. The pool of a small
// space is all of its configs. That of a large space is a sample and the ends of short walks from
// the fastest configs, drawn again from time to time. Both contain the neighbours of the fastest
// configs. A second reading of the process predicts how likely a candidate is to run at all. A
// proposal costs O(points x pool), both bounded.
//
// Hardly a step leads from one variant to another. So every fourth proposal comes from a rival: the
// least tried variant whose best time is close to the leader's.
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
  struct PredictedTime {
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
  /// Returns the `count` fastest points of all variants, and the `of_rivals` fastest of each rival.
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
  std::optional<std::size_t> best_;        // place in points_
  std::deque<PredictedTime> comparisons_;  // of proposals made here, the latest last

  GaussianKernel kernel_;
  std::optional<GaussianProcess> process_;
  std::vector<std::size_t> in_process_;  // places in points_, in the order of the process
  std::size_t points_when_fitted_ = 0;
  std::vector<Candidate> pool_;                              // in the order of the process
  std::unordered_map<std::size_t, std::size_t> pool_place_;  // index -> place in pool_
};

}  // namespace kiln
