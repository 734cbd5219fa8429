// The one interface to CUDA, HIP and OpenCL: about a dozen calls, everything else is above it.
//
// A Backend finds devices and makes Compilers and Devices. Vendor libraries are loaded by the first
// call that needs them, never at start-up; the supervisor process of the tuner never makes that
// call. PoCL and hipRTC cannot live in one process (both carry LLVM), so one process uses one
// backend. How to add a backend: docs/add_a_backend.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/artifact.hpp"
#include "core/device.hpp"
#include "core/launch_plan.hpp"
#include "core/result.hpp"
#include "core/trial.hpp"

namespace kiln {

/// Device memory. A plain handle: Device::release frees it, Device's destructor frees what is left.
struct Buffer {
  std::uintptr_t handle = 0;  ///< CUdeviceptr, hipDeviceptr_t or cl_mem
  std::size_t bytes = 0;
  /// Bytes from `handle` to the first byte, so that {handle, n, 256} is a window; every call
  /// honours it. A window that a kernel sees must start at a multiple of 256 bytes.
  std::size_t offset = 0;
};

/// A loaded program. Owned by the caller; must not outlive its Device.
class Module {
 public:
  virtual ~Module() = default;
};

/// A tensor map as a kernel takes it, by value. Made by Device::encode.
struct alignas(64) TensorMapBytes {
  std::array<std::byte, 128> bytes{};
};

/// One kernel argument in the order of the kernel's parameters.
struct KernelArgument {
  enum class Kind { buffer, scalar, tensor_map, local } kind = Kind::buffer;
  Buffer buffer;
  std::array<std::byte, 8> scalar{};  ///< value in the machine's byte order
  std::size_t scalar_bytes = 0;       ///< local: of memory that a block shares; OpenCL only
  const TensorMapBytes* tensor_map = nullptr;  ///< must live as long as the launch is used
};

/// A read-only argument that the kernel sees in constant memory under `name`.
struct ConstantArgument {
  std::string name;
  Buffer buffer;
  std::size_t bytes = 0;
};

struct Launch {
  Module* module = nullptr;
  std::string_view entry;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};     ///< blocks
  std::array<std::uint32_t, 3> block = {1, 1, 1};    ///< threads
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};  ///< blocks per cluster; {1,1,1}: none
  std::uint32_t shared_bytes = 0;                    ///< dynamic shared memory
  std::span<const KernelArgument> arguments;
  std::span<const ConstantArgument> constants;
  bool programmatic = false;  ///< may begin before the launch in front of it has ended
};

/// Does it pass a tensor map? Backends without them refuse such a launch.
[[nodiscard]] inline bool takes_tensor_maps(const Launch& launch) {
  return std::any_of(launch.arguments.begin(), launch.arguments.end(), [](const auto& argument) {
    return argument.kind == KernelArgument::Kind::tensor_map;
  });
}

/// A launch or a clearing on one queue with all done beforehand that can be: names looked up,
/// limits checked, memory for parameters made. Must not outlive its Device and Module. One thread
/// at a time; different ones, also of one Device, may run in different threads.
class PreparedLaunch {
 public:
  virtual ~PreparedLaunch() = default;
  /// Puts it on its queue with the values that its arguments hold now. Allocates nothing.
  [[nodiscard]] virtual Status run() = 0;
};

/// Times work on one queue and never waits for it: an application's own launches are timed so. One
/// measurement at a time. Must not outlive its Device. One thread at a time; different ones, also
/// of one Device, may run in different threads.
class QueueTimer {
 public:
  virtual ~QueueTimer() = default;
  [[nodiscard]] virtual Status start() = 0;
  [[nodiscard]] virtual Status stop() = 0;
  /// Nanoseconds from start() to stop() on the queue; nullopt: the work has not ended.
  [[nodiscard]] virtual Result<std::optional<double>> elapsed_ns() = 0;
};

