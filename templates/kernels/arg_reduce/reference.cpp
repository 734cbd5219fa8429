// The CPU loop of arg_reduce: index[r] = i of the smallest or largest in[r, i], value[r] = that
// element.
//
// The rule is NumPy's (argmin, argmax): of equal elements the first, and the first NaN before every
// number. The two zeros are equal.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <cmath>
#include <cstdint>

namespace kiln {
namespace {

/// Index of the element that wins among the `n` from `first` on, counted from there.
std::size_t winner(const HostArray& in, std::size_t first, std::size_t n, bool smallest) {
  std::size_t best = 0;
  double best_value = in.get(first);
  for (std::size_t i = 1; i < n && !std::isnan(best_value); ++i) {
    const double x = in.get(first + i);
    if (std::isnan(x) || (smallest ? x < best_value : x > best_value)) {
      best = i;
      best_value = x;
    }
  }
  return best;
}

}  // namespace

void arg_reduce_reference(ReferenceCall& call) {
  const auto n = static_cast<std::size_t>(call.problem.integer("n"));
  const auto results = static_cast<std::size_t>(call.problem.integer("results"));
  const bool smallest = call.problem.text_of("op") == "min";
  const HostArray& in = call.arrays.at("in");
  HostArray& index = call.arrays.at("index");
  HostArray& value = call.arrays.at("value");
  for (std::size_t r = 0; r < results; ++r) {
    const std::size_t at = winner(in, r * n, n, smallest);
    index.elements<std::int64_t>()[r] = static_cast<std::int64_t>(at);
    if (in.dtype == DType::i32)
      value.elements<std::int64_t>()[r] = in.elements<std::int32_t>()[r * n + at];
    else
      value.elements<double>()[r] = in.get(r * n + at);
  }
}

}  // namespace kiln
