// The CUDA side: the primary context, one stream, cuLaunchKernel, graphs.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <deque>

#include "backends/backend.hpp"
#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/cuda_devices.hpp"
#include "backends/cuda/nvrtc_compiler.hpp"
#include "backends/cuda/tensor_map.hpp"
#include "bench/launch/application.hpp"
#include "core/errors.hpp"

namespace kiln::launch_bench {
namespace {

void check(int code, const char* call) {
  if (code != 0) throw DeviceError(cuda_failure(code, call).message);
}

/// Calls of the driver that Kiln itself does not need.
template <typename... Arguments>
void call(const char* symbol, Arguments... arguments) {
  void* function = ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), symbol);
  if (function == nullptr) throw DeviceError(std::string("libcuda has no ") + symbol);
  check(reinterpret_cast<int (*)(Arguments...)>(function)(arguments...), symbol);
}

class CudaRawLaunch final : public RawLaunch {
 public:
  CudaRawLaunch(const Binary& binary, const LaunchPlan& plan, const std::vector<void*>& memory,
                void* stream)
      : step_(plan.steps.at(0)), stream_(stream) {
    void* module = nullptr;
    check(cuda().stream.module_load(&module, binary.data.data()), "cuModuleLoadData");
    check(cuda().stream.module_get_function(&function_, module, step_.entry.c_str()),
          "cuModuleGetFunction");
    for (const std::string& name : step_.arguments) {
      if (const BufferPlan* buffer = plan.find_buffer(name)) {
        const void* address = memory_of(*buffer, plan, memory);
        const auto* bytes = reinterpret_cast<const std::byte*>(&address);
        values_.emplace_back(bytes, bytes + sizeof address);
        parameters_.push_back(values_.back().data());
      } else if (const TensorMapPlan* map = plan.find_tensor_map(name)) {
        const void* address = memory_of(*plan.find_buffer(map->buffer), plan, memory);
        const auto encoded = encode_tensor_map(*map, reinterpret_cast<DeviceAddress>(address));
        if (!encoded) throw DeviceError(encoded.failure().message);
        maps_.push_back(*encoded);
        parameters_.push_back(maps_.back().bytes.data());
      } else {
        values_.push_back(scalar_bytes(*plan.find_scalar(name)));
        parameters_.push_back(values_.back().data());
      }
    }
  }

  void launch() override {
    check(cuda().stream.launch_kernel(function_, step_.grid[0], step_.grid[1], step_.grid[2],
                                      step_.block[0], step_.block[1], step_.block[2],
                                      step_.shared_bytes, stream_, parameters_.data(), nullptr),
          "cuLaunchKernel");
  }

 private:
  const StepPlan step_;
  void* stream_;
  void* function_ = nullptr;
  static void* memory_of(const BufferPlan& buffer, const LaunchPlan& plan,
                         const std::vector<void*>& memory) {
    return memory.at(static_cast<std::size_t>(&buffer - plan.buffers.data()));
  }

  std::deque<std::vector<std::byte>> values_;
  std::deque<TensorMapBytes> maps_;
  std::vector<void*> parameters_;
};

class CudaApplication final : public Application {
 public:
  CudaApplication() : device_(list_cuda_devices().at(0)) {
    void* context = nullptr;
    check(cuda().primary_context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuda().context_push(context), "cuCtxPushCurrent");
    check(cuda().stream.stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
  }

  const DeviceInfo& device() const override { return device_; }
  Launcher::Options options() const override { return Launcher::Options::on_cuda_stream(stream_); }
  void* queue() const override { return stream_; }
  void* upload(std::size_t floats, float value) override {
    DeviceAddress address = 0;
    const std::vector<float> values(floats, value);
    check(cuda().stream.mem_alloc(&address, floats * sizeof(float)), "cuMemAlloc");
    check(cuda().stream.copy_to_device(address, values.data(), floats * sizeof(float), stream_),
          "cuMemcpyHtoDAsync");
    wait();
    return reinterpret_cast<void*>(address);
  }
  float download(void* memory) override {
    float value = 0;
    check(cuda().stream.copy_to_host(&value, reinterpret_cast<DeviceAddress>(memory), sizeof value,
                                     stream_),
          "cuMemcpyDtoHAsync");
    wait();
    return value;
  }
  void wait() override { check(cuda().stream.stream_synchronize(stream_), "cuStreamSynchronize"); }

  std::unique_ptr<RawLaunch> raw_launch(const Source& source, const LaunchPlan& plan,
                                        const std::vector<void*>& memory) override {
    Result<Binary> binary = make_nvrtc_compiler(device_.architecture)->compile(source);
    if (!binary) throw DeviceError(binary.failure().message);
    return std::make_unique<CudaRawLaunch>(*binary, plan, memory, stream_);
  }

  bool has_graphs() const override { return true; }
  void run_as_graph(const std::function<void()>& work, int times) override {
    constexpr int kGlobalMode = 0;  // the strictest: any forbidden call in the process ends it
    void* graph = nullptr;
    void* executable = nullptr;
    call("cuStreamBeginCapture_v2", stream_, kGlobalMode);
    work();
    call("cuStreamEndCapture", stream_, &graph);
    call("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
    for (int i = 0; i < times; ++i) call("cuGraphLaunch", executable, stream_);
    wait();
    call("cuGraphExecDestroy", executable);
    call("cuGraphDestroy", graph);
  }

 private:
  DeviceInfo device_;
  void* stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Application> make_cuda_application() { return std::make_unique<CudaApplication>(); }

}  // namespace kiln::launch_bench
