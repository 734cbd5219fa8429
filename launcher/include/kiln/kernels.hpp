// The built-in kernels as calls: fill in a struct, call, done.
//
//   kiln::MatmulCall call;
//   call.m = m, call.n = n, call.k = k;
//   call.a = a, call.b = b, call.c = c;
//   kiln::matmul(launcher, stream, call).value();
//
// Each call prepares its kernel the first time it sees a problem and finds it again later, without
// allocating; a program with one problem in its hottest loop keeps the Launcher::Kernel instead.
// Pointers are device pointers or cl_mem and must hold what the problem says: their sizes are not
// known here and not checked. `queue` is a stream or command queue of the launcher's context; null
// is the one it was opened with. C++17, standard library only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <kiln/launcher.hpp>
#include <kiln/problem_text.hpp>

namespace kiln {

/// out[0] = op over i of map(in[i]).
struct ReduceCall {
  std::int64_t n = 0;         ///< elements
  std::string dtype = "f32";  ///< f32, f64, i32, f16, bf16
  std::string op = "sum";     ///< sum, min, max, or dot of `in` and `other`
  std::string map = "x";      ///< formula of the element x, its index i and n: "x * x"
  const void* in = nullptr;   ///< null: x is the index, e.g. to integrate a formula (f32 and f64)
  const void* other = nullptr;
  void* out = nullptr;  ///< one element; f32 where dtype is f16 or bf16
};

/// index[r] = i of the smallest (arg_min) or largest (arg_max) in[r, i], value[r] = that element.
/// Of equal elements the first; the first NaN before every number.
struct ArgReduceCall {
  std::int64_t n = 0;         ///< elements of a row
  std::int64_t results = 1;   ///< rows
  std::string dtype = "f32";  ///< f32, f64, i32, f16, bf16
  const void* in = nullptr;
  void* index = nullptr;  ///< i64[results]
  void* value = nullptr;  ///< dtype[results]
};

/// counts[b] = how many of n samples fall into bin b.
struct HistogramCall {
  std::int64_t n = 0;
  std::string dtype = "u8";  ///< u8 (256 bins, by value), f32, i32
  std::int64_t bins = 256;
  double low = 0;   ///< f32 and i32: start of the first bin; samples below are not counted
  double high = 1;  ///< end of the last bin; samples at or above it are not counted
  const void* in = nullptr;
  void* counts = nullptr;  ///< u32[bins]
};

/// out[b, c, r] = in[b, r, c], dense and row-major.
struct TransposeCall {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t batch = 1;
  std::string dtype = "f32";
  const void* in = nullptr;
  void* out = nullptr;
};

/// C = alpha * op(A) * op(B) + beta * C, row-major. A leading dimension of 0 means dense rows.
struct MatmulCall {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string dtype = "f32";
  enum class Stored { as_is, transposed };
  Stored a_stored = Stored::as_is;
  Stored b_stored = Stored::as_is;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  double alpha = 1;
  double beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// out[n, k, y, x] = sum over c, i, j of in[n, c, y * stride + i - pad_h, x * stride + j - pad_w] *
/// filter[k, c, i, j].
struct ConvolveCall {
  std::int64_t h = 0;  ///< rows and columns of the input
  std::int64_t w = 0;
  std::int64_t fh = 0;  ///< rows and columns of the filter, up to 31
  std::int64_t fw = 0;
  std::int64_t n = 1;  ///< images
  std::int64_t c = 1;  ///< channels of the input
  std::int64_t k = 1;  ///< channels of the output
  std::int64_t groups = 1;
  std::int64_t stride = 1;
  std::int64_t pad_h = -1;  ///< -1: keeps the size
  std::int64_t pad_w = -1;
  const void* in = nullptr;
  const void* filter = nullptr;
  void* out = nullptr;
};

namespace detail {

inline void add_unless(std::int64_t unset, ProblemText& problem, std::string_view name,
                       std::int64_t value) {
  if (value != unset) {
    problem.add(name, value);
  }
}

/// Memory of a size that only the caller knows.
inline LaunchArgument unsized(std::string_view name, const void* pointer) {
  return memory(name, pointer, static_cast<std::size_t>(-1));
}

inline Expected<void> run(const Launcher& launcher, void* queue, std::string_view kernel,
                          const ProblemText& problem,
                          std::initializer_list<LaunchArgument> arguments) {
  Expected<Launcher::Kernel> prepared = launcher.prepare(kernel, problem);
  if (!prepared) {
    return prepared.error();
  }
  return prepared->launch(queue, arguments);
}

inline Expected<void> arg_reduce(const Launcher& launcher, void* queue, std::string_view op,
                                 const ArgReduceCall& call) {
  ProblemText problem;
  problem.add("n", call.n).add("results", call.results).add("dtype", call.dtype).add("op", op);
  return run(launcher, queue, "arg_reduce", problem,
             {unsized("in", call.in), unsized("index", call.index), unsized("value", call.value)});
}

}  // namespace detail

inline Expected<void> reduce(const Launcher& launcher, void* queue, const ReduceCall& call) {
  ProblemText problem;
  problem.add("n", call.n).add("dtype", call.dtype).add("op", call.op).add_quoted("map", call.map);
  problem.add("source", call.in == nullptr ? "index" : "array");
  const LaunchArgument in = detail::unsized("in", call.in);
  const LaunchArgument out = detail::unsized("out", call.out);
  if (call.in == nullptr) {
    return detail::run(launcher, queue, "reduce", problem, {out});
  }
  if (call.op == "dot") {
    return detail::run(launcher, queue, "reduce", problem,
                       {in, detail::unsized("other", call.other), out});
  }
  return detail::run(launcher, queue, "reduce", problem, {in, out});
}

inline Expected<void> arg_min(const Launcher& launcher, void* queue, const ArgReduceCall& call) {
  return detail::arg_reduce(launcher, queue, "min", call);
}

inline Expected<void> arg_max(const Launcher& launcher, void* queue, const ArgReduceCall& call) {
  return detail::arg_reduce(launcher, queue, "max", call);
}

inline Expected<void> histogram(const Launcher& launcher, void* queue, const HistogramCall& call) {
  ProblemText problem;
  problem.add("n", call.n).add("dtype", call.dtype).add("bins", call.bins);
  const LaunchArgument in = detail::unsized("in", call.in);
  const LaunchArgument counts = detail::unsized("counts", call.counts);
  if (call.dtype == "u8") {
    return detail::run(launcher, queue, "histogram", problem, {in, counts});
  }
  const LaunchArgument scale =
      scalar("scale", static_cast<double>(call.bins) / (call.high - call.low));
  if (call.dtype == "i32") {
    return detail::run(launcher, queue, "histogram", problem,
                       {in, scalar("low", static_cast<std::int64_t>(call.low)),
                        scalar("high", static_cast<std::int64_t>(call.high)), scale, counts});
  }
  return detail::run(launcher, queue, "histogram", problem,
                     {in, scalar("low", call.low), scalar("high", call.high), scale, counts});
}

inline Expected<void> transpose(const Launcher& launcher, void* queue, const TransposeCall& call) {
  ProblemText problem;
  problem.add("rows", call.rows).add("cols", call.cols).add("batch", call.batch);
  problem.add("dtype", call.dtype);
  return detail::run(launcher, queue, "transpose", problem,
                     {detail::unsized("in", call.in), detail::unsized("out", call.out)});
}

inline Expected<void> matmul(const Launcher& launcher, void* queue, const MatmulCall& call) {
  ProblemText problem;
  problem.add("m", call.m).add("n", call.n).add("k", call.k).add("dtype", call.dtype);
  problem.add("trans_a", call.a_stored == MatmulCall::Stored::transposed);
  problem.add("trans_b", call.b_stored == MatmulCall::Stored::transposed);
  problem.add("beta_zero", call.beta == 0);
  detail::add_unless(0, problem, "lda", call.lda);
  detail::add_unless(0, problem, "ldb", call.ldb);
  detail::add_unless(0, problem, "ldc", call.ldc);
  return detail::run(
      launcher, queue, "matmul", problem,
      {detail::unsized("a", call.a), detail::unsized("b", call.b), detail::unsized("c", call.c),
       scalar("alpha", call.alpha), scalar("beta", call.beta)});
}

inline Expected<void> convolve(const Launcher& launcher, void* queue, const ConvolveCall& call) {
  ProblemText problem;
  problem.add("h", call.h).add("w", call.w).add("fh", call.fh).add("fw", call.fw);
  problem.add("n", call.n).add("c", call.c).add("k", call.k).add("groups", call.groups);
  problem.add("stride", call.stride);
  detail::add_unless(-1, problem, "pad_h", call.pad_h);
  detail::add_unless(-1, problem, "pad_w", call.pad_w);
  return detail::run(launcher, queue, "convolution", problem,
                     {detail::unsized("in", call.in), detail::unsized("filter", call.filter),
                      detail::unsized("out", call.out)});
}

}  // namespace kiln
