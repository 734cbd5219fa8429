// SPDX-License-Identifier: Apache-2.0
#include "backends/cublas/cublas_library.hpp"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backends/cublas/cublas_api.hpp"
#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/library_places.hpp"
#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

using namespace cublas;  // NOLINT(google-build-using-namespace): this file speaks its words

// What programs of these libraries usually give: 32 MiB, as cuBLAS itself takes on Hopper.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

struct CublasApi {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*set_stream)(void* handle, void* stream) = nullptr;
  int (*set_math_mode)(void* handle, int mode) = nullptr;
  int (*get_property)(int what, int* value) = nullptr;
  Gemm<float, int>* sgemm = nullptr;
  Gemm<double, int>* dgemm = nullptr;
  GemmEx<int>* gemm_ex = nullptr;
  GemmStrided<float, int>* sgemm_strided = nullptr;
  GemmStrided<double, int>* dgemm_strided = nullptr;
  GemmStridedEx<int>* gemm_strided_ex = nullptr;

  int (*lt_create)(void** handle) = nullptr;
  int (*lt_destroy)(void* handle) = nullptr;
  LtMatmul* lt_matmul = nullptr;
  int (*lt_description_create)(void** description, int compute, int scale) = nullptr;
  int (*lt_description_destroy)(void* description) = nullptr;
  int (*lt_description_set)(void* description, int attribute, const void* value,
                            std::size_t bytes) = nullptr;
  int (*lt_layout_create)(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                          std::int64_t leading) = nullptr;
  int (*lt_layout_destroy)(void* layout) = nullptr;
  int (*lt_layout_set)(void* layout, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*lt_preference_create)(void** preference) = nullptr;
  int (*lt_preference_destroy)(void* preference) = nullptr;
  int (*lt_preference_set)(void* preference, int attribute, const void* value,
                           std::size_t bytes) = nullptr;
  int (*lt_heuristic)(void* handle, void* description, void* a, void* b, void* c, void* d,
                      void* preference, int wanted, LtHeuristicResult* results,
                      int* found) = nullptr;
};

CublasApi load_cublas() {
  constexpr std::array<std::string_view, 2> kNames = {"libcublas.so.13", "libcublas.so.12"};
  constexpr std::array<std::string_view, 2> kWheels = {"nvidia/cu13/lib", "nvidia/cublas/lib"};
  const DynamicLibrary library("cuBLAS",
                               cuda_library_candidates({"KILN_CUBLAS_PATH", kNames, kWheels}));
  CublasApi api;
  library.bind(api.create, "cublasCreate_v2");
  library.bind(api.destroy, "cublasDestroy_v2");
  library.bind(api.set_stream, "cublasSetStream_v2");
  library.bind(api.set_math_mode, "cublasSetMathMode");
  library.bind(api.get_property, "cublasGetProperty");
  library.bind(api.sgemm, "cublasSgemm_v2");
  library.bind(api.dgemm, "cublasDgemm_v2");
  library.bind(api.gemm_ex, "cublasGemmEx");
  library.bind(api.sgemm_strided, "cublasSgemmStridedBatched");
  library.bind(api.dgemm_strided, "cublasDgemmStridedBatched");
  library.bind(api.gemm_strided_ex, "cublasGemmStridedBatchedEx");
  // cublasLt belongs to the cuBLAS that needs it: the loader has it in memory by now, and a search
  // from cuBLAS's own handle comes by it.
  library.bind(api.lt_create, "cublasLtCreate");
  library.bind(api.lt_destroy, "cublasLtDestroy");
  library.bind(api.lt_matmul, "cublasLtMatmul");
  library.bind(api.lt_description_create, "cublasLtMatmulDescCreate");
  library.bind(api.lt_description_destroy, "cublasLtMatmulDescDestroy");
  library.bind(api.lt_description_set, "cublasLtMatmulDescSetAttribute");
  library.bind(api.lt_layout_create, "cublasLtMatrixLayoutCreate");
  library.bind(api.lt_layout_destroy, "cublasLtMatrixLayoutDestroy");
  library.bind(api.lt_layout_set, "cublasLtMatrixLayoutSetAttribute");
  library.bind(api.lt_preference_create, "cublasLtMatmulPreferenceCreate");
  library.bind(api.lt_preference_destroy, "cublasLtMatmulPreferenceDestroy");
  library.bind(api.lt_preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.bind(api.lt_heuristic, "cublasLtMatmulAlgoGetHeuristic");
  return api;
}

const CublasApi& cublas_api() {
  static const CublasApi kApi = load_cublas();
  return kApi;
}

int cublas_type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return kF64;
    case DType::f16:
      return kF16;
    case DType::bf16:
      return kBf16;
    default:
      return kF32;
  }
}

