// Memory, time and the queue. Launching is in opencl_launch.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/opencl_device.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "backends/alignment.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr EventId kOpenClEventCount = 4096;

/// Waiting reports the faults of earlier kernels.
Failure wait_failure(cl_int code, std::string_view call) {
  return opencl_failure(code, call, Outcome::device_fault);
}

}  // namespace

OpenClDevice::OpenClDevice(OpenClDeviceEntry entry, OwnedContext context, OwnedQueue own_queue,
                           QueueOwner owner)
    : entry_(std::move(entry)),
      context_(std::move(context)),
      own_queue_(std::move(own_queue)),
      owner_(owner),
      queue_(own_queue_.get()),
      max_constant_bytes_(device_property<cl_ulong>(entry_.id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE)),
      events_(kOpenClEventCount) {
  inspect_queue();
}

// A program may end right after this, and PoCL, which compiles a kernel while it runs it, does not
// survive that.
OpenClDevice::~OpenClDevice() {
  if (owner_ == QueueOwner::device) opencl().finish(own_queue_.get());
}

void OpenClDevice::inspect_queue() {
  cl_command_queue_properties properties = 0;
  const cl_int code = opencl().get_command_queue_info(queue_, CL_QUEUE_PROPERTIES,
                                                      sizeof properties, &properties, nullptr);
  if (code != CL_SUCCESS) throw DeviceError(opencl_failure(code, "clGetCommandQueueInfo").message);
  has_profiling_ = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  out_of_order_ = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

/// A caller's queue may reorder: a barrier after each command makes it behave like ours.
Status OpenClDevice::keep_order() {
  if (out_of_order_) KILN_OPENCL_TRY(enqueue_barrier_with_wait_list, queue_, 0, nullptr, nullptr);
  return Done{};
}

cl_command_queue OpenClDevice::queue_or_own(void* queue) const {
  return queue != nullptr ? static_cast<cl_command_queue>(queue) : own_queue_.get();
}

void OpenClDevice::use_queue(void* queue) {
  queue_ = queue_or_own(queue);
  inspect_queue();
}

// --- Memory -------------------------------------------------------------------------------------

/// Drivers that commit memory late would accept it and die in the kernel.
Status OpenClDevice::check_room(std::size_t bytes) const {
  const auto limit = static_cast<std::size_t>(entry_.info.global_bytes);
  if (bytes <= limit && allocated_bytes_ <= limit - bytes) return Done{};
  return Failure{Outcome::out_of_memory, fmt::format("{} bytes asked for, {} of {} in use", bytes,
                                                     allocated_bytes_, limit)};
}

Result<Buffer> OpenClDevice::allocate(std::size_t bytes) {
  if (Status status = check_room(bytes); !status) return status.failure();
  cl_int code = CL_SUCCESS;
  OwnedMemory memory = own(opencl().create_buffer(context_.get(), CL_MEM_READ_WRITE,
                                                  std::max<std::size_t>(bytes, 1), nullptr, &code));
  if (code != CL_SUCCESS)
    return opencl_failure(code, fmt::format("clCreateBuffer of {} bytes", bytes));
  if (!entry_.info.is_cpu) {
    // GPU drivers commit at first use: ask now, so that running out of memory is seen here.
    cl_mem handle = memory.get();
    KILN_OPENCL_TRY(enqueue_migrate_mem_objects, queue_, 1, &handle,
                    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, nullptr, nullptr);
    KILN_OPENCL_TRY(finish, queue_);
  }
  const Buffer buffer{reinterpret_cast<std::uintptr_t>(memory.get()), bytes, 0};
  allocations_.push_back({FencedPages(), std::move(memory), bytes});
  allocated_bytes_ += bytes;
  return buffer;
}

Result<Buffer> OpenClDevice::allocate_fenced(std::size_t bytes) {
  if (!entry_.info.is_cpu) return Device::allocate_fenced(bytes);
  const std::size_t used = round_up(bytes, kWindowAlignment);
  if (Status status = check_room(used); !status) return status.failure();
  Result<FencedPages> pages = FencedPages::map(used);
  if (!pages) return pages.failure();
  cl_int code = CL_SUCCESS;
  OwnedMemory memory =
      own(opencl().create_buffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                 pages->bytes(), pages->data(), &code));
  if (code != CL_SUCCESS)
    return opencl_failure(code, fmt::format("clCreateBuffer of {} bytes in place", bytes));
  const std::size_t mapped = pages->bytes();
  const Buffer buffer{reinterpret_cast<std::uintptr_t>(memory.get()), used, mapped - used};
  allocated_bytes_ += mapped;
  allocations_.push_back({std::move(*pages), std::move(memory), mapped});
  return buffer;
}

