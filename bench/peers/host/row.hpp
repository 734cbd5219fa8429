// Rows of the report: what was measured for one problem, before it is written down.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/host/timing_options.hpp"

namespace kiln::peers {

/// Do two results agree, and by how much do they differ?
struct Agreement {
  bool agrees = false;
  std::string detail;  ///< "equal", "largest error 3.1e-07 of the largest value (allowed 1.0e-04)"
};

/// How far a product is from the same product in f64.
struct ProductError {
  double relative = 0;  ///< norm of the difference over the norm of the product (Frobenius)
  double largest = 0;   ///< largest difference over the root mean square of the product
};

/// Several ways of one library: "cublasLt" and the place of this one in its heuristic's list.
struct Choice {
  std::string family;
  int index = 0;       ///< from 0
  std::string detail;  ///< how the library describes it
};

enum class Role {
  only,   ///< the peer has one way
  first,  ///< the first way of a family that ran
  best,   ///< the fastest of a family
};

/// One tuned kernel and one peer, under one cache mode.
struct Row {
  int number = 0;       ///< of the problem among those given, from 1
  std::string problem;  ///< "reduce n=1048576 dtype=f32"
  std::string peer;     ///< "CUB DeviceReduce::Sum"
  std::string config;
  std::string grade;
  CacheMode cache = CacheMode::cold;
  double kiln_us = 0;  ///< medians
  double peer_us = 0;
  double bytes = 0;  ///< that the problem must move
  double flops = 0;
  Agreement agreement;
  bool compared = false;             ///< the peer computes something that can be compared
  std::vector<double> kiln_samples;  ///< microseconds, in the order taken
  std::vector<double> peer_samples;
  std::optional<ProductError> kiln_error;  ///< where the product in f64 was computed
  std::optional<ProductError> peer_error;
  std::optional<Choice> choice;
  Role role = Role::only;
  std::vector<double> family_us;  ///< medians of all ways of the family, in its order

  [[nodiscard]] double speed_up() const { return peer_us / kiln_us; }
};

/// A problem without rows, or without those of one library, with the reason.
struct Missing {
  std::string problem;
  std::string reason;
  bool failed = true;  ///< false: there is simply nothing to compare with
};

struct Report {
  std::string device;
  std::string driver;
  std::string libraries;  ///< "cublasLt 13.0.2"
  TimingOptions timing;
  std::vector<Row> rows;
  std::vector<Missing> missing;
};

/// Of the rows of each family (all of one problem and one cache mode) keeps two: the first that ran
/// and the fastest. Other rows stay.
[[nodiscard]] std::vector<Row> first_and_best(const std::vector<Row>& rows);

}  // namespace kiln::peers