Status checked(int status, std::string_view call) {
  if (status == kSuccess) return Done{};
  return Failure{Outcome::launch_error, fmt::format("{} returned status {}", call, status)};
}

/// The context of the call, current while it lives: cuBLAS works on the current one.
class ContextScope {
 public:
  explicit ContextScope(void* context) { pushed_ = cuda().context_push(context) == 0; }
  ~ContextScope() {
    void* popped = nullptr;
    if (pushed_) cuda().context_pop(&popped);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  bool pushed_ = false;
};

class Call : public CublasCall {
 public:
  Call(const NativeQueue& native, const MatrixProduct& product, const ProductOperands& operands)
      : native_(native), call_(transposed(product)), operands_(operands) {
    alpha_f32_ = static_cast<float>(operands.alpha);
    beta_f32_ = call_.beta_zero ? 0.0F : static_cast<float>(operands.beta);
    if (call_.beta_zero) operands_.beta = 0;
    library_ = cublas_release(cublas_api().get_property);
  }
  const std::string& library() const final { return library_; }

 protected:
  // A and B of the column-major call are B and A of the row-major product.
  [[nodiscard]] const void* a() const { return operands_.b; }
  [[nodiscard]] const void* b() const { return operands_.a; }
  [[nodiscard]] bool is_f64() const { return call_.dtype == DType::f64; }
  [[nodiscard]] const void* alpha() const {
    return is_f64() ? static_cast<const void*>(&operands_.alpha) : &alpha_f32_;
  }
  [[nodiscard]] const void* beta() const {
    return is_f64() ? static_cast<const void*>(&operands_.beta) : &beta_f32_;
  }
  [[nodiscard]] bool allows_tf32() const {
    return call_.precision == MatrixProduct::Precision::high;
  }

  NativeQueue native_;
  MatrixProduct call_;  ///< column-major
  ProductOperands operands_;
  float alpha_f32_ = 1;
  float beta_f32_ = 0;

 private:
  std::string library_;
};

class GemmCall final : public Call {
 public:
  using Call::Call;
  ~GemmCall() override {
    const ContextScope current(native_.context);
    if (handle_ != nullptr) cublas_api().destroy(handle_);
  }
  [[nodiscard]] Status open() {
    const ContextScope current(native_.context);
    const CublasApi& api = cublas_api();
    if (Status made = checked(api.create(&handle_), "cublasCreate"); !made) return made;
    if (Status set = checked(api.set_stream(handle_, native_.queue), "cublasSetStream"); !set)
      return set;
    return checked(api.set_math_mode(handle_, allows_tf32() ? kTf32Math : kDefaultMath),
                   "cublasSetMathMode");
  }
  Status enqueue() override {
    const ContextScope current(native_.context);
    return checked(call_.batch == 1 ? run_one() : run_batch(), "cublas*gemm*");
  }

