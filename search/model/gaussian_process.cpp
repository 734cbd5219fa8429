// SPDX-License-Identifier: Apache-2.0
#include "search/model/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kiln {
namespace {

constexpr float kVarianceFloor = 1e-5F;  // below: rounding

Eigen::Map<const Eigen::VectorXf> as_vector(const std::vector<float>& point) {
  return {point.data(), static_cast<Eigen::Index>(point.size())};
}

}  // namespace

GaussianProcess::GaussianProcess(const Coordinates& coordinates, GaussianKernel kernel,
                                 std::size_t max_points, std::size_t max_candidates)
    : coordinates_(coordinates), kernel_(std::move(kernel)) {
  const auto dimensions = static_cast<Eigen::Index>(coordinates.dimensions());
  const auto n = static_cast<Eigen::Index>(max_points);
  const auto m = static_cast<Eigen::Index>(max_candidates);
  places_.resize(dimensions, n);
  candidate_places_.resize(dimensions, m);
  root_ = Eigen::MatrixXf::Zero(n, n);
  projection_.resize(n, m);
  variances_.resize(m);
}

void GaussianProcess::add_point(const std::vector<float>& point) {
  const Eigen::VectorXf place = as_vector(point);
  Eigen::VectorXf row = matern(weighted_distances(coordinates_, kernel_, places_, count_, place));
  root_.topLeftCorner(count_, count_).triangularView<Eigen::Lower>().solveInPlace(row);
  const float noise = static_cast<float>(std::exp(kernel_.log_noise));
  const float diagonal = std::sqrt(std::max(1 + noise - row.squaredNorm(), kVarianceFloor));
  root_.row(count_).head(count_) = row.transpose();
  root_(count_, count_) = diagonal;

  Eigen::VectorXf news =
      matern(weighted_distances(coordinates_, kernel_, candidate_places_, candidates_, place));
  news.noalias() -= projection_.topLeftCorner(count_, candidates_).transpose() * row;
  news /= diagonal;
  projection_.row(count_).head(candidates_) = news.transpose();
  variances_.head(candidates_).array() -= news.array().square();
  places_.col(count_) = place;
  ++count_;
}

void GaussianProcess::add_candidate(const std::vector<float>& point) {
  const Eigen::VectorXf place = as_vector(point);
  Eigen::VectorXf column =
      matern(weighted_distances(coordinates_, kernel_, places_, count_, place));
  root_.topLeftCorner(count_, count_).triangularView<Eigen::Lower>().solveInPlace(column);
  projection_.col(candidates_).head(count_) = column;
  variances_[candidates_] = 1 - column.squaredNorm();
  candidate_places_.col(candidates_) = place;
  ++candidates_;
}

void GaussianProcess::remove_candidate(std::size_t c) {
  const auto gone = static_cast<Eigen::Index>(c);
  --candidates_;
  if (gone == candidates_) return;
  projection_.col(gone).head(count_) = projection_.col(candidates_).head(count_);
  variances_[gone] = variances_[candidates_];
  candidate_places_.col(gone) = candidate_places_.col(candidates_);
}

Eigen::VectorXf GaussianProcess::weights(const Eigen::VectorXf& values) const {
  Eigen::VectorXf solved = values;
  root_.topLeftCorner(count_, count_).triangularView<Eigen::Lower>().solveInPlace(solved);
  return solved;
}

Eigen::VectorXf GaussianProcess::means(const Eigen::VectorXf& values) const {
  return projection_.topLeftCorner(count_, candidates_).transpose() * weights(values);
}

float GaussianProcess::scale(const Eigen::VectorXf& values) const {
  return weights(values).squaredNorm() / static_cast<float>(std::max<Eigen::Index>(count_, 1));
}

}  // namespace kiln
