// The ready-made calls from a program outside the tree, on its own CUDA stream.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstdlib>

#include "calls.hpp"

namespace {

constexpr int kSkipped = 77;  // what the tests take for "not here"

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    std::fprintf(stderr, "%s failed: %s\n", call, cudaGetErrorString(code));
    std::exit(1);
  }
}

class Stream {
 public:
  Stream() { check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }
  /// Memory that lives as long as the process.
  template <typename T>
  [[nodiscard]] void* upload(const std::vector<T>& values) const {
    const std::size_t bytes = values.size() * sizeof(T);
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    check(cudaMemcpyAsync(memory, values.data(), bytes, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
    return memory;
  }
  template <typename T>
  [[nodiscard]] std::vector<T> download(const void* from, std::size_t count) const {
    std::vector<T> to(count);
    check(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return to;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return kSkipped;
  }
  const Stream stream;
  return run_calls(stream, kiln::Launcher::Options::on_cuda_stream(stream.get()),
                   sizes_of(argc, argv));
}