void OpenClDevice::release(Buffer buffer) {
  std::erase_if(windows_, [&](const Window& window) { return window.parent == buffer.handle; });
  const auto found = std::find_if(
      allocations_.begin(), allocations_.end(),
      [&](const Allocation& allocation) { return allocation.memory.get() == as_memory(buffer); });
  if (found == allocations_.end()) return;
  if (found->pages.data() != nullptr) opencl().finish(queue_);  // who still uses it would fault
  allocated_bytes_ -= found->bytes;
  allocations_.erase(found);
}

Status OpenClDevice::upload(Buffer to, std::size_t offset, std::span<const std::byte> from) {
  if (from.empty()) return Done{};
  const cl_int code =
      opencl().enqueue_write_buffer(queue_, as_memory(to), CL_TRUE, to.offset + offset, from.size(),
                                    from.data(), 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return wait_failure(code, "clEnqueueWriteBuffer");
  return keep_order();
}

Status OpenClDevice::download(Buffer from, std::size_t offset, std::span<std::byte> to) {
  if (to.empty()) return Done{};
  const cl_int code =
      opencl().enqueue_read_buffer(queue_, as_memory(from), CL_TRUE, from.offset + offset,
                                   to.size(), to.data(), 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return wait_failure(code, "clEnqueueReadBuffer");
  return keep_order();
}

Status OpenClDevice::copy(Buffer from, std::size_t from_offset, Buffer to, std::size_t to_offset,
                          std::size_t bytes) {
  if (bytes == 0) return Done{};
  KILN_OPENCL_TRY(enqueue_copy_buffer, queue_, as_memory(from), as_memory(to),
                  from.offset + from_offset, to.offset + to_offset, bytes, 0, nullptr, nullptr);
  return keep_order();
}

Status OpenClDevice::fill(Buffer to, std::size_t offset, std::size_t bytes, std::uint8_t byte) {
  if (bytes == 0) return Done{};
  const cl_int code = enqueue_fill(queue_, as_memory(to), to.offset + offset, bytes, byte,
                                   widest_fill(entry_.info));
  if (code != CL_SUCCESS) return opencl_failure(code, "clEnqueueFillBuffer");
  return keep_order();
}

cl_int enqueue_fill(cl_command_queue queue, cl_mem memory, std::size_t offset, std::size_t bytes,
                    std::uint8_t byte, std::size_t widest) {
  std::array<std::uint8_t, 16> pattern{};
  pattern.fill(byte);
  std::size_t width = std::min(widest, pattern.size());
  while (offset % width != 0 || bytes % width != 0) width /= 2;
  return opencl().enqueue_fill_buffer(queue, memory, pattern.data(), width, offset, bytes, 0,
                                      nullptr, nullptr);
}

// --- Time ---------------------------------------------------------------------------------------

Result<EventId> OpenClDevice::record() {
  const EventId id = next_event_;
  Event& event = events_[id];
  event.marker.reset();
  if (has_profiling_) {
    cl_event marker = nullptr;
    KILN_OPENCL_TRY(enqueue_marker_with_wait_list, queue_, 0, nullptr, &marker);
    event.marker = own(marker);
    if (Status status = keep_order(); !status) return status.failure();
  } else {
    if (Status status = synchronize(); !status) return status.failure();
    event.host_time = std::chrono::steady_clock::now();
  }
  next_event_ = (next_event_ + 1) % kOpenClEventCount;
  return id;
}

Result<double> OpenClDevice::elapsed_ns(EventId from, EventId to) {
  const Event& first = events_[from % kOpenClEventCount];
  const Event& second = events_[to % kOpenClEventCount];
  if (first.marker == nullptr || second.marker == nullptr) {
    return std::chrono::duration<double, std::nano>(second.host_time - first.host_time).count();
  }
  const std::array<cl_event, 2> markers = {first.marker.get(), second.marker.get()};
  const cl_int waited = opencl().wait_for_events(2, markers.data());
  if (waited != CL_SUCCESS) return wait_failure(waited, "clWaitForEvents");
  std::array<cl_ulong, 2> ends{};
  for (std::size_t i = 0; i < markers.size(); ++i) {
    KILN_OPENCL_TRY(get_event_profiling_info, markers[i], CL_PROFILING_COMMAND_END, sizeof ends[i],
                    &ends[i], nullptr);
  }
  return static_cast<double>(ends[1]) - static_cast<double>(ends[0]);
}

Status OpenClDevice::synchronize() {
  const cl_int code = opencl().finish(queue_);
  if (code != CL_SUCCESS) return wait_failure(code, "clFinish");
  return Done{};
}

Result<std::unique_ptr<Module>> OpenClDevice::load(const Binary& binary) {
  return load_opencl_module(context_.get(), entry_.id, binary);
}

}  // namespace kiln
