// Memory, programs, launches and events of CUDA and HIP devices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backends/stream_module.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr EventId kEventCount = 4096;

}  // namespace

void StreamDevice::open_stream() {
  const Current current(*this);
  const int code = api_.stream_create(&own_stream_, kStreamNonBlocking);
  if (code != 0)
    throw DeviceError(failure_of(code, "stream_create", Outcome::launch_error).message);
  stream_ = own_stream_;
  owns_stream_ = true;
}

void StreamDevice::close() {
  const Current current(*this);
  for (void* event : events_) api_.event_destroy(event);
  for (const DeviceAddress address : allocations_) api_.mem_free(address);
  if (owns_stream_) api_.stream_destroy(own_stream_);
}

// --- Memory -------------------------------------------------------------------------------------

Result<Buffer> StreamDevice::allocate(std::size_t bytes) {
  const Current current(*this);
  DeviceAddress address = 0;
  const int code = api_.mem_alloc(&address, std::max<std::size_t>(bytes, 1));
  if (code != 0)
    return failure_of(code, fmt::format("mem_alloc of {} bytes", bytes), Outcome::out_of_memory);
  allocations_.push_back(address);
  return Buffer{address, bytes, 0};
}

void StreamDevice::release(Buffer buffer) {
  const auto found = std::find(allocations_.begin(), allocations_.end(), buffer.handle);
  if (found == allocations_.end()) return release_own(buffer);
  const Current current(*this);
  api_.mem_free(*found);
  allocations_.erase(found);
}

Status StreamDevice::upload(Buffer to, std::size_t offset, std::span<const std::byte> from) {
  if (from.empty()) return Done{};
  const Current current(*this);
  KILN_STREAM_TRY(device_fault, api_.copy_to_device, address_of(to, offset), from.data(),
                  from.size(), stream_);
  KILN_STREAM_TRY(device_fault, api_.stream_synchronize, stream_);
  return Done{};
}

Status StreamDevice::download(Buffer from, std::size_t offset, std::span<std::byte> to) {
  if (to.empty()) return Done{};
  const Current current(*this);
  KILN_STREAM_TRY(device_fault, api_.copy_to_host, to.data(), address_of(from, offset), to.size(),
                  stream_);
  KILN_STREAM_TRY(device_fault, api_.stream_synchronize, stream_);
  return Done{};
}

Status StreamDevice::copy(Buffer from, std::size_t from_offset, Buffer to, std::size_t to_offset,
                          std::size_t bytes) {
  if (bytes == 0) return Done{};
  const Current current(*this);
  KILN_STREAM_TRY(launch_error, api_.copy_on_device, address_of(to, to_offset),
                  address_of(from, from_offset), bytes, stream_);
  return Done{};
}

Status StreamDevice::fill(Buffer to, std::size_t offset, std::size_t bytes, std::uint8_t byte) {
  if (bytes == 0) return Done{};
  const Current current(*this);
  KILN_STREAM_TRY(launch_error, api_.fill_bytes, address_of(to, offset), byte, bytes, stream_);
  return Done{};
}

// --- Programs -----------------------------------------------------------------------------------

Result<std::unique_ptr<Module>> StreamDevice::load(const Binary& binary) {
  if (!is_loadable(binary.data))
    return Failure{Outcome::launch_error, "damaged binary: not a whole ELF file"};
  const Current current(*this);
  void* handle = nullptr;
  KILN_STREAM_TRY(launch_error, api_.module_load, &handle, binary.data.data());
  return std::unique_ptr<Module>(std::make_unique<LoadedModule>(*this, handle, binary.symbols));
}

Result<StreamDevice::Kernel*> StreamDevice::kernel_of(LoadedModule& module,
                                                      std::string_view entry) {
  for (Kernel& kernel : module.kernels) {
    if (kernel.name == entry) return &kernel;
  }
  Kernel made{std::string(entry), nullptr, 0};
  const auto symbol = module.symbols.find(made.name);
  const int code = api_.module_get_function(
      &made.handle, module.handle,
      symbol != module.symbols.end() ? symbol->second.c_str() : made.name.c_str());
  if (code != 0)
    return failure_of(code, fmt::format("module_get_function '{}'", entry), Outcome::launch_error);
  if (Status status = inspect(made); !status) return status.failure();
  module.kernels.push_back(std::move(made));
  return &module.kernels.back();
}

Result<const StreamDevice::Constant*> StreamDevice::constant_of(LoadedModule& module,
                                                                std::string_view name) {
  for (const Constant& constant : module.constants) {
    if (constant.name == name) return &constant;
  }
  Constant made{std::string(name), 0, 0};
  const int code =
      api_.module_get_global(&made.address, &made.bytes, module.handle, made.name.c_str());
  if (code != 0)
    return failure_of(code, fmt::format("module_get_global '{}'", name), Outcome::launch_error);
  module.constants.push_back(std::move(made));
  return &module.constants.back();
}

Result<const StreamDevice::Constant*> StreamDevice::constant_for(const Launch& launch,
                                                                 const ConstantArgument& argument) {
  const auto found = constant_of(static_cast<LoadedModule&>(*launch.module), argument.name);
  if (found && argument.bytes > (*found)->bytes) {
    return Failure{Outcome::launch_error,
                   fmt::format("constant '{}' holds {} bytes, the step gives {}", argument.name,
                               (*found)->bytes, argument.bytes)};
  }
  return found;
}