 private:
  /// m, n, k and the leading dimensions of A, B and C.
  [[nodiscard]] std::array<int, 6> sizes() const {
    return {static_cast<int>(call_.m),   static_cast<int>(call_.n),   static_cast<int>(call_.k),
            static_cast<int>(call_.lda), static_cast<int>(call_.ldb), static_cast<int>(call_.ldc)};
  }
  [[nodiscard]] int run_one() {
    const CublasApi& api = cublas_api();
    const auto [m, n, k, lda, ldb, ldc] = sizes();
    if (call_.dtype == DType::f32) {
      return api.sgemm(handle_, call_.trans_a, call_.trans_b, m, n, k, &alpha_f32_,
                       static_cast<const float*>(a()), lda, static_cast<const float*>(b()), ldb,
                       &beta_f32_, static_cast<float*>(operands_.c), ldc);
    }
    if (is_f64()) {
      return api.dgemm(handle_, call_.trans_a, call_.trans_b, m, n, k, &operands_.alpha,
                       static_cast<const double*>(a()), lda, static_cast<const double*>(b()), ldb,
                       &operands_.beta, static_cast<double*>(operands_.c), ldc);
    }
    const int type = cublas_type_of(call_.dtype);
    return api.gemm_ex(handle_, call_.trans_a, call_.trans_b, m, n, k, &alpha_f32_, a(), type, lda,
                       b(), type, ldb, &beta_f32_, operands_.c, cublas_type_of(call_.out), ldc,
                       kCompute32F, kGemmDefault);
  }
  [[nodiscard]] int run_batch() {
    const CublasApi& api = cublas_api();
    const auto [m, n, k, lda, ldb, ldc] = sizes();
    const auto batch = static_cast<int>(call_.batch);
    if (call_.dtype == DType::f32) {
      return api.sgemm_strided(handle_, call_.trans_a, call_.trans_b, m, n, k, &alpha_f32_,
                               static_cast<const float*>(a()), lda, call_.stride_a,
                               static_cast<const float*>(b()), ldb, call_.stride_b, &beta_f32_,
                               static_cast<float*>(operands_.c), ldc, call_.stride_c, batch);
    }
    if (is_f64()) {
      return api.dgemm_strided(handle_, call_.trans_a, call_.trans_b, m, n, k, &operands_.alpha,
                               static_cast<const double*>(a()), lda, call_.stride_a,
                               static_cast<const double*>(b()), ldb, call_.stride_b,
                               &operands_.beta, static_cast<double*>(operands_.c), ldc,
                               call_.stride_c, batch);
    }
    const int type = cublas_type_of(call_.dtype);
    return api.gemm_strided_ex(handle_, call_.trans_a, call_.trans_b, m, n, k, &alpha_f32_, a(),
                               type, lda, call_.stride_a, b(), type, ldb, call_.stride_b,
                               &beta_f32_, operands_.c, cublas_type_of(call_.out), ldc,
                               call_.stride_c, batch, kCompute32F, kGemmDefault);
  }

  void* handle_ = nullptr;
};

int lt_epilogue(MatrixProduct::Epilogue epilogue) {
  switch (epilogue) {
    case MatrixProduct::Epilogue::none:
      return kEpilogueDefault;
    case MatrixProduct::Epilogue::bias:
      return kEpilogueBias;
    case MatrixProduct::Epilogue::relu:
      return kEpilogueRelu;
    case MatrixProduct::Epilogue::relu_bias:
      return kEpilogueReluBias;
    case MatrixProduct::Epilogue::gelu:
      return kEpilogueGelu;
    case MatrixProduct::Epilogue::gelu_bias:
      return kEpilogueGeluBias;
  }
  return kEpilogueDefault;
}

class LtCall final : public Call {
 public:
  using Call::Call;
  ~LtCall() override {
    const ContextScope current(native_.context);
    const CublasApi& api = cublas_api();
    for (void* layout : {layout_a_, layout_b_, layout_c_}) {
      if (layout != nullptr) api.lt_layout_destroy(layout);
    }
    if (preference_ != nullptr) api.lt_preference_destroy(preference_);
    if (description_ != nullptr) api.lt_description_destroy(description_);
    if (handle_ != nullptr) api.lt_destroy(handle_);
    if (workspace_ != 0) cuda().stream.mem_free(workspace_);
  }
  [[nodiscard]] Status open() {
    const ContextScope current(native_.context);
    if (cuda().stream.mem_alloc(&workspace_, kWorkspaceBytes) != 0) {
      workspace_ = 0;
      return Failure{Outcome::out_of_memory, "there is no room for cuBLAS's workspace"};
    }
    if (Status made = checked(cublas_api().lt_create(&handle_), "cublasLtCreate"); !made)
      return made;
    if (Status described = describe(); !described) return described;
    return choose_algorithm();
  }
  Status enqueue() override {
    const ContextScope current(native_.context);
    return checked(cublas_api().lt_matmul(
                       handle_, description_, alpha(), a(), layout_a_, b(), layout_b_, beta(),
                       operands_.c, layout_c_, operands_.c, layout_c_, &chosen_.algorithm,
                       reinterpret_cast<void*>(workspace_), kWorkspaceBytes, native_.queue),
                   "cublasLtMatmul");
  }

