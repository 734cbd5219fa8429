// SPDX-License-Identifier: Apache-2.0
#include "blas/product_call.hpp"

#include "blas/settings.hpp"

namespace kiln::blas {
namespace {

using Precision = MatrixProduct::Precision;
using Epilogue = MatrixProduct::Epilogue;

constexpr std::int64_t kMostBatches = 65535;        // of `matmul`
constexpr std::int64_t kLargest = (1LL << 30) - 1;  // of a size of `matmul`

std::optional<DType> dtype_of(int type) {
  switch (type) {
    case cublas::kF32:
      return DType::f32;
    case cublas::kF64:
      return DType::f64;
    case cublas::kF16:
      return DType::f16;
    case cublas::kBf16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

bool is_16_bits(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

std::optional<bool> is_transposed(int operation) {
  if (operation == cublas::kNone) return false;
  if (operation == cublas::kTranspose || operation == cublas::kConjugate) return true;
  return std::nullopt;
}

/// Sets the types and the precision. False: `matmul` has no such product.
bool set_types(int type_a, int type_b, int type_c, int compute, MatrixProduct& product) {
  const std::optional<DType> in = dtype_of(type_a);
  const std::optional<DType> out = dtype_of(type_c);
  if (!in || !out || type_a != type_b) return false;
  product.dtype = *in;
  product.out = *out;
  if (*in == DType::f64) return *out == DType::f64 && compute == cublas::kCompute64F;
  const bool is_f32 = *in == DType::f32 && *out == DType::f32;
  const bool is_narrow = is_16_bits(*in) && (*out == *in || *out == DType::f32);
  if (!is_f32 && !is_narrow) return false;
  if (compute == cublas::kCompute32F) return true;
  if (!is_f32 || compute != cublas::kCompute32FFastTf32) return false;
  product.precision = settings().tf32_forbidden ? Precision::highest : Precision::high;
  return true;
}

/// What a call without a compute type of its own, or with that of f32, computes under the handle's
/// math mode; nullopt: Kiln has no such arithmetic.
std::optional<int> compute_under(int mode, int type, std::optional<int> asked) {
  const int math = mode & cublas::kMathModeMask;
  const bool is_f32 = type == cublas::kF32;
  if (math != cublas::kDefaultMath && math != cublas::kTf32Math && math != cublas::kTensorOpMath)
    return std::nullopt;
  if (math == cublas::kTensorOpMath && is_f32) return std::nullopt;  // what it allows is not said
  if (type == cublas::kF64) return asked.value_or(cublas::kCompute64F);
  const int compute = asked.value_or(cublas::kCompute32F);
  const bool may_use_tf32 = is_f32 && math == cublas::kTf32Math && compute == cublas::kCompute32F;
  return may_use_tf32 ? cublas::kCompute32FFastTf32 : compute;
}

/// Reads the scalars from the host. False: the product does not need A and B (alpha is 0), which
/// then must not be read.
bool set_scalars(const void* alpha, const void* beta, ProductCall& call) {
  if (alpha == nullptr || beta == nullptr) return false;
  if (call.product.dtype == DType::f64) {
    call.operands.alpha = *static_cast<const double*>(alpha);
    call.operands.beta = *static_cast<const double*>(beta);
  } else {
    call.operands.alpha = *static_cast<const float*>(alpha);
    call.operands.beta = *static_cast<const float*>(beta);
  }
  call.product.beta_zero = call.operands.beta == 0;
  return call.operands.alpha != 0;
}

/// Do the sizes make sense, so that the product is one of `matmul`?
bool is_possible(const MatrixProduct& product) {
  const auto is_size = [](std::int64_t size) { return size >= 1 && size <= kLargest; };
  return is_size(product.m) && is_size(product.n) && is_size(product.k) && is_size(product.lda) &&
         is_size(product.ldb) && is_size(product.ldc) &&
         product.lda >= (product.trans_a ? product.m : product.k) &&
         product.ldb >= (product.trans_b ? product.k : product.n) && product.ldc >= product.n &&
         product.batch >= 1 && product.batch <= kMostBatches && product.stride_a >= 0 &&
         product.stride_b >= 0 && product.stride_c >= 0;
}

/// Turns the column-major call into a row-major product.
std::optional<ProductCall> finished(ProductCall call) {
  call.product = transposed(call.product);
  std::swap(call.operands.a, call.operands.b);
  if (!is_possible(call.product)) return std::nullopt;
  normalise(call.product);
  return call;
}

/// An attribute of a description or a layout. A library without it answers with an error.
template <typename T, typename Attribute>
bool read(cublas::LtGetAttribute* get, void* object, Attribute attribute, T& value) {
  std::size_t written = 0;
  return get(object, static_cast<int>(attribute), &value, sizeof value, &written) ==
             cublas::kSuccess &&
         written == sizeof value;
}

struct MatrixLayout {
  std::uint32_t type = 0;
  std::int32_t order = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

  friend bool operator==(const MatrixLayout&, const MatrixLayout&) = default;
};

bool read_layout(const RealLibrary& real, void* layout, MatrixLayout& result) {
  using cublas::Layout;
  return layout != nullptr && read(real.lt_layout, layout, Layout::type, result.type) &&
         read(real.lt_layout, layout, Layout::order, result.order) &&
         read(real.lt_layout, layout, Layout::rows, result.rows) &&
         read(real.lt_layout, layout, Layout::columns, result.columns) &&
         read(real.lt_layout, layout, Layout::leading, result.leading) &&
         read(real.lt_layout, layout, Layout::batch, result.batch) &&
         (result.batch == 1 || read(real.lt_layout, layout, Layout::stride, result.stride)) &&
         result.order == cublas::kColumnOrder;
}

std::optional<Epilogue> epilogue_of(std::uint32_t epilogue) {
  switch (static_cast<int>(epilogue)) {
    case cublas::kEpilogueDefault:
      return Epilogue::none;
    case cublas::kEpilogueBias:
      return Epilogue::bias;
    case cublas::kEpilogueRelu:
      return Epilogue::relu;
    case cublas::kEpilogueReluBias:
      return Epilogue::relu_bias;
    case cublas::kEpilogueGelu:
      return Epilogue::gelu;
    case cublas::kEpilogueGeluBias:
      return Epilogue::gelu_bias;
    default:
      return std::nullopt;
  }
}

bool has_bias(Epilogue epilogue) {
  return epilogue == Epilogue::bias || epilogue == Epilogue::relu_bias ||
         epilogue == Epilogue::gelu_bias;
}

/// Whether everything else of a description is as a new one has it.
bool is_plain(const RealLibrary& real, void* description) {
  using cublas::Matmul;
  std::int32_t pointers = 0;
  std::int32_t trans_c = 0;
  std::int32_t fill = cublas::kFullFill;
  std::int32_t multiprocessors = 0;
  cublas::LtGetAttribute* const get = real.lt_description;
  if (!read(get, description, Matmul::pointer_mode, pointers) ||
      pointers != cublas::kHostPointers || !read(get, description, Matmul::trans_c, trans_c) ||
      trans_c != cublas::kNone || !read(get, description, Matmul::fill_mode, fill) ||
      fill != cublas::kFullFill ||
      !read(get, description, Matmul::sm_count_target, multiprocessors) || multiprocessors != 0) {
    return false;
  }
  for (const Matmul scale :
       {Matmul::a_scale, Matmul::b_scale, Matmul::c_scale, Matmul::d_scale, Matmul::amax_d}) {
    const void* pointer = nullptr;
    // A release without it has no such scale.
    if (read(get, description, scale, pointer) && pointer != nullptr) return false;
  }
  return true;
}

bool set_bias(const RealLibrary& real, void* description, ProductCall& call) {
  using cublas::Matmul;
  if (!has_bias(call.product.epilogue)) return true;
  std::int64_t stride = 0;
  std::int32_t type = -1;  // as D
  if (!read(real.lt_description, description, Matmul::bias_pointer, call.operands.bias) ||
      call.operands.bias == nullptr)
    return false;
  if (call.product.batch > 1 &&
      (!read(real.lt_description, description, Matmul::bias_stride, stride) || stride != 0))
    return false;
  if (!read(real.lt_description, description, Matmul::bias_type, type) || type == -1) return true;
  return dtype_of(type) == call.product.out;
}

}  // namespace

std::optional<ProductCall> read_gemm(const RealLibrary& real,
                                     const GemmArguments& arguments) noexcept {
  int mode = 0;
  int pointers = 0;
  if (real.get_math_mode == nullptr || real.get_pointer_mode == nullptr ||
      real.get_stream == nullptr || arguments.handle == nullptr ||
      real.get_pointer_mode(arguments.handle, &pointers) != cublas::kSuccess ||
      pointers != cublas::kHostPointers ||
      real.get_math_mode(arguments.handle, &mode) != cublas::kSuccess) {
    return std::nullopt;
  }
  const std::optional<bool> trans_a = is_transposed(arguments.trans_a);
  const std::optional<bool> trans_b = is_transposed(arguments.trans_b);
  const std::optional<int> compute = compute_under(mode, arguments.type_a, arguments.compute);
  ProductCall call;
  MatrixProduct& product = call.product;
  if (!trans_a || !trans_b || !compute ||
      !set_types(arguments.type_a, arguments.type_b, arguments.type_c, *compute, product)) {
    return std::nullopt;
  }
  product.trans_a = *trans_a;
  product.trans_b = *trans_b;
  product.m = arguments.m;
  product.n = arguments.n;
  product.k = arguments.k;
  product.lda = arguments.lda;
  product.ldb = arguments.ldb;
  product.ldc = arguments.ldc;
  product.batch = arguments.batch;
  product.stride_a = arguments.stride_a;
  product.stride_b = arguments.stride_b;
  product.stride_c = arguments.stride_c;
  if (!set_scalars(arguments.alpha, arguments.beta, call)) return std::nullopt;
  int multiprocessors = 0;
  if (real.get_sm_count_target != nullptr &&
      (real.get_sm_count_target(arguments.handle, &multiprocessors) != cublas::kSuccess ||
       multiprocessors != 0)) {
    return std::nullopt;
  }
  if (real.get_stream(arguments.handle, &call.stream) != cublas::kSuccess) return std::nullopt;
  call.function = arguments.function;
  call.operands.a = arguments.a;
  call.operands.b = arguments.b;
  call.operands.c = arguments.c;
  return finished(call);
}

std::optional<ProductCall> read_lt(const RealLibrary& real, const LtArguments& arguments) noexcept {
  using cublas::Matmul;
  MatrixLayout a;
  MatrixLayout b;
  MatrixLayout c;
  MatrixLayout d;
  std::int32_t compute = 0;
  std::int32_t scale = 0;
  std::int32_t trans_a = 0;
  std::int32_t trans_b = 0;
  std::uint32_t epilogue = 0;
  cublas::LtGetAttribute* const get = real.lt_description;
  void* const description = arguments.description;
  if (get == nullptr || real.lt_layout == nullptr || description == nullptr ||
      !read_layout(real, arguments.layout_d, d) || !read_layout(real, arguments.layout_a, a) ||
      !read_layout(real, arguments.layout_b, b) ||
      !read(get, description, Matmul::compute_type, compute) ||
      !read(get, description, Matmul::scale_type, scale) ||
      !read(get, description, Matmul::trans_a, trans_a) ||
      !read(get, description, Matmul::trans_b, trans_b) ||
      !read(get, description, Matmul::epilogue, epilogue)) {
    return std::nullopt;
  }
  const std::optional<bool> is_trans_a = is_transposed(trans_a);
  const std::optional<bool> is_trans_b = is_transposed(trans_b);
  const std::optional<Epilogue> after = epilogue_of(epilogue);
  ProductCall call;
  MatrixProduct& product = call.product;
  if (!is_trans_a || !is_trans_b || !after ||
      !set_types(static_cast<int>(a.type), static_cast<int>(b.type), static_cast<int>(d.type),
                 compute, product) ||
      scale != (product.dtype == DType::f64 ? cublas::kF64 : cublas::kF32)) {
    return std::nullopt;
  }
  product.trans_a = *is_trans_a;
  product.trans_b = *is_trans_b;
  product.epilogue = *after;
  product.m = static_cast<std::int64_t>(d.rows);
  product.n = static_cast<std::int64_t>(d.columns);
  product.k = static_cast<std::int64_t>(*is_trans_a ? a.rows : a.columns);
  product.lda = a.leading;
  product.ldb = b.leading;
  product.ldc = d.leading;
  product.batch = d.batch;
  product.stride_a = a.stride;
  product.stride_b = b.stride;
  product.stride_c = d.stride;
  const auto fits = [](const MatrixLayout& layout, std::int64_t rows, std::int64_t columns,
                       bool is_trans) {
    return static_cast<std::int64_t>(is_trans ? layout.columns : layout.rows) == rows &&
           static_cast<std::int64_t>(is_trans ? layout.rows : layout.columns) == columns;
  };
  if (a.batch != d.batch || b.batch != d.batch || !fits(a, product.m, product.k, *is_trans_a) ||
      !fits(b, product.k, product.n, *is_trans_b) || !is_plain(real, description) ||
      !set_scalars(arguments.alpha, arguments.beta, call)) {
    return std::nullopt;
  }
  const bool reads_c = !product.beta_zero;
  if (reads_c && (arguments.c != arguments.d || product.epilogue != Epilogue::none ||
                  !read_layout(real, arguments.layout_c, c) || !(c == d))) {
    return std::nullopt;
  }
  if (!set_bias(real, description, call)) return std::nullopt;
  call.function = "cublasLtMatmul";
  call.stream = arguments.stream;
  call.operands.a = arguments.a;
  call.operands.b = arguments.b;
  call.operands.c = arguments.d;
  return finished(call);
}

}  // namespace kiln::blas
