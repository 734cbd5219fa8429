// A program against cuBLAS as people write them, which checks its own results: scalars in device
// memory, odd leading dimensions, batches, many streams and threads, a captured graph, two handles.
//
//   nvcc -O2 -std=c++17 -o products products.cpp -lcublas && ./products
//
// Prints a line for each part and ends with 1 if a result is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#define TRY(call)                                                      \
  do {                                                                 \
    if (const int code = static_cast<int>(call); code != 0) {          \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code); \
      std::exit(2);                                                    \
    }                                                                  \
  } while (false)

struct Shape {
  int m, n, k, lda, ldb, ldc, batch;
  cublasOperation_t ta, tb;
};

int wrong = 0;

/// One product with its operands and a second C to compare with.
struct Product {
  explicit Product(const Shape& s) : shape(s) {
    rows_a = s.ta == CUBLAS_OP_N ? s.k : s.m;
    rows_b = s.tb == CUBLAS_OP_N ? s.n : s.k;
    a = filled(std::size_t(s.lda) * rows_a * s.batch, host_a);
    b = filled(std::size_t(s.ldb) * rows_b * s.batch, host_b);
    c = filled(std::size_t(s.ldc) * s.n * s.batch, host_c);
  }
  float* filled(std::size_t count, std::vector<float>& host) {
    static std::mt19937 random(1);
    host.resize(count);
    for (float& value : host) value = std::uniform_real_distribution<float>(-1, 1)(random);
    float* device = nullptr;
    TRY(cudaMalloc(&device, count * 4));
    TRY(cudaMemcpy(device, host.data(), count * 4, cudaMemcpyHostToDevice));
    return device;
  }
  void call(cublasHandle_t handle, const float* alpha, const float* beta) const {
    const Shape& s = shape;
    if (s.batch == 1) {
      TRY(cublasSgemm(handle, s.ta, s.tb, s.m, s.n, s.k, alpha, a, s.lda, b, s.ldb, beta, c,
                      s.ldc));
    } else {
      TRY(cublasSgemmStridedBatched(handle, s.ta, s.tb, s.m, s.n, s.k, alpha, a, s.lda,
                                    (long long)s.lda * rows_a, b, s.ldb, (long long)s.ldb * rows_b,
                                    beta, c, s.ldc, (long long)s.ldc * s.n, s.batch));
    }
  }
  void restore() const {
    TRY(cudaMemcpy(c, host_c.data(), host_c.size() * 4, cudaMemcpyHostToDevice));
  }
  /// Looks at some elements, and at all that lie between the columns of C.
  bool is_right(double alpha, double beta) const {
    const Shape& s = shape;
    std::vector<float> found(host_c.size());
    TRY(cudaMemcpy(found.data(), c, found.size() * 4, cudaMemcpyDeviceToHost));
    std::mt19937 random(2);
    for (int i = 0; i < 300; ++i) {
      const int z = random() % s.batch, row = random() % s.m, column = random() % s.n;
      double sum = 0, size = 0;
      for (int l = 0; l < s.k; ++l) {
        const std::size_t at_a =
            std::size_t(z) * s.lda * rows_a +
            (s.ta == CUBLAS_OP_N ? row + std::size_t(l) * s.lda : l + std::size_t(row) * s.lda);
        const std::size_t at_b = std::size_t(z) * s.ldb * rows_b +
                                 (s.tb == CUBLAS_OP_N ? l + std::size_t(column) * s.ldb
                                                      : column + std::size_t(l) * s.ldb);
        sum += double(host_a[at_a]) * host_b[at_b];
        size += std::fabs(double(host_a[at_a]) * host_b[at_b]);
      }
      const std::size_t at = std::size_t(z) * s.ldc * s.n + row + std::size_t(column) * s.ldc;
      const double right = alpha * sum + beta * host_c[at];
      if (!(std::fabs(found[at] - right) <= 2e-6 * (std::fabs(alpha) * size + 1))) return false;
    }
    for (std::size_t at = 0; at < found.size(); ++at) {
      if (int(at % s.ldc) >= s.m && found[at] != host_c[at]) return false;
    }
    return true;
  }
  Shape shape;
  int rows_a = 0, rows_b = 0;
  std::vector<float> host_a, host_b, host_c;
  float *a = nullptr, *b = nullptr, *c = nullptr;
};

