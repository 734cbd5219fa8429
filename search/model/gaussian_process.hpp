// GaussianProcess: predicts the values of candidates from those of tried points, kept up to date
// point by point.
//
// With the root L of the covariance of the n points, and V = L^-1 K for the covariances K with the
// m candidates, a new point adds a row to both in O(n^2 + n m). Variances depend on the points
// alone, so a point whose value is still unknown already makes its surroundings less interesting.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <Eigen/Dense>

#include "search/model/gaussian_kernel.hpp"

namespace kiln {

class GaussianProcess {
 public:
  /// `coordinates` must outlive the process.
  GaussianProcess(const Coordinates& coordinates, GaussianKernel kernel, std::size_t max_points,
                  std::size_t max_candidates);

  [[nodiscard]] std::size_t points() const { return static_cast<std::size_t>(count_); }
  [[nodiscard]] std::size_t candidates() const { return static_cast<std::size_t>(candidates_); }
  /// Is there no room for another point, or candidate?
  [[nodiscard]] bool points_full() const { return count_ == places_.cols(); }
  [[nodiscard]] bool candidates_full() const { return candidates_ == candidate_places_.cols(); }

  void add_point(const std::vector<float>& point);
  void add_candidate(const std::vector<float>& point);
  /// Forgets candidate `c`: the last one takes its number.
  void remove_candidate(std::size_t c);

  /// Predicted means of the candidates when the points have these values (mean 0).
  [[nodiscard]] Eigen::VectorXf means(const Eigen::VectorXf& values) const;
  /// Variances of the candidates, relative to scale().
  [[nodiscard]] auto variances() const { return variances_.head(candidates_); }
  /// Mean square of what the values say about the scale of the process.
  [[nodiscard]] float scale(const Eigen::VectorXf& values) const;

 private:
  [[nodiscard]] Eigen::VectorXf weights(const Eigen::VectorXf& values) const;

  const Coordinates& coordinates_;
  GaussianKernel kernel_;
  Eigen::Index count_ = 0;
  Eigen::Index candidates_ = 0;
  Points places_;
  Points candidate_places_;
  Eigen::MatrixXf root_;        // L, lower triangle
  Eigen::MatrixXf projection_;  // V: a column a candidate
  Eigen::VectorXf variances_;
};

}  // namespace kiln
