// SPDX-License-Identifier: Apache-2.0
#include "search/model/gaussian_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

constexpr int kTableSteps = 25;
constexpr double kRoot5 = 2.23606797749979;

// What is thought of the parameters before any trial: log weights around the initial one, the noise
// small. Keeps a fit to few trials from believing in one dimension alone.
constexpr double kNoiseMean = -4;
constexpr double kDeviation = 2.0;
constexpr double kLeastNoise = -9;
constexpr double kMostNoise = 0;
constexpr double kMostWeight = 6;
constexpr double kLeastWeight = -9;

double initial_weight(std::size_t dimensions) {
  return std::log(4.0 / static_cast<double>(std::max<std::size_t>(dimensions, 1)));
}

// One point of the likelihood's surface with its slope.
struct Likelihood {
  double value = -std::numeric_limits<double>::infinity();
  Eigen::VectorXd slope;  // weights, then noise
};

class Surface {
 public:
  Surface(const Coordinates& coordinates, const Points& points, const Eigen::VectorXd& values)
      : values_(values), count_(points.cols()) {
    for (std::size_t d = 0; d < coordinates.dimensions(); ++d) {
      Eigen::MatrixXd squares(count_, count_);
      const auto row = static_cast<Eigen::Index>(d);
      for (Eigen::Index i = 0; i < count_; ++i) {
        for (Eigen::Index j = 0; j < count_; ++j) {
          const float step = coordinates.difference(d, points(row, i), points(row, j));
          squares(i, j) = step * step;
        }
      }
      squares_.push_back(std::move(squares));
    }
  }

  [[nodiscard]] Likelihood at(const Eigen::VectorXd& parameters) const {
    const auto dimensions = static_cast<Eigen::Index>(squares_.size());
    Eigen::MatrixXd squared = Eigen::MatrixXd::Zero(count_, count_);
    for (Eigen::Index d = 0; d < dimensions; ++d) {
      squared += std::exp(parameters[d]) * squares_[static_cast<std::size_t>(d)];
    }
    const Eigen::ArrayXXd r = kRoot5 * squared.array().sqrt();
    const Eigen::ArrayXXd decay = (-r).exp();
    const double noise = std::exp(parameters[dimensions]);
    Eigen::MatrixXd covariance = ((1 + r + r.square() / 3) * decay).matrix();
    covariance.diagonal().array() += noise;

    Likelihood out;
    const Eigen::LLT<Eigen::MatrixXd> root(covariance);
    if (root.info() != Eigen::Success) return out;
    const Eigen::VectorXd alpha = root.solve(values_);
    const double fit = values_.dot(alpha);
    const auto n = static_cast<double>(count_);
    out.value =
        -0.5 * n * std::log(std::max(fit, 1e-12)) - root.matrixLLT().diagonal().array().log().sum();
    // Slope of the likelihood along each element of the covariance.
    const Eigen::MatrixXd pull = 0.5 * (n / std::max(fit, 1e-12) * alpha * alpha.transpose() -
                                        root.solve(Eigen::MatrixXd::Identity(count_, count_)));
    const Eigen::ArrayXXd along = pull.array() * (-5.0 / 6.0) * (1 + r) * decay;
    out.slope.resize(dimensions + 1);
    for (Eigen::Index d = 0; d < dimensions; ++d) {
      out.slope[d] =
          std::exp(parameters[d]) * (along * squares_[static_cast<std::size_t>(d)].array()).sum();
    }
    out.slope[dimensions] = noise * pull.diagonal().sum();
    add_prior(parameters, out);
    return out;
  }

 private:
  static void add_prior(const Eigen::VectorXd& parameters, Likelihood& likelihood) {
    const Eigen::Index last = parameters.size() - 1;
    for (Eigen::Index i = 0; i <= last; ++i) {
      const double mean = i == last ? kNoiseMean : initial_weight(static_cast<std::size_t>(last));
      const double off = (parameters[i] - mean) / kDeviation;
      likelihood.value -= 0.5 * off * off;
      likelihood.slope[i] -= off / kDeviation;
    }
  }

  std::vector<Eigen::MatrixXd> squares_;
  const Eigen::VectorXd& values_;
  Eigen::Index count_;
};

}  // namespace

GaussianKernel GaussianKernel::initial(const Coordinates& coordinates) {
  GaussianKernel kernel;
  kernel.log_weights.assign(coordinates.dimensions(), initial_weight(coordinates.dimensions()));
  return kernel;
}

Eigen::VectorXf weighted_distances(const Coordinates& coordinates, const GaussianKernel& kernel,
                                   const Points& points, Eigen::Index count,
                                   const Eigen::Ref<const Eigen::VectorXf>& point) {
  std::vector<float> weights;
  for (const double weight : kernel.log_weights) {
    weights.push_back(static_cast<float>(std::exp(weight)));
  }
  Eigen::VectorXf squared = Eigen::VectorXf::Zero(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    float sum = 0;
    for (std::size_t d = 0; d < weights.size(); ++d) {
      const auto row = static_cast<Eigen::Index>(d);
      const float step = coordinates.difference(d, points(row, i), point[row]);
      sum += weights[d] * step * step;
    }
    squared[i] = sum;
  }
  return squared;
}

Eigen::VectorXf matern(const Eigen::VectorXf& squared) {
  const Eigen::ArrayXf r = static_cast<float>(kRoot5) * squared.array().sqrt();
  return ((1 + r + r.square() / 3) * (-r).exp()).matrix();
}

GaussianKernel fit_kernel(const Coordinates& coordinates, const Points& points,
                          const Eigen::VectorXd& values, const GaussianKernel& start) {
  const auto dimensions = static_cast<Eigen::Index>(coordinates.dimensions());
  Eigen::VectorXd now(dimensions + 1);
  for (Eigen::Index d = 0; d < dimensions; ++d) {
    now[d] = start.log_weights[static_cast<std::size_t>(d)];
  }
  now[dimensions] = start.log_noise;

  const Surface surface(coordinates, points, values);
  Eigen::VectorXd step = Eigen::VectorXd::Constant(dimensions + 1, 0.3);
  Eigen::VectorXd before = Eigen::VectorXd::Zero(dimensions + 1);
  Eigen::VectorXd best = now;
  double best_value = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTableSteps; ++i) {
    const Likelihood likelihood = surface.at(now);
    if (!std::isfinite(likelihood.value)) break;
    if (likelihood.value > best_value) {
      best_value = likelihood.value;
      best = now;
    }
    for (Eigen::Index p = 0; p <= dimensions; ++p) {
      const double agreement = likelihood.slope[p] * before[p];
      step[p] = std::clamp(step[p] * (agreement > 0 ? 1.3 : agreement < 0 ? 0.5 : 1.0), 0.01, 1.0);
      const double direction = likelihood.slope[p] > 0 ? 1 : -1;
      const bool is_noise = p == dimensions;
      now[p] = std::clamp(now[p] + direction * step[p], is_noise ? kLeastNoise : kLeastWeight,
                          is_noise ? kMostNoise : kMostWeight);
    }
    before = likelihood.slope;
  }

  GaussianKernel fitted = start;
  for (Eigen::Index d = 0; d < dimensions; ++d) {
    fitted.log_weights[static_cast<std::size_t>(d)] = best[d];
  }
  fitted.log_noise = best[dimensions];
  return fitted;
}

}  // namespace kiln
