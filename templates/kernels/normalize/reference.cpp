// The CPU loop of normalize: softmax, log-softmax, layer norm or RMS norm of each row, in f64.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace kiln {
namespace {

/// Normalizes x in place. `eps` is not used by softmax and log_softmax.
void normalize_row(std::vector<double>& x, const std::string& op, double eps) {
  const auto count = static_cast<double>(x.size());
  if (op == "softmax" || op == "log_softmax") {
    double most = x.front();
    for (const double value : x) most = std::isnan(value) || value > most ? value : most;
    double total = 0;
    for (const double value : x) total += std::exp(value - most);
    for (double& value : x)
      value = op == "softmax" ? std::exp(value - most) / total : value - most - std::log(total);
    return;
  }
  double mean = 0;
  if (op == "layer_norm") {
    for (const double value : x) mean += value;
    mean /= count;
  }
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  const double factor = 1 / std::sqrt(squares / count + eps);
  for (double& value : x) value = (value - mean) * factor;
}

/// in + residual as the kernels round it: in f32, then to the element type.
void add_residual(const HostArray& in, const HostArray& residual, HostArray& rounded,
                  HostArray& sum) {
  for (std::size_t i = 0; i < in.count(); ++i) {
    rounded.set(i, static_cast<float>(in.get(i)) + static_cast<float>(residual.get(i)));
    sum.set(i, rounded.get(i));
  }
}

}  // namespace

void normalize_reference(ReferenceCall& call) {
  const auto rows = static_cast<std::size_t>(call.problem.integer("rows"));
  const auto cols = static_cast<std::size_t>(call.problem.integer("cols"));
  const std::string op = call.problem.text_of("op");
  const auto argument = [&call](const char* name) -> HostArray* {
    const auto found = call.arrays.find(name);
    return found == call.arrays.end() ? nullptr : &found->second;
  };
  const auto scalar = [&call](const char* name, double otherwise) {
    const auto found = call.scalars.find(name);
    return found == call.scalars.end() ? otherwise : found->second;
  };

  const HostArray* x = argument("in");
  const HostArray* residual = argument("residual");
  HostArray rounded;
  if (residual != nullptr) {
    rounded = HostArray(x->dtype, x->shape);
    add_residual(*x, *residual, rounded, *argument("sum"));
    x = &rounded;
  }
  const HostArray* weight = argument("weight");
  const HostArray* bias = argument("bias");
  const double eps = scalar("eps", 0);
  const double scale = scalar("scale", 1);
  HostArray& out = *argument("out");
  std::vector<double> row(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) row[c] = x->get(r * cols + c);
    normalize_row(row, op, eps);
    for (std::size_t c = 0; c < cols; ++c) {
      double y = row[c];
      if (weight != nullptr) y *= weight->get(c);
      if (bias != nullptr) y += bias->get(c);
      out.set(r * cols + c, y * scale);
    }
  }
}

}  // namespace kiln
