// The OpenCL side: the first device, one queue, clEnqueueNDRangeKernel.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backends/opencl/opencl_devices.hpp"
#include "bench/launch/application.hpp"
#include "core/errors.hpp"

namespace kiln::launch_bench {
namespace {

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw DeviceError(opencl_failure(code, call).message);
}

class OpenClRawLaunch final : public RawLaunch {
 public:
  OpenClRawLaunch(cl_context context, cl_device_id device, cl_command_queue queue,
                  const Source& source, const LaunchPlan& plan, const std::vector<void*>& memory)
      : queue_(queue) {
    const StepPlan& step = plan.steps.at(0);
    const char* text = source.text.c_str();
    cl_int code = CL_SUCCESS;
    program_ = own(opencl().create_program_with_source(context, 1, &text, nullptr, &code));
    check(code, "clCreateProgramWithSource");
    check(opencl().build_program(program_.get(), 1, &device, "-cl-std=CL1.2 -cl-mad-enable",
                                 nullptr, nullptr),
          "clBuildProgram");
    kernel_ = own(opencl().create_kernel(program_.get(), step.entry.c_str(), &code));
    check(code, "clCreateKernel");
    for (const std::string& name : step.arguments) {
      if (const BufferPlan* buffer = plan.find_buffer(name)) {
        auto* const object =
            static_cast<cl_mem>(memory.at(static_cast<std::size_t>(buffer - plan.buffers.data())));
        const auto* bytes = reinterpret_cast<const std::byte*>(&object);
        values_.emplace_back(bytes, bytes + sizeof(cl_mem));
      } else {
        values_.push_back(scalar_bytes(*plan.find_scalar(name)));
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      local_[i] = step.block[i];
      global_[i] = std::size_t{step.grid[i]} * step.block[i];
    }
  }

  // Arguments at each launch, as a program does whose memory changes from call to call.
  void launch() override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      check(opencl().set_kernel_arg(kernel_.get(), static_cast<cl_uint>(i), values_[i].size(),
                                    values_[i].data()),
            "clSetKernelArg");
    }
    check(opencl().enqueue_nd_range_kernel(queue_, kernel_.get(), 3, nullptr, global_.data(),
                                           local_.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }

 private:
  cl_command_queue queue_;
  OwnedProgram program_;
  OwnedKernel kernel_;
  std::vector<std::vector<std::byte>> values_;
  std::array<std::size_t, 3> local_{};
  std::array<std::size_t, 3> global_{};
};

class OpenClApplication final : public Application {
 public:
  OpenClApplication() : entry_(list_opencl_devices().at(0)) {
    cl_int code = CL_SUCCESS;
    context_ = own(opencl().create_context(nullptr, 1, &entry_.id, nullptr, nullptr, &code));
    check(code, "clCreateContext");
    queue_ = own(opencl().create_command_queue(context_.get(), entry_.id, 0, &code));
    check(code, "clCreateCommandQueue");
  }
  ~OpenClApplication() override { opencl().finish(queue_.get()); }
  OpenClApplication(const OpenClApplication&) = delete;
  OpenClApplication& operator=(const OpenClApplication&) = delete;

  const DeviceInfo& device() const override { return entry_.info; }
  Launcher::Options options() const override {
    return Launcher::Options::on_opencl_queue(queue_.get());
  }
  void* queue() const override { return queue_.get(); }
  void* upload(std::size_t floats, float value) override {
    cl_int code = CL_SUCCESS;
    const std::vector<float> values(floats, value);
    const std::size_t bytes = floats * sizeof(float);
    memory_.push_back(
        own(opencl().create_buffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code)));
    check(code, "clCreateBuffer");
    check(opencl().enqueue_write_buffer(queue_.get(), memory_.back().get(), CL_TRUE, 0, bytes,
                                        values.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    return memory_.back().get();
  }
  float download(void* memory) override {
    float value = 0;
    check(opencl().enqueue_read_buffer(queue_.get(), static_cast<cl_mem>(memory), CL_TRUE, 0,
                                       sizeof value, &value, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return value;
  }
  void wait() override { check(opencl().finish(queue_.get()), "clFinish"); }

  std::unique_ptr<RawLaunch> raw_launch(const Source& source, const LaunchPlan& plan,
                                        const std::vector<void*>& memory) override {
    return std::make_unique<OpenClRawLaunch>(context_.get(), entry_.id, queue_.get(), source, plan,
                                             memory);
  }

 private:
  OpenClDeviceEntry entry_;
  OwnedContext context_;
  OwnedQueue queue_;
  std::vector<OwnedMemory> memory_;
};

}  // namespace

std::unique_ptr<Application> make_opencl_application() {
  return std::make_unique<OpenClApplication>();
}

}  // namespace kiln::launch_bench
