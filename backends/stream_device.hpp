// What CUDA and HIP devices share: memory, programs, launches and events on a stream, through
// StreamApi.
//
// The two backends derive from it and add what differs: how the device is made current, what an
// error number means, and what a kernel needs before it is launched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "backends/elf_image.hpp"
#include "backends/stream_api.hpp"

namespace kiln {

class StreamDevice : public Device {
 public:
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;

  const DeviceInfo& info() const final { return info_; }

  Result<Buffer> allocate(std::size_t bytes) final;
  void release(Buffer buffer) final;
  Status upload(Buffer to, std::size_t offset, std::span<const std::byte> from) final;
  Status download(Buffer from, std::size_t offset, std::span<std::byte> to) final;
  Status copy(Buffer from, std::size_t from_offset, Buffer to, std::size_t to_offset,
              std::size_t bytes) final;
  Status fill(Buffer to, std::size_t offset, std::size_t bytes, std::uint8_t byte) final;

  Result<std::unique_ptr<Module>> load(const Binary& binary) final;
  Status launch(const Launch& launch) final;
  Result<std::unique_ptr<PreparedLaunch>> prepare_launch(const Launch& launch, void* queue) final;
  Result<std::unique_ptr<PreparedLaunch>> prepare_clear(const Buffer& buffer, void* queue) final;

  std::string graphs_unavailable() final;
  Result<std::unique_ptr<CapturedGraph>> capture(const std::function<Status()>& work) final;
  bool is_capturing(void* queue) final;
  void work_beside_captures() final;

  Result<EventId> record() final;
  Result<double> elapsed_ns(EventId from, EventId to) final;
  Status synchronize() final;
  Result<std::unique_ptr<QueueTimer>> make_timer(void* queue) final;
  void use_queue(void* queue) final { stream_ = queue != nullptr ? queue : own_stream_; }

 protected:
  struct Kernel {
    std::string name;
    void* handle = nullptr;
    std::uint32_t shared_bytes_allowed = 0;  ///< dynamic; for prepare()
    std::size_t parameter_count = 0;         ///< 0: none, or the driver does not tell
  };

  /// Takes the device's own stream when it is made by open_stream(), or a caller's.
  StreamDevice(const StreamApi& api, DeviceInfo info) : api_(api), info_(std::move(info)) {}
  ~StreamDevice() override = default;

  /// Makes the device's own stream; throws DeviceError.
  void open_stream();
  /// Works on a caller's stream (nullptr: the default one).
  void adopt_stream(void* stream) { own_stream_ = stream_ = stream; }
  /// Frees everything. To be called by the destructor of the derived class: it needs enter() and
  /// leave().
  void close();

  /// Makes the device current for this thread; gives what leave() needs to restore what was. Any
  /// thread.
  [[nodiscard]] virtual int enter() = 0;
  virtual void leave(int before) = 0;
  /// Can the image be handed to the driver without harm?
  [[nodiscard]] virtual bool is_loadable(std::span<const std::byte> image) const {
    return is_whole_elf(image);
  }
  /// What a failed call means; `otherwise` is the outcome of errors that mean nothing in
  /// particular.
  [[nodiscard]] virtual Failure failure_of(int code, std::string_view call,
                                           Outcome otherwise) const = 0;
  /// Once per kernel and module.
  [[nodiscard]] virtual Status inspect(Kernel& kernel) = 0;
  /// Before each launch: limits that the driver has to be told of.
  [[nodiscard]] virtual Status prepare(Kernel& kernel, const Launch& launch) = 0;
  /// The launch itself; `parameters` point at the arguments. Gives the driver's code. Any thread.
  [[nodiscard]] virtual int enqueue(const Kernel& kernel, const Launch& launch, void* stream,
                                    void** parameters) const;

  /// Frees memory that release() does not know of: the derived class's own.
  virtual void release_own(Buffer /*buffer*/) {}

  [[nodiscard]] const StreamApi& api() const { return api_; }
  [[nodiscard]] void* stream() const { return stream_; }

  class Current {
   public:
    explicit Current(StreamDevice& device) : device_(device), before_(device.enter()) {}
    ~Current() { device_.leave(before_); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    StreamDevice& device_;
    int before_;
  };

 private:
  struct LoadedModule;
  class PreparedKernelLaunch;
  class PreparedClear;
  class StreamTimer;
  class StreamGraph;
  struct Constant {
    std::string name;
    DeviceAddress address = 0;
    std::size_t bytes = 0;
  };

  [[nodiscard]] Result<Kernel*> kernel_of(LoadedModule& module, std::string_view entry);
  [[nodiscard]] Result<const Constant*> constant_of(LoadedModule& module, std::string_view name);
  [[nodiscard]] Result<const Constant*> constant_for(const Launch& launch,
                                                     const ConstantArgument& argument);
  [[nodiscard]] Status set_constants(const Launch& launch);
  void collect_parameters(const Launch& launch);
  [[nodiscard]] Failure launch_failure(int code, const Launch& launch) const;

  const StreamApi& api_;
  DeviceInfo info_;
  void* own_stream_ = nullptr;
  void* stream_ = nullptr;
  bool owns_stream_ = false;
  std::vector<DeviceAddress> allocations_;
  std::vector<void*> events_;  // made as they are needed
  EventId next_event_ = 0;
  // Kept between launches, so that a warm launch allocates nothing.
  std::vector<DeviceAddress> addresses_;
  std::vector<void*> parameters_;
};

/// Returns a Failure from a member function of a StreamDevice when a driver call does not succeed.
#define KILN_STREAM_TRY(outcome, call, ...)                                   \
  do {                                                                        \
    if (const int kiln_code = (call)(__VA_ARGS__); kiln_code != 0) {          \
      return failure_of(kiln_code, kiln::call_name(#call), Outcome::outcome); \
    }                                                                         \
  } while (false)

/// "api().mem_alloc" -> "mem_alloc".
[[nodiscard]] constexpr std::string_view call_name(std::string_view call) {
  const std::size_t dot = call.find_last_of(".>");
  return dot == std::string_view::npos ? call : call.substr(dot + 1);
}

}  // namespace kiln