void say(const char* part, bool right) {
  std::printf("%-22s %s\n", part, right ? "right" : "WRONG");
  wrong += right ? 0 : 1;
}

int main(int argc, char** argv) {
  const int pause_ms =
      argc > 1 ? std::atoi(argv[1]) : 0;  // for kernels that are compiled meanwhile
  const std::vector<Shape> shapes = {
      {1024, 1024, 1024, 1024, 1024, 1024, 1, CUBLAS_OP_N, CUBLAS_OP_N},
      {1000, 900, 1100, 1003, 1101, 1001, 1, CUBLAS_OP_N, CUBLAS_OP_N},
      {2048, 512, 1024, 1024, 1024, 2048, 1, CUBLAS_OP_T, CUBLAS_OP_N},
      {512, 1536, 768, 512, 1536, 512, 1, CUBLAS_OP_N, CUBLAS_OP_T},
      {256, 256, 512, 256, 512, 256, 24, CUBLAS_OP_N, CUBLAS_OP_N}};
  const float one = 1, zero = 0, two = 2, half = 0.5F;
  std::vector<Product> products;
  for (const Shape& shape : shapes) products.emplace_back(shape);
  cublasHandle_t handle;
  TRY(cublasCreate(&handle));
  for (int round = 0; round < 40; ++round) {
    for (const Product& each : products) each.call(handle, &one, &zero);
    for (const Product& each : products) each.call(handle, &two, &half);
    if (round == 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
  TRY(cudaDeviceSynchronize());
  for (const Product& each : products) {
    each.restore();
    each.call(handle, &one, &zero);
    say("beta 0", each.is_right(1, 0));
    each.restore();
    each.call(handle, &two, &half);
    say("alpha 2, beta 0.5", each.is_right(2, 0.5));
  }

  float* scalars = nullptr;  // in device memory
  TRY(cudaMalloc(&scalars, 8));
  const float values[2] = {2, 0.5F};
  TRY(cudaMemcpy(scalars, values, 8, cudaMemcpyHostToDevice));
  TRY(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  products[0].restore();
  products[0].call(handle, scalars, scalars + 1);
  say("scalars on the device", products[0].is_right(2, 0.5));
  TRY(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));

  bool right = true;  // 8 threads with a handle each, 2 streams a thread
  std::vector<std::thread> threads;
  std::vector<std::vector<Product>> of_thread(8);
  for (auto& own : of_thread) {
    for (const Shape& shape : shapes) own.emplace_back(shape);
  }
  for (auto& own : of_thread) {
    threads.emplace_back([&] {
      cublasHandle_t mine;
      TRY(cublasCreate(&mine));
      cudaStream_t streams[2];
      for (cudaStream_t& stream : streams)
        TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int round = 0; round < 30; ++round) {
        for (std::size_t i = 0; i < own.size(); ++i) {
          TRY(cublasSetStream(mine, streams[i % 2]));
          own[i].call(mine, &one, &zero);
        }
      }
      for (cudaStream_t stream : streams) TRY(cudaStreamSynchronize(stream));
      TRY(cublasDestroy(mine));
      for (cudaStream_t stream : streams) TRY(cudaStreamDestroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : of_thread) {
    for (const Product& each : own) right = right && each.is_right(1, 0);
  }
  say("8 threads, 16 streams", right);

  cudaStream_t stream;  // a graph, replayed after its inputs changed
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  TRY(cublasSetStream(handle, stream));
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (const Product& each : products) each.call(handle, &one, &zero);
  TRY(cudaStreamEndCapture(stream, &graph));
  TRY(cudaGraphInstantiate(&executable, graph, 0));
  right = true;
  for (const Product& each : products) each.restore();
  for (int replay = 0; replay < 5; ++replay) TRY(cudaGraphLaunch(executable, stream));
  for (const Product& each : products) each.call(handle, &one, &zero);  // eager beside it
  TRY(cudaGraphLaunch(executable, stream));
  TRY(cudaStreamSynchronize(stream));
  for (const Product& each : products) right = right && each.is_right(1, 0);
  say("graph", right);
  TRY(cublasDestroy(handle));
  return wrong == 0 ? 0 : 1;
}
