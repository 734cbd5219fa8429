// The CPU loop of scan: out[r][i] = op over j <= i (exclusive: j < i) of in[r][j], sums in f64.
//
// Integers wrap like the kernels'. A NaN stays in a running minimum or maximum.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace kiln {
namespace {

struct Rows {
  std::size_t n = 0;
  std::size_t rows = 0;
  std::string op;
  bool exclusive = false;
};

/// Whole numbers of type T, summed in the unsigned type U so that they wrap.
template <typename T, typename U>
void scan_whole(const Rows& of, const T* in, std::int64_t* out) {
  const T identity = of.op == "min"   ? std::numeric_limits<T>::max()
                     : of.op == "max" ? std::numeric_limits<T>::min()
                                      : T{0};
  for (std::size_t r = 0; r < of.rows; ++r) {
    T running = identity;
    for (std::size_t i = r * of.n; i < (r + 1) * of.n; ++i) {
      const T before = running;
      if (of.op == "sum")
        running = static_cast<T>(static_cast<U>(running) + static_cast<U>(in[i]));
      else if (of.op == "min" ? in[i] < running : in[i] > running)
        running = in[i];
      out[i] = of.exclusive ? before : running;
    }
  }
}

void scan_real(const Rows& of, const HostArray& in, double* out) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double identity = of.op == "min" ? infinity : of.op == "max" ? -infinity : 0;
  for (std::size_t r = 0; r < of.rows; ++r) {
    double running = identity;
    double lost = 0;  // what rounding took from the sum (Neumaier)
    for (std::size_t i = r * of.n; i < (r + 1) * of.n; ++i) {
      const double before = std::isfinite(running) ? running + lost : running;
      const double x = in.get(i);
      if (of.op == "sum") {
        const double next = running + x;
        lost += std::fabs(running) >= std::fabs(x) ? (running - next) + x : (x - next) + running;
        running = next;
      } else if (std::isnan(x) || (of.op == "min" ? x < running : x > running)) {
        running = x;
      }
      out[i] = of.exclusive ? before : std::isfinite(running) ? running + lost : running;
    }
  }
}

}  // namespace

void scan_reference(ReferenceCall& call) {
  Rows of;
  of.n = static_cast<std::size_t>(call.problem.integer("n"));
  of.rows = static_cast<std::size_t>(call.problem.integer("rows"));
  of.op = call.problem.text_of("op");
  of.exclusive = call.problem.text_of("exclusive") == "true";
  const HostArray& in = call.arrays.at("in");
  HostArray& out = call.arrays.at("out");
  if (in.dtype == DType::i32)
    scan_whole<std::int32_t, std::uint32_t>(of, in.elements<std::int32_t>(),
                                            out.elements<std::int64_t>());
  else if (in.dtype == DType::i64)
    scan_whole<std::int64_t, std::uint64_t>(of, in.elements<std::int64_t>(),
                                            out.elements<std::int64_t>());
  else
    scan_real(of, in, out.elements<double>());
}

}  // namespace kiln