 private:
  template <typename T>
  [[nodiscard]] Status set(Matmul attribute, const T& value) {
    return checked(cublas_api().lt_description_set(description_, static_cast<int>(attribute),
                                                   &value, sizeof value),
                   "cublasLtMatmulDescSetAttribute");
  }
  [[nodiscard]] Status describe() {
    const CublasApi& api = cublas_api();
    const int compute =
        is_f64() ? kCompute64F : (allows_tf32() ? kCompute32FFastTf32 : kCompute32F);
    Status status =
        checked(api.lt_description_create(&description_, compute, is_f64() ? kF64 : kF32),
                "cublasLtMatmulDescCreate");
    if (status) status = set(Matmul::trans_a, static_cast<std::int32_t>(call_.trans_a));
    if (status) status = set(Matmul::trans_b, static_cast<std::int32_t>(call_.trans_b));
    if (status)
      status = set(Matmul::epilogue, static_cast<std::uint32_t>(lt_epilogue(call_.epilogue)));
    if (status && operands_.bias != nullptr) status = set(Matmul::bias_pointer, operands_.bias);
    if (status) {
      status = make_layout(&layout_a_, call_.dtype, call_.trans_a ? call_.k : call_.m,
                           call_.trans_a ? call_.m : call_.k, call_.lda, call_.stride_a);
    }
    if (status) {
      status = make_layout(&layout_b_, call_.dtype, call_.trans_b ? call_.n : call_.k,
                           call_.trans_b ? call_.k : call_.n, call_.ldb, call_.stride_b);
    }
    if (status) {
      status = make_layout(&layout_c_, call_.out, call_.m, call_.n, call_.ldc, call_.stride_c);
    }
    return status;
  }
  [[nodiscard]] Status make_layout(void** layout, DType dtype, std::int64_t rows,
                                   std::int64_t columns, std::int64_t leading,
                                   std::int64_t stride) {
    const CublasApi& api = cublas_api();
    Status status = checked(
        api.lt_layout_create(layout, cublas_type_of(dtype), static_cast<std::uint64_t>(rows),
                             static_cast<std::uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate");
    if (!status || call_.batch == 1) return status;
    const auto batch = static_cast<std::int32_t>(call_.batch);
    const int counted =
        api.lt_layout_set(*layout, static_cast<int>(Layout::batch), &batch, sizeof batch);
    const int strided =
        api.lt_layout_set(*layout, static_cast<int>(Layout::stride), &stride, sizeof stride);
    return checked(counted != kSuccess ? counted : strided, "cublasLtMatrixLayoutSetAttribute");
  }
  [[nodiscard]] Status choose_algorithm() {
    const CublasApi& api = cublas_api();
    Status status =
        checked(api.lt_preference_create(&preference_), "cublasLtMatmulPreferenceCreate");
    if (status) {
      status = checked(api.lt_preference_set(preference_, kMaxWorkspaceBytes, &kWorkspaceBytes,
                                             sizeof kWorkspaceBytes),
                       "cublasLtMatmulPreferenceSetAttribute");
    }
    int found = 0;
    if (status) {
      status = checked(api.lt_heuristic(handle_, description_, layout_a_, layout_b_, layout_c_,
                                        layout_c_, preference_, 1, &chosen_, &found),
                       "cublasLtMatmulAlgoGetHeuristic");
    }
    if (status && found == 0)
      return Failure{Outcome::launch_error, "cuBLAS has no algorithm for this product"};
    return status;
  }

  DeviceAddress workspace_ = 0;
  void* handle_ = nullptr;
  void* description_ = nullptr;
  void* layout_a_ = nullptr;
  void* layout_b_ = nullptr;
  void* layout_c_ = nullptr;
  void* preference_ = nullptr;
  LtHeuristicResult chosen_;
};

template <typename Made>
Result<std::unique_ptr<CublasCall>> opened(const NativeQueue& native, const MatrixProduct& product,
                                           const ProductOperands& operands) {
  auto call = std::make_unique<Made>(native, product, operands);
  if (Status status = call->open(); !status) return status.failure();
  return std::unique_ptr<CublasCall>(std::move(call));
}

}  // namespace

std::string cublas_release(int (*get_property)(int what, int* value)) {
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) {
    if (get_property == nullptr || get_property(i, &parts[static_cast<std::size_t>(i)]) != kSuccess)
      return "";
  }
  return fmt::format("cublas {}.{}.{}", parts[0], parts[1], parts[2]);
}

Result<std::unique_ptr<CublasCall>> make_cublas_call(const NativeQueue& native,
                                                     const MatrixProduct& product,
                                                     const ProductOperands& operands) {
  try {
    if (product.epilogue == MatrixProduct::Epilogue::none)
      return opened<GemmCall>(native, product, operands);
    return opened<LtCall>(native, product, operands);
  } catch (const DeviceError& error) {
    return Failure{Outcome::launch_error, error.what()};
  }
}

}  // namespace kiln