Status StreamDevice::set_constants(const Launch& launch) {
  for (const ConstantArgument& argument : launch.constants) {
    const auto constant = constant_for(launch, argument);
    if (!constant) return constant.failure();
    if (argument.bytes == 0) continue;
    KILN_STREAM_TRY(launch_error, api_.copy_on_device, (*constant)->address,
                    address_of(argument.buffer), argument.bytes, stream_);
  }
  return Done{};
}

/// Fills parameters_ with pointers to the arguments, which live in addresses_ and in the launch.
void StreamDevice::collect_parameters(const Launch& launch) {
  addresses_.resize(launch.arguments.size());
  parameters_.resize(launch.arguments.size());
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const KernelArgument& argument = launch.arguments[i];
    if (argument.kind == KernelArgument::Kind::buffer) {
      addresses_[i] = address_of(argument.buffer);
      parameters_[i] = &addresses_[i];
    } else if (argument.kind == KernelArgument::Kind::tensor_map) {
      parameters_[i] = const_cast<TensorMapBytes*>(argument.tensor_map);  // the driver only reads
    } else {
      parameters_[i] = const_cast<std::byte*>(argument.scalar.data());  // the driver only reads
    }
  }
}

Status StreamDevice::launch(const Launch& launch) {
  const Current current(*this);
  const Result<Kernel*> kernel =
      kernel_of(static_cast<LoadedModule&>(*launch.module), launch.entry);
  if (!kernel) return kernel.failure();
  if (Status status = prepare(**kernel, launch); !status) return status;
  if (Status status = set_constants(launch); !status) return status;
  collect_parameters(launch);
  const int code = enqueue(**kernel, launch, stream_, parameters_.data());
  if (code == 0) return Done{};
  return launch_failure(code, launch);
}

Failure StreamDevice::launch_failure(int code, const Launch& launch) const {
  return failure_of(
      code,
      fmt::format("launch of '{}', {}x{}x{} blocks of {}x{}x{}, {} bytes of shared memory",
                  launch.entry, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                  launch.block[1], launch.block[2], launch.shared_bytes),
      Outcome::launch_error);
}

int StreamDevice::enqueue(const Kernel& kernel, const Launch& launch, void* stream,
                          void** parameters) const {
  return api_.launch_kernel(kernel.handle, launch.grid[0], launch.grid[1], launch.grid[2],
                            launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes,
                            stream, parameters, nullptr);
}

// --- Time ---------------------------------------------------------------------------------------

Result<EventId> StreamDevice::record() {
  const Current current(*this);
  const EventId id = next_event_;
  if (id == events_.size()) {
    void* event = nullptr;
    KILN_STREAM_TRY(launch_error, api_.event_create, &event, kEventDefault);
    events_.push_back(event);
  }
  KILN_STREAM_TRY(launch_error, api_.event_record, events_[id], stream_);
  next_event_ = (next_event_ + 1) % kEventCount;
  return id;
}

Result<double> StreamDevice::elapsed_ns(EventId from, EventId to) {
  if (from >= events_.size() || to >= events_.size()) {
    return Failure{Outcome::launch_error, "elapsed_ns of an event that was never recorded"};
  }
  const Current current(*this);
  KILN_STREAM_TRY(device_fault, api_.event_synchronize, events_[to]);
  float milliseconds = 0;
  KILN_STREAM_TRY(launch_error, api_.event_elapsed, &milliseconds, events_[from], events_[to]);
  return static_cast<double>(milliseconds) * 1e6;
}

class StreamDevice::StreamTimer final : public QueueTimer {
 public:
  StreamTimer(StreamDevice& device, void* stream) : device_(device), stream_(stream) {}
  ~StreamTimer() override {
    const Current current(device_);
    for (void* event : {first_, last_}) {
      if (event != nullptr) (void)device_.api_.event_destroy(event);
    }
  }
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;

  Status start() override { return record(first_); }
  Status stop() override { return record(last_); }
  Result<std::optional<double>> elapsed_ns() override {
    const Current current(device_);
    // To ask for an event ends the captures of other threads, unless this thread says otherwise.
    int mode = kCaptureRelaxed;
    const auto exchange = device_.api_.exchange_capture_mode;
    const bool exchanged = exchange != nullptr && exchange(&mode) == 0;
    const int code = device_.api_.event_query(last_);
    if (exchanged) (void)exchange(&mode);
    if (code == kNotReady) return std::optional<double>();
    if (code != 0) return device_.failure_of(code, "event_query", Outcome::device_fault);
    float milliseconds = 0;
    const int told = device_.api_.event_elapsed(&milliseconds, first_, last_);
    if (told != 0) return device_.failure_of(told, "event_elapsed", Outcome::launch_error);
    return std::optional<double>(static_cast<double>(milliseconds) * 1e6);
  }

 private:
  [[nodiscard]] Status record(void*& event) {
    const Current current(device_);
    int code = event != nullptr ? 0 : device_.api_.event_create(&event, kEventDefault);
    if (code == 0) code = device_.api_.event_record(event, stream_);
    if (code != 0) return device_.failure_of(code, "event_record", Outcome::launch_error);
    return Done{};
  }

  StreamDevice& device_;
  void* stream_;
  void* first_ = nullptr;
  void* last_ = nullptr;
};

Result<std::unique_ptr<QueueTimer>> StreamDevice::make_timer(void* queue) {
  return std::unique_ptr<QueueTimer>(
      std::make_unique<StreamTimer>(*this, queue != nullptr ? queue : own_stream_));
}

Status StreamDevice::synchronize() {
  const Current current(*this);
  KILN_STREAM_TRY(device_fault, api_.stream_synchronize, stream_);
  return Done{};
}

}  // namespace kiln
