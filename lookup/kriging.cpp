// SPDX-License-Identifier: Apache-2.0
#include "lookup/kriging.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include <Eigen/Cholesky>

namespace kiln {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// How much the slowdowns at two sites have in common: 0 to 1, whatever the distances.
class Likenesses {
 public:
  Likenesses(std::span<const ConfigPlace> configs, const Distances& distances)
      : configs_(configs.size(), configs.size()), problems_(distances.size(), distances.size()) {
    const StepsTable steps(configs);
    for (std::size_t i = 0; i < configs.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        configs_(i, j) = configs_(j, i) = std::exp(-steps(i, j) / kStepsApart);
      }
    }
    for (std::size_t i = 0; i < distances.size(); ++i) {
      for (std::size_t j = 0; j < distances.size(); ++j) {
        const double apart = distances[i][j];
        problems_(i, j) = apart >= 0 ? std::exp(-apart / kDoublingsApart) : 0;
      }
    }
  }

  [[nodiscard]] double operator()(const Site& a, const Site& b) const {
    return configs_(a.config, b.config) * problems_(a.problem, b.problem);
  }

 private:
  Matrix configs_;   ///< likeness of each two
  Matrix problems_;  ///< likewise
};

// What is no slowdown (a time of 0 on a damaged row) is not fast.
double log_of(double slowdown) {
  return std::log(slowdown > 0 && slowdown < kSlowest ? slowdown : kSlowest);
}

// One row for each observation, one column for each site that is asked for.
Matrix likenesses_between(const Likenesses& alike, std::span<const Observation> observations,
                          std::span<const Site> asked) {
  Matrix between(observations.size(), asked.size());
  for (std::size_t column = 0; column < asked.size(); ++column) {
    for (std::size_t row = 0; row < observations.size(); ++row) {
      between(row, column) = alike(observations[row].site, asked[column]);
    }
  }
  return between;
}

// The rows that tell most of all columns together, at most `kMaxObservations`, in their order.
std::vector<Eigen::Index> telling_most(const Matrix& between) {
  std::vector<Eigen::Index> rows(static_cast<std::size_t>(between.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  if (rows.size() <= kMaxObservations) return rows;
  const Vector told = between.rowwise().squaredNorm();
  std::stable_sort(rows.begin(), rows.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return told(a) > told(b); });
  rows.resize(kMaxObservations);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Covariances of the observations, in units of kSpread^2; the lower triangle.
Matrix covariances(const Likenesses& alike, std::span<const Observation> observations) {
  const auto count = static_cast<Eigen::Index>(observations.size());
  Matrix all(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      all(i, j) = alike(observations[i].site, observations[j].site);
    }
    const double noise = observations[i].noise / kSpread;
    all(i, i) = 1 + noise * noise;
  }
  return all;
}

// Texts that a stranger wrote can be alike in ways that no process has: more noise mends that.
Eigen::LLT<Matrix> root_of(Matrix covariances) {
  Eigen::LLT<Matrix> root(covariances);
  for (double noise = 0.1; root.info() != Eigen::Success; noise *= 10) {
    covariances.diagonal().array() += noise;  // in the end more than all others of a row
    root.compute(covariances);
  }
  return root;
}

// Of configs of one variant: those of others tell nothing of them.
std::vector<SlowdownForecast> krige_one_variant(const Likenesses& alike,
                                                std::span<const Observation> observations,
                                                std::span<const Site> asked) {
  const double unknown = std::log(kUnknownSlowdown);
  if (observations.empty()) return std::vector<SlowdownForecast>(asked.size(), {unknown, kSpread});
  const Matrix all_between = likenesses_between(alike, observations, asked);
  const std::vector<Eigen::Index> telling = telling_most(all_between);
  const Matrix between = all_between(telling, Eigen::seqN(0, all_between.cols()));
  std::vector<Observation> known;
  for (const Eigen::Index row : telling) known.push_back(observations[row]);

  Vector differences(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    differences(i) = log_of(known[i].slowdown) - unknown;
  }
  const Eigen::LLT<Matrix> root = root_of(covariances(alike, known));
  const Matrix whitened = root.matrixL().solve(between);
  const Vector means = whitened.transpose() * root.matrixL().solve(differences);
  std::vector<SlowdownForecast> forecasts;
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    const double left = std::max(0.0, 1 - whitened.col(i).squaredNorm());
    forecasts.push_back({unknown + means(i), kSpread * std::sqrt(left)});
  }
  return forecasts;
}

}  // namespace

std::vector<SlowdownForecast> krige(std::span<const ConfigPlace> configs,
                                    const Distances& distances,
                                    std::span<const Observation> observations,
                                    std::span<const Site> asked) {
  struct Part {
    std::vector<Observation> observations;
    std::vector<Site> asked;
    std::vector<std::size_t> places;  ///< of these in the answer
  };
  std::map<std::string, Part> by_variant;
  for (const Observation& each : observations) {
    by_variant[configs[each.site.config].variant()].observations.push_back(each);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Part& part = by_variant[configs[asked[i].config].variant()];
    part.asked.push_back(asked[i]);
    part.places.push_back(i);
  }
  const Likenesses alike(configs, distances);
  std::vector<SlowdownForecast> forecasts(asked.size());
  for (const auto& [variant, part] : by_variant) {
    if (part.asked.empty()) continue;
    const std::vector<SlowdownForecast> own =
        krige_one_variant(alike, part.observations, part.asked);
    for (std::size_t i = 0; i < own.size(); ++i) forecasts[part.places[i]] = own[i];
  }
  return forecasts;
}

}  // namespace kiln
