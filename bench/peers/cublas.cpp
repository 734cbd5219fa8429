// The peers from cuBLAS: geam for transposes, gemm for products of matrices.
//
// cuBLAS thinks in columns. A row-major matrix is the column-major matrix of its transpose, so C =
// op(A) op(B) is asked for as C' = op(B)' op(A)': the operands change places, and nothing is moved.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/cublas_api.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

/// A handle of cuBLAS, destroyed at the end of its scope.
class Handle {
 public:
  Handle() { KILN_CUBLAS(cublas_api().create(&handle_)); }
  ~Handle() { cublas_api().destroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// The handle, on this stream from now on.
  [[nodiscard]] cublasHandle_t on(cudaStream_t stream) const {
    KILN_CUBLAS(cublas_api().set_stream(handle_, stream));
    return handle_;
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

class CublasTranspose final : public Peer {
 public:
  explicit CublasTranspose(const Workload& workload)
      : in_(workload.inputs.at("in")),
        out_(workload.output_dtype, workload.output_count),
        rows_(static_cast<int>(workload.problem.integer("rows"))),
        cols_(static_cast<int>(workload.problem.integer("cols"))) {}

  std::string name() const override { return is_f32() ? "cuBLAS sgeam" : "cuBLAS dgeam"; }

  // out = 1 * in' + 0 * out, as column-major matrices: in is cols x rows, out is rows x cols.
  void run(cudaStream_t stream) override {
    if (is_f32()) {
      const float one = 1;
      const float zero = 0;
      KILN_CUBLAS(cublas_api().sgeam(handle_.on(stream), CUBLAS_OP_T, CUBLAS_OP_N, rows_, cols_,
                                     &one, in_.as<float>(), cols_, &zero, out_.as<float>(), rows_,
                                     out_.as<float>(), rows_));
    } else {
      const double one = 1;
      const double zero = 0;
      KILN_CUBLAS(cublas_api().dgeam(handle_.on(stream), CUBLAS_OP_T, CUBLAS_OP_N, rows_, cols_,
                                     &one, in_.as<double>(), cols_, &zero, out_.as<double>(), rows_,
                                     out_.as<double>(), rows_));
    }
  }
  const DeviceArray* result() const override { return &out_; }

 private:
  [[nodiscard]] bool is_f32() const { return in_.dtype() == DType::f32; }

  Handle handle_;
  const DeviceArray& in_;
  DeviceArray out_;
  int rows_;
  int cols_;
};

class CublasMatmul final : public Peer {
 public:
  explicit CublasMatmul(const Workload& workload)
      : workload_(workload), c_(workload.output_dtype, workload.output_count) {}

  std::string name() const override {
    switch (c_.dtype()) {
      case DType::f32:
        return "cuBLAS sgemm";
      case DType::f64:
        return "cuBLAS dgemm";
      default:
        return "cuBLAS gemmEx, f32 sums";
    }
  }

  void run(cudaStream_t stream) override {
    const CublasApi& api = cublas_api();
    cublasHandle_t handle = handle_.on(stream);
    const int m = integer("m"), n = integer("n"), k = integer("k");
    const int lda = integer("lda"), ldb = integer("ldb"), ldc = integer("ldc");
    const cublasOperation_t op_a = operation("trans_a"), op_b = operation("trans_b");
    const DeviceArray& a = workload_.inputs.at("a");
    const DeviceArray& b = workload_.inputs.at("b");
    const double alpha = workload_.scalars.at("alpha"), beta = workload_.scalars.at("beta");
    const auto alpha32 = static_cast<float>(alpha), beta32 = static_cast<float>(beta);
    switch (c_.dtype()) {
      case DType::f32:
        KILN_CUBLAS(api.sgemm(handle, op_b, op_a, n, m, k, &alpha32, b.as<float>(), ldb,
                              a.as<float>(), lda, &beta32, c_.as<float>(), ldc));
        break;
      case DType::f64:
        KILN_CUBLAS(api.dgemm(handle, op_b, op_a, n, m, k, &alpha, b.as<double>(), ldb,
                              a.as<double>(), lda, &beta, c_.as<double>(), ldc));
        break;
      default: {
        const cudaDataType_t type = c_.dtype() == DType::f16 ? CUDA_R_16F : CUDA_R_16BF;
        KILN_CUBLAS(api.gemm_ex(handle, op_b, op_a, n, m, k, &alpha32, b.data(), type, ldb,
                                a.data(), type, lda, &beta32, c_.data(), type, ldc,
                                CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
      }
    }
  }
  const DeviceArray* result() const override { return &c_; }

 private:
  [[nodiscard]] int integer(const char* field) const {
    return static_cast<int>(workload_.problem.integer(field));
  }
  [[nodiscard]] cublasOperation_t operation(const char* field) const {
    return workload_.is(field, "true") ? CUBLAS_OP_T : CUBLAS_OP_N;
  }

  Handle handle_;
  const Workload& workload_;
  DeviceArray c_;
};

/// One product of operands of one type that sgemm, dgemm or gemmEx take. cublasLt has the others.
bool is_plain_product(const MatmulShape& shape) {
  const DType dtype = shape.c.dtype;
  const bool known =
      dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
  return known && shape.a.dtype == dtype && shape.b.dtype == dtype && shape.batch == 1 &&
         !shape.has_formula;
}

}  // namespace

const std::string& why_no_cublas() { return cublas_api().missing; }

void add_cublas(const Workload& workload, Peers& peers) {
  if (!why_no_cublas().empty()) return;
  const bool is_real = workload.output_dtype == DType::f32 || workload.output_dtype == DType::f64;
  if (workload.kernel == "transpose" && is_real && workload.is("batch", "1")) {
    peers.push_back(std::make_unique<CublasTranspose>(workload));
  }
  if (workload.product && is_plain_product(*workload.product))
    peers.push_back(std::make_unique<CublasMatmul>(workload));
}

}  // namespace kiln::peers
