// GaussianKernel: how alike two configs are, for a Gaussian process; and its fit to trials.
//
// Matérn 5/2 over a weighted distance with one weight a dimension, so that tunables which do not
// matter are not looked at (Rasmussen, Williams: "Gaussian Processes for Machine Learning", 2006,
// chapters 4 and 5). The fit climbs the marginal likelihood, scale of the values profiled out, by
// Rprop (Blum, Riedmiller: "Optimization of Gaussian process hyperparameters using Rprop", 2013).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Dense>

#include "search/model/coordinates.hpp"

namespace kiln {

struct GaussianKernel {
  std::vector<double> log_weights;  ///< of the squared difference, one a dimension
  double log_noise = -4;            ///< variance of a value for one config, relative to the scale

  [[nodiscard]] static GaussianKernel initial(const Coordinates& coordinates);
};

/// Points are columns.
using Points = Eigen::MatrixXf;

/// Weighted squared distances from `point` to the first `count` columns of `points`.
[[nodiscard]] Eigen::VectorXf weighted_distances(const Coordinates& coordinates,
                                                 const GaussianKernel& kernel, const Points& points,
                                                 Eigen::Index count,
                                                 const Eigen::Ref<const Eigen::VectorXf>& point);

/// Matérn 5/2 of squared distances, element by element; 1 at distance 0.
[[nodiscard]] Eigen::VectorXf matern(const Eigen::VectorXf& squared);

/// The kernel under which `values` (one per column of `points`, mean 0) are most likely, sought
/// from `start`. Takes O(count^3): fit to a hundred points or so.
[[nodiscard]] GaussianKernel fit_kernel(const Coordinates& coordinates, const Points& points,
                                        const Eigen::VectorXd& values, const GaussianKernel& start);

}  // namespace kiln
