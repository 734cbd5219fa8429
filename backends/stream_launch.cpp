// Launches made ready beforehand: what StreamDevice::launch does, split into what is done once and
// what is left for each run.
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "backends/stream_module.hpp"

namespace kiln {

class StreamDevice::PreparedKernelLaunch final : public PreparedLaunch {
 public:
  PreparedKernelLaunch(StreamDevice& device, const Kernel& kernel, const Launch& launch,
                       void* stream)
      : device_(device), kernel_(kernel), launch_(launch), stream_(stream) {
    addresses_.resize(launch.arguments.size());
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const KernelArgument& argument = launch.arguments[i];
      parameters_.push_back(parameter_of(argument, addresses_[i]));
    }
  }

  [[nodiscard]] Status find_constants() {
    for (const ConstantArgument& argument : launch_.constants) {
      const auto constant = device_.constant_for(launch_, argument);
      if (!constant) return constant.failure();
      constants_.push_back((*constant)->address);
    }
    return Done{};
  }

  Status run() override {
    const Current current(device_);
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const ConstantArgument& argument = launch_.constants[i];
      if (argument.bytes == 0) continue;
      const int code = device_.api_.copy_on_device(constants_[i], address_of(argument.buffer),
                                                   argument.bytes, stream_);
      if (code != 0) return device_.failure_of(code, "copy_on_device", Outcome::launch_error);
    }
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      if (launch_.arguments[i].kind == KernelArgument::Kind::buffer) {
        addresses_[i] = address_of(launch_.arguments[i].buffer);
      }
    }
    const int code = device_.enqueue(kernel_, launch_, stream_, parameters_.data());
    if (code == 0) return Done{};
    return device_.launch_failure(code, launch_);
  }

 private:
  /// Where the driver reads the argument; it only reads.
  static void* parameter_of(const KernelArgument& argument, DeviceAddress& address) {
    switch (argument.kind) {
      case KernelArgument::Kind::buffer:
        return &address;
      case KernelArgument::Kind::tensor_map:
        return const_cast<TensorMapBytes*>(argument.tensor_map);
      case KernelArgument::Kind::scalar:
      case KernelArgument::Kind::local:  // no plan for these devices has one
        break;
    }
    return const_cast<std::byte*>(argument.scalar.data());
  }

  StreamDevice& device_;
  const Kernel& kernel_;
  const Launch launch_;
  void* stream_;
  std::vector<DeviceAddress> addresses_;  ///< by argument; 0 for scalars
  std::vector<void*> parameters_;         ///< into addresses_ and the caller's scalars
  std::vector<DeviceAddress> constants_;
};

class StreamDevice::PreparedClear final : public PreparedLaunch {
 public:
  PreparedClear(StreamDevice& device, const Buffer& buffer, void* stream)
      : device_(device), buffer_(buffer), stream_(stream) {}

  Status run() override {
    if (buffer_.bytes == 0) return Done{};
    const Current current(device_);
    const int code = device_.api_.fill_bytes(address_of(buffer_), 0, buffer_.bytes, stream_);
    if (code == 0) return Done{};
    return device_.failure_of(code, "fill_bytes", Outcome::launch_error);
  }

 private:
  StreamDevice& device_;
  const Buffer& buffer_;
  void* stream_;
};

Result<std::unique_ptr<PreparedLaunch>> StreamDevice::prepare_launch(const Launch& launch,
                                                                     void* queue) {
  const Current current(*this);
  const Result<Kernel*> kernel =
      kernel_of(static_cast<LoadedModule&>(*launch.module), launch.entry);
  if (!kernel) return kernel.failure();
  if (Status status = prepare(**kernel, launch); !status) return status.failure();
  auto prepared = std::make_unique<PreparedKernelLaunch>(*this, **kernel, launch,
                                                         queue != nullptr ? queue : own_stream_);
  if (Status status = prepared->find_constants(); !status) return status.failure();
  return std::unique_ptr<PreparedLaunch>(std::move(prepared));
}

Result<std::unique_ptr<PreparedLaunch>> StreamDevice::prepare_clear(const Buffer& buffer,
                                                                    void* queue) {
  return std::unique_ptr<PreparedLaunch>(
      std::make_unique<PreparedClear>(*this, buffer, queue != nullptr ? queue : own_stream_));
}

}  // namespace kiln