/// Work that was put on a device's queue while it was captured, ready to be run as one. Must not
/// outlive its Device, nor what the work refers to.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
  /// Puts all of it on the device's queue; does not wait.
  [[nodiscard]] virtual Status replay() = 0;
};

/// Turns sources into binaries for one architecture. CUDA and HIP need no device for it. One
/// thread.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// A Failure is {compile_error, the compiler's log with template places}.
  [[nodiscard]] virtual Result<Binary> compile(const Source& source) = 0;
  /// What the binaries of later calls are for; BinaryUse::kept without this call.
  virtual void prepare_for(BinaryUse) {}
};

/// A point on a device's queue, made by Device::record.
using EventId = std::uint32_t;

/// Caller's own objects, for applications: which of them are used depends on the backend.
struct NativeQueue {
  void* context = nullptr;  ///< CUcontext (nullptr: the current one), hipCtx_t (unused), cl_context
  void* device = nullptr;   ///< cl_device_id; others: ignored
  void* queue = nullptr;    ///< CUstream/cudaStream_t, hipStream_t, cl_command_queue
};

/// One open device with one in-order queue. Calls are asynchronous where the vendor's are; a
/// failure of earlier work may surface in a later call. Not thread-safe. After a sticky failure
/// only destruction is safe, and the process should end.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  // Memory: sizes and offsets in bytes.
  [[nodiscard]] virtual Result<Buffer> allocate(std::size_t bytes) = 0;  ///< aligned to 256 bytes
  /// `bytes`, rounded up to a multiple of 256, with a fence behind them: a kernel that reads or
  /// writes there faults. For small buffers: each takes whole pages of the device, and at most a
  /// twentieth of its memory is given. A Failure, not sticky, where the backend or the device has
  /// no fences. The result has an offset; all calls take it like any other.
  [[nodiscard]] virtual Result<Buffer> allocate_fenced(std::size_t /*bytes*/) {
    return Failure{Outcome::launch_error, "this backend fences no memory"};
  }
  virtual void release(Buffer buffer) = 0;
  [[nodiscard]] virtual Status upload(Buffer to, std::size_t offset,
                                      std::span<const std::byte> from) = 0;  ///< blocks
  [[nodiscard]] virtual Status download(Buffer from, std::size_t offset,
                                        std::span<std::byte> to) = 0;  ///< blocks
  [[nodiscard]] virtual Status copy(Buffer from, std::size_t from_offset, Buffer to,
                                    std::size_t to_offset, std::size_t bytes) = 0;
  [[nodiscard]] virtual Status fill(Buffer to, std::size_t offset, std::size_t bytes,
                                    std::uint8_t byte) = 0;

  // Programs.
  [[nodiscard]] virtual Result<std::unique_ptr<Module>> load(const Binary& binary) = 0;
  [[nodiscard]] virtual Status launch(const Launch& launch) = 0;

  /// `plan` for memory at `buffer` (the plan's whole buffer). Any thread.
  [[nodiscard]] virtual Result<TensorMapBytes> encode(const TensorMapPlan& /*plan*/,
                                                      const Buffer& /*buffer*/) {
    return Failure{Outcome::launch_error, "this backend has no tensor maps"};
  }

  // The same for applications: once made, they need the Device no more. What `launch.arguments`,
  // `launch.constants` and `buffer` refer to, and the texts, must live as long as the result;
  // `queue` as in use_queue().
  [[nodiscard]] virtual Result<std::unique_ptr<PreparedLaunch>> prepare_launch(
      const Launch& /*launch*/, void* /*queue*/) {
    return Failure{Outcome::launch_error, "this backend prepares no launches"};
  }
  /// Sets the bytes of `buffer` to 0.
  [[nodiscard]] virtual Result<std::unique_ptr<PreparedLaunch>> prepare_clear(
      const Buffer& /*buffer*/, void* /*queue*/) {
    return Failure{Outcome::launch_error, "this backend prepares no launches"};
  }

  // Time: events on the queue. Ids are reused round-robin from a pool of at least 4096.
  [[nodiscard]] virtual Result<EventId> record() = 0;
  /// Nanoseconds between two recorded events; blocks until the second has happened.
  [[nodiscard]] virtual Result<double> elapsed_ns(EventId from, EventId to) = 0;
  [[nodiscard]] virtual Status synchronize() = 0;
  /// A timer on `queue`, as in use_queue(). A Failure where the queue keeps no times.
  [[nodiscard]] virtual Result<std::unique_ptr<QueueTimer>> make_timer(void* /*queue*/) {
    return Failure{Outcome::launch_error, "this backend has no timers"};
  }

  // Graphs.
  /// Why work cannot be captured; empty: it can.
  [[nodiscard]] virtual std::string graphs_unavailable() {
    return "the backend has no graphs of captured launches";
  }
  /// Calls `work`, which puts launches, fills and copies on the device's queue; none of them runs.
  /// Returns them as one graph. `work` must neither wait nor record events. A Failure of `work` is
  /// returned, and the queue is as before.
  [[nodiscard]] virtual Result<std::unique_ptr<CapturedGraph>> capture(
      const std::function<Status()>& /*work*/) {
    return Failure{Outcome::launch_error, graphs_unavailable()};
  }
  /// Whether `queue` (nullptr: the device's own) is being captured into a graph. Any thread.
  [[nodiscard]] virtual bool is_capturing(void* /*queue*/) { return false; }
  /// Lets the calling thread allocate memory and load programs, from now on, while other threads
  /// capture streams.
  virtual void work_beside_captures() {}

  /// Uses another queue of the same context from now on (launcher); nullptr queue: the device's
  /// own.
  virtual void use_queue(void* queue) = 0;
  /// The objects that a library of the vendor needs to work on this device's queue; null where the
  /// backend does not say.
  [[nodiscard]] virtual NativeQueue native() { return {}; }
  /// How the device runs at this moment. 0 is "not known", for `throttle` it is "unknown".
  struct ClockState {
    std::int64_t clock_khz = 0;  ///< of the cores
    std::int64_t memory_clock_khz = 0;
    std::int64_t temperature_c = 0;  ///< of the chip
    std::int64_t power_mw = 0;       ///< of the board
    bool throttled = false;
    std::string throttle = kThrottleUnknown;  ///< as in Samples::throttle
  };
  [[nodiscard]] virtual ClockState clock_state() { return {}; }

  // Energy.
  /// Why it cannot be measured; empty: it can.
  [[nodiscard]] virtual std::string energy_unavailable() {
    return "the backend has no meter of energy";
  }
  /// Joules that the device has used since some moment: differences count. The meter moves in
  /// steps of up to 0.1 s. nullopt: it does not answer.
  [[nodiscard]] virtual std::optional<double> energy_j() { return std::nullopt; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns the options that its compilers add to those of a source, without the architecture, as
  /// far as they change the binary. Part of the key of cached binaries. Loads no library.
  [[nodiscard]] virtual std::string compiler_options() const = 0;
  /// Loads the vendor library. Throws DeviceError("unavailable: reason") when it is not there or
  /// reports no device.
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
  /// A compiler for `target.architecture`. Throws DeviceError when the compiler library is missing
  /// or does not know the architecture (asked, never tried: an unknown one can abort the process).
  [[nodiscard]] virtual std::unique_ptr<Compiler> open_compiler(const DeviceInfo& target) = 0;
  [[nodiscard]] virtual std::unique_ptr<Device> open_device(int ordinal) = 0;
  /// A Device over the caller's context and queue; owns neither.
  [[nodiscard]] virtual std::unique_ptr<Device> attach(const NativeQueue& native) = 0;
};

/// "cuda", "hip", "opencl": all that were built in, in order of preference.
[[nodiscard]] std::span<const std::string_view> backend_names();

/// Throws UsageError naming the backends for an unknown name. Loads nothing yet.
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view name);

}  // namespace kiln
