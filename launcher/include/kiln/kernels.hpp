// The built-in kernels as calls: fill in a struct, call, done.
//
//   kiln::MatmulCall call;
//   call.m = m, call.n = n, call.k = k;
//   call.a = a, call.b = b, call.c = c;
//   kiln::matmul(launcher, stream, call).value();
//
// Each call prepares its kernel the first time it sees a problem and finds it again later, without
// allocating; a program with one problem in its hottest loop keeps the Launcher::Kernel instead.
// Pointers are device pointers or cl_mem. The size of their memory is not known here and not
// checked. Some configs need memory between their steps. The launcher allocates it (pooled), or the
// caller passes a block of at least workspace_of() bytes as the last argument. `queue` is a stream
// or command queue of the launcher's context; null is the queue that the launcher was opened with.
// C++17, standard library only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include <kiln/launcher.hpp>
#include <kiln/problem_text.hpp>

namespace kiln {

/// Device memory that a config uses between its steps. Null: the launcher's own. Required with
/// Launcher::Workspace::caller, optional with pooled.
struct CallWorkspace {
  const void* memory = nullptr;  ///< device pointer or cl_mem
  std::size_t bytes = 0;         ///< from `offset` on
  std::size_t offset = 0;        ///< bytes from the start of the memory, a multiple of 512
};

/// How large the block must be for a call.
struct WorkspaceNeed {
  std::size_t bytes = 0;  ///< 0: none is needed
  /// The block must be all zero before its first call. Each call leaves it zero, so use it only for
  /// calls of this problem from then on.
  bool zeroed = false;
};

/// out[r] = op over i of map(in[r, i]): a vector (results = 1), the rows of a dense row-major
/// matrix in[results][n] (axis last), or the columns of in[n][results] (axis first).
struct ReduceCall {
  std::int64_t n = 0;        ///< elements that are combined into one result
  std::int64_t results = 1;  ///< rows or columns
  enum class Axis {
    last,   ///< out[r] combines row r
    first,  ///< out[r] combines column r; with more than one result
  };
  Axis axis = Axis::last;
  std::string dtype = "f32";    ///< f32, f64, i32, f16, bf16
  std::string op = "sum";       ///< sum, min, max, or dot of `in` and `other`
  std::string map = "x";        ///< formula of the element x, its index i and n: "x * x"
  const void* in = nullptr;     ///< null: x is the index, e.g. to integrate a formula (f32 and f64)
  const void* other = nullptr;  ///< as `in`, of a dot
  void* out = nullptr;          ///< out[results]; f32 where dtype is f16 or bf16
};

/// index[r] = i of the smallest (arg_min) or largest (arg_max) in[r, i], value[r] = that element.
/// Of equal elements the first one counts. The first NaN comes before every number.
struct ArgReduceCall {
  std::int64_t n = 0;         ///< elements of a row
  std::int64_t results = 1;   ///< rows
  std::string dtype = "f32";  ///< f32, f64, i32, f16, bf16
  const void* in = nullptr;
  void* index = nullptr;  ///< i64[results]
  void* value = nullptr;  ///< dtype[results]
};

/// out[r, i] = op over j <= i of in[r, j]: running sums, minima or maxima of dense rows.
struct ScanCall {
  std::int64_t n = 0;  ///< elements of a row
  std::int64_t rows = 1;
  std::string dtype = "f32";         ///< f32, f64, i32, i64
  std::string op = "sum";            ///< sum, min, max
  bool exclusive = false;            ///< element i is not part of result i
  std::string deterministic = "no";  ///< no, run or config
  const void* in = nullptr;
  void* out = nullptr;
};

/// Softmax or a norm of each row of in[rows][cols].
struct NormalizeCall {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::string dtype = "f32";         ///< of `in`, weight, bias, residual and sum: f32, f16, bf16
  std::string out_dtype;             ///< f32, f16, bf16, e4m3; empty: `dtype`
  std::string op = "softmax";        ///< softmax, log_softmax, layer_norm, rms_norm
  std::string deterministic = "no";  ///< no, run or config
  double eps = 1e-5;                 ///< of norms
  double scale = 1;                  ///< factor of results of e4m3
  const void* in = nullptr;
  const void* weight = nullptr;    ///< dtype[cols] of norms; null: 1
  const void* bias = nullptr;      ///< dtype[cols] of norms; null: 0
  const void* residual = nullptr;  ///< dtype[rows][cols], added first; null: none
  void* sum = nullptr;             ///< in + residual; with a residual
  void* out = nullptr;
};

/// counts[b] = how many of n samples fall into bin b.
struct HistogramCall {
  std::int64_t n = 0;
  std::string dtype = "u8";  ///< u8 (256 bins, by value), f32, i32
  std::int64_t bins = 256;
  /// f32 and i32: the start of the first bin. Samples below it are not counted.
  double low = 0;
  /// f32 and i32: the end of the last bin, above `low`. Samples at or above it are not counted. For
  /// i32, `low` and `high` must be whole numbers in its range.
  double high = 1;
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

/// C = alpha * op(A) * op(B) + beta * C, or another epilogue; row-major. A leading dimension of 0
/// means dense rows.
struct MatmulCall {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string dtype = "f32";  ///< of A and B: f32, f64, f16, bf16, e4m3, e5m2, i8
  /// Element type of C and bias. Empty: bf16 for 8-bit floats, i32 for i8, else `dtype`. f16 and
  /// bf16 also allow f32; 8-bit floats also allow f16 and f32; i8 also allows bf16, f16 and f32.
  std::string out_dtype;
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
  std::int64_t batch = 1;      ///< products, each with an A, B and C of its own
  std::int64_t stride_a = -1;  ///< elements from one A to the next; 0: all share it; -1: dense
  std::int64_t stride_b = -1;
  std::int64_t stride_c = -1;
  /// Formula of an element of C, over the sum x, bias, the old c, alpha and beta: for example
  /// "max(x + bias, 0)". Empty: alpha * x + beta * c, plus bias if there is one.
  std::string epilogue;
  const void* bias = nullptr;  ///< values of the type of C; the epilogue must have a bias
  enum class Bias {
    of_columns,  ///< bias[n]
    of_rows,     ///< bias[m]
  };
  Bias bias_is = Bias::of_columns;
  /// For f32: "highest" is f32; "high" allows operands of 11 bits (tf32), "medium" of 8 (bf16). For
  /// 8-bit floats: "highest" adds up in f32; the others add as the matrix units do (about 14 bits).
  std::string precision = "highest";
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
  std::int64_t dilation = 1;
  std::int64_t pad_h = -1;  ///< -1: keeps the size
  std::int64_t pad_w = -1;
  std::string dtype = "f32";    ///< f32, f16, bf16; the last two are added up in f32
  std::string layout = "nchw";  ///< or nhwc: in[n][h][w][c], filter[k][fh][fw][c], out[n][y][x][k]
  const void* in = nullptr;
  const void* filter = nullptr;
  void* out = nullptr;
  /// What becomes of a sum: a formula of the sum x, bias and residual, such as "max(x + bias, 0)".
  /// Empty: x, with + bias and + residual where there are any.
  std::string epilogue;
  const void* bias = nullptr;      ///< dtype[k]; the epilogue must have a bias
  const void* residual = nullptr;  ///< lies like `out`; the epilogue must have a residual
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

/// Parts of a block start at multiples of this: what every device can address as memory of its own.
constexpr std::size_t kWorkspaceAlignment = 512;

constexpr std::size_t aligned_workspace(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

/// The arguments of a launch in a fixed place: more than any of the built-in kernels takes.
class CallArguments {
 public:
  CallArguments(std::initializer_list<LaunchArgument> arguments) {
    for (const LaunchArgument& argument : arguments) {
      add(argument);
    }
  }
  void add(const LaunchArgument& argument) {
    if (count_ < arguments_.size()) {
      arguments_[count_++] = argument;
    }
  }
  /// Each workspace of the kernel as a part of the block, in their order.
  void add_workspaces(const Launcher::Kernel& kernel, const CallWorkspace& block) {
    std::size_t at = 0;
    for (const Launcher::Kernel::Requirement& part : kernel.workspaces()) {
      const std::size_t left = at < block.bytes ? block.bytes - at : 0;
      add(memory(part.name, block.memory, left < part.bytes ? left : part.bytes,
                 block.offset + at));
      at += aligned_workspace(part.bytes);
    }
  }
  [[nodiscard]] const LaunchArgument* data() const { return arguments_.data(); }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::array<LaunchArgument, 24> arguments_;
  std::size_t count_ = 0;
};

/// Adds an operand that only some epilogues use. A launch fails if its epilogue needs one that is
/// null.
inline void add_unless_null(CallArguments& arguments, std::string_view name, const void* pointer) {
  if (pointer != nullptr) {
    arguments.add(unsized(name, pointer));
  }
}

inline Expected<void> run(const Launcher& launcher, void* queue, std::string_view kernel,
                          const ProblemText& problem, CallArguments arguments,
                          const CallWorkspace& workspace) {
  Expected<Launcher::Kernel> prepared = launcher.prepare(kernel, problem);
  if (!prepared) {
    return prepared.error();
  }
  if (workspace.memory != nullptr) {
    arguments.add_workspaces(*prepared, workspace);
  }
  return prepared->launch(queue, arguments.data(), arguments.size());
}

inline ProblemText problem_of(const ReduceCall& call) {
  ProblemText problem;
  problem.add("n", call.n).add("dtype", call.dtype).add("op", call.op).add_quoted("map", call.map);
  problem.add("source", call.in == nullptr ? "index" : "array");
  if (call.results != 1) {  // a matrix with one row or one column is a vector
    problem.add("results", call.results);
    problem.add("axis", call.axis == ReduceCall::Axis::first ? "first" : "last");
  }
  return problem;
}

inline ProblemText problem_of(const ArgReduceCall& call, std::string_view op) {
  ProblemText problem;
  problem.add("n", call.n).add("results", call.results).add("dtype", call.dtype).add("op", op);
  return problem;
}

inline Expected<void> arg_reduce(const Launcher& launcher, void* queue, std::string_view op,
                                 const ArgReduceCall& call, const CallWorkspace& workspace) {
  return run(launcher, queue, "arg_reduce", problem_of(call, op),
             {unsized("in", call.in), unsized("index", call.index), unsized("value", call.value)},
             workspace);
}

inline ProblemText problem_of(const ScanCall& call) {
  ProblemText problem;
  problem.add("n", call.n).add("rows", call.rows).add("dtype", call.dtype).add("op", call.op);
  problem.add("exclusive", call.exclusive).add("deterministic", call.deterministic);
  return problem;
}

inline ProblemText problem_of(const NormalizeCall& call) {
  ProblemText problem;
  problem.add("rows", call.rows).add("cols", call.cols).add("dtype", call.dtype);
  if (!call.out_dtype.empty()) {
    problem.add("out", call.out_dtype);
  }
  problem.add("op", call.op).add("weight", call.weight != nullptr);
  problem.add("bias", call.bias != nullptr).add("residual", call.residual != nullptr);
  problem.add("deterministic", call.deterministic);
  return problem;
}

/// An end of the bins. A value that an i32 cannot hold is passed as a floating-point number, so the
/// launch refuses the argument by its name.
inline LaunchArgument bin_end(std::string_view name, double value, std::string_view dtype) {
  constexpr double kMin = std::numeric_limits<std::int32_t>::min();
  constexpr double kMax = std::numeric_limits<std::int32_t>::max();
  const bool is_i32 = value >= kMin && value <= kMax && std::floor(value) == value;
  return dtype == "i32" && is_i32 ? scalar(name, static_cast<std::int32_t>(value))
                                  : scalar(name, value);
}

inline ProblemText problem_of(const HistogramCall& call) {
  ProblemText problem;
  problem.add("n", call.n).add("dtype", call.dtype).add("bins", call.bins);
  return problem;
}

inline ProblemText problem_of(const TransposeCall& call) {
  ProblemText problem;
  problem.add("rows", call.rows).add("cols", call.cols).add("batch", call.batch);
  problem.add("dtype", call.dtype);
  return problem;
}

/// Empty: the kernel's own.
inline std::string_view epilogue_of(const MatmulCall& call) {
  if (!call.epilogue.empty() || call.bias == nullptr) {
    return call.epilogue;
  }
  return call.beta == 0 ? "alpha * x + bias" : "alpha * x + beta * c + bias";
}

inline std::string_view epilogue_of(const ConvolveCall& call) {
  if (!call.epilogue.empty()) {
    return call.epilogue;
  }
  if (call.residual != nullptr) {
    return call.bias != nullptr ? "x + bias + residual" : "x + residual";
  }
  return call.bias != nullptr ? "x + bias" : "";
}

inline ProblemText problem_of(const MatmulCall& call) {
  ProblemText problem;
  problem.add("m", call.m).add("n", call.n).add("k", call.k).add("dtype", call.dtype);
  if (call.precision != "highest") {
    problem.add("precision", call.precision);
  }
  problem.add("trans_a", call.a_stored == MatmulCall::Stored::transposed);
  problem.add("trans_b", call.b_stored == MatmulCall::Stored::transposed);
  const std::string_view epilogue = epilogue_of(call);
  if (epilogue.empty()) {
    problem.add("beta_zero", call.beta == 0);
  } else {
    problem.add_quoted("epilogue", epilogue);
    if (call.bias_is == MatmulCall::Bias::of_rows) {
      problem.add("bias_along", "m");
    }
  }
  add_unless(0, problem, "lda", call.lda);
  add_unless(0, problem, "ldb", call.ldb);
  add_unless(0, problem, "ldc", call.ldc);
  if (!call.out_dtype.empty()) {
    problem.add("out", call.out_dtype);
  }
  if (call.batch != 1) {
    problem.add("batch", call.batch);
    add_unless(-1, problem, "stride_a", call.stride_a);
    add_unless(-1, problem, "stride_b", call.stride_b);
    add_unless(-1, problem, "stride_c", call.stride_c);
  }
  return problem;
}

/// alpha or beta, which are i32 if C is i32. A fraction is passed unchanged; the launch refuses it.
inline auto factor(const char* name, const MatmulCall& call, double value) {
  const bool is_whole = call.dtype == "i8" && (call.out_dtype.empty() || call.out_dtype == "i32");
  const auto rounded = static_cast<std::int64_t>(value);
  return is_whole && static_cast<double>(rounded) == value ? scalar(name, rounded)
                                                           : scalar(name, value);
}

inline ProblemText problem_of(const ConvolveCall& call) {
  ProblemText problem;
  problem.add("h", call.h).add("w", call.w).add("fh", call.fh).add("fw", call.fw);
  problem.add("n", call.n).add("c", call.c).add("k", call.k).add("groups", call.groups);
  problem.add("stride", call.stride);
  add_unless(-1, problem, "pad_h", call.pad_h);
  add_unless(-1, problem, "pad_w", call.pad_w);
  add_unless(1, problem, "dilation", call.dilation);
  problem.add("dtype", call.dtype).add("layout", call.layout);
  const std::string_view epilogue = epilogue_of(call);
  if (!epilogue.empty()) {
    problem.add_quoted("epilogue", epilogue);
  }
  return problem;
}

constexpr std::string_view kernel_of(const ReduceCall& /*call*/) { return "reduce"; }
constexpr std::string_view kernel_of(const ScanCall& /*call*/) { return "scan"; }
constexpr std::string_view kernel_of(const NormalizeCall& /*call*/) { return "normalize"; }
constexpr std::string_view kernel_of(const HistogramCall& /*call*/) { return "histogram"; }
constexpr std::string_view kernel_of(const TransposeCall& /*call*/) { return "transpose"; }
constexpr std::string_view kernel_of(const MatmulCall& /*call*/) { return "matmul"; }
constexpr std::string_view kernel_of(const ConvolveCall& /*call*/) { return "convolution"; }

inline Expected<WorkspaceNeed> workspace_of(const Launcher& launcher, std::string_view kernel,
                                            const ProblemText& problem) {
  const Expected<Launcher::Kernel> prepared = launcher.prepare(kernel, problem);
  if (!prepared) {
    return prepared.error();
  }
  WorkspaceNeed need;
  for (const Launcher::Kernel::Requirement& part : prepared->workspaces()) {
    need.bytes += detail::aligned_workspace(part.bytes);
    need.zeroed = need.zeroed || part.zeroed;
  }
  return need;
}

}  // namespace detail

/// The block that a call needs with Launcher::Workspace::caller. Prepares the call's kernel; its
/// pointers may still be null, but for ReduceCall::in and the optional ones of NormalizeCall.
template <typename Call>
Expected<WorkspaceNeed> workspace_of(const Launcher& launcher, const Call& call) {
  return detail::workspace_of(launcher, detail::kernel_of(call), detail::problem_of(call));
}
/// The same for arg_min and arg_max, which share their calls.
inline Expected<WorkspaceNeed> workspace_of_arg_min(const Launcher& launcher,
                                                    const ArgReduceCall& call) {
  return detail::workspace_of(launcher, "arg_reduce", detail::problem_of(call, "min"));
}
inline Expected<WorkspaceNeed> workspace_of_arg_max(const Launcher& launcher,
                                                    const ArgReduceCall& call) {
  return detail::workspace_of(launcher, "arg_reduce", detail::problem_of(call, "max"));
}

inline Expected<void> reduce(const Launcher& launcher, void* queue, const ReduceCall& call,
                             const CallWorkspace& workspace = {}) {
  const ProblemText problem = detail::problem_of(call);
  const LaunchArgument in = detail::unsized("in", call.in);
  const LaunchArgument out = detail::unsized("out", call.out);
  if (call.in == nullptr) {
    return detail::run(launcher, queue, "reduce", problem, {out}, workspace);
  }
  if (call.op == "dot") {
    return detail::run(launcher, queue, "reduce", problem,
                       {in, detail::unsized("other", call.other), out}, workspace);
  }
  return detail::run(launcher, queue, "reduce", problem, {in, out}, workspace);
}

inline Expected<void> arg_min(const Launcher& launcher, void* queue, const ArgReduceCall& call,
                              const CallWorkspace& workspace = {}) {
  return detail::arg_reduce(launcher, queue, "min", call, workspace);
}

inline Expected<void> arg_max(const Launcher& launcher, void* queue, const ArgReduceCall& call,
                              const CallWorkspace& workspace = {}) {
  return detail::arg_reduce(launcher, queue, "max", call, workspace);
}

inline Expected<void> scan(const Launcher& launcher, void* queue, const ScanCall& call,
                           const CallWorkspace& workspace = {}) {
  return detail::run(launcher, queue, "scan", detail::problem_of(call),
                     {detail::unsized("in", call.in), detail::unsized("out", call.out)}, workspace);
}

inline Expected<void> normalize(const Launcher& launcher, void* queue, const NormalizeCall& call,
                                const CallWorkspace& workspace = {}) {
  detail::CallArguments arguments = {detail::unsized("in", call.in),
                                     detail::unsized("out", call.out)};
  detail::add_unless_null(arguments, "weight", call.weight);
  detail::add_unless_null(arguments, "bias", call.bias);
  detail::add_unless_null(arguments, "residual", call.residual);
  detail::add_unless_null(arguments, "sum", call.sum);
  if (call.op == "layer_norm" || call.op == "rms_norm") {
    arguments.add(scalar("eps", call.eps));
  }
  if (call.out_dtype == "e4m3") {
    arguments.add(scalar("scale", call.scale));
  }
  return detail::run(launcher, queue, "normalize", detail::problem_of(call), arguments, workspace);
}

inline Expected<void> histogram(const Launcher& launcher, void* queue, const HistogramCall& call,
                                const CallWorkspace& workspace = {}) {
  const ProblemText problem = detail::problem_of(call);
  const LaunchArgument in = detail::unsized("in", call.in);
  const LaunchArgument counts = detail::unsized("counts", call.counts);
  if (call.dtype == "u8") {
    return detail::run(launcher, queue, "histogram", problem, {in, counts}, workspace);
  }
  const double width = call.high - call.low;
  if (!(width > 0) || !std::isfinite(width)) {
    std::array<char, 128> text{};
    std::snprintf(text.data(), text.size(),
                  "histogram: 'low' must be below 'high', both finite: %g and %g were given",
                  call.low, call.high);
    return LaunchError{LaunchErrorCode::bad_argument, text.data()};
  }
  return detail::run(launcher, queue, "histogram", problem,
                     {in, detail::bin_end("low", call.low, call.dtype),
                      detail::bin_end("high", call.high, call.dtype),
                      scalar("scale", static_cast<double>(call.bins) / width), counts},
                     workspace);
}

inline Expected<void> transpose(const Launcher& launcher, void* queue, const TransposeCall& call,
                                const CallWorkspace& workspace = {}) {
  return detail::run(launcher, queue, "transpose", detail::problem_of(call),
                     {detail::unsized("in", call.in), detail::unsized("out", call.out)}, workspace);
}

inline Expected<void> matmul(const Launcher& launcher, void* queue, const MatmulCall& call,
                             const CallWorkspace& workspace = {}) {
  detail::CallArguments arguments = {
      detail::unsized("a", call.a), detail::unsized("b", call.b), detail::unsized("c", call.c),
      detail::factor("alpha", call, call.alpha), detail::factor("beta", call, call.beta)};
  detail::add_unless_null(arguments, "bias", call.bias);
  return detail::run(launcher, queue, "matmul", detail::problem_of(call), arguments, workspace);
}

inline Expected<void> convolve(const Launcher& launcher, void* queue, const ConvolveCall& call,
                               const CallWorkspace& workspace = {}) {
  detail::CallArguments arguments = {detail::unsized("in", call.in),
                                     detail::unsized("filter", call.filter),
                                     detail::unsized("out", call.out)};
  detail::add_unless_null(arguments, "bias", call.bias);
  detail::add_unless_null(arguments, "residual", call.residual);
  return detail::run(launcher, queue, "convolution", detail::problem_of(call), arguments,
                     workspace);
}

}  // namespace kiln
