// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device_ceilings.hpp"

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "tuner/device/worker_loops.hpp"
#include "tuner/workers/messages.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {
namespace {

constexpr std::chrono::seconds kCeilingsDeadline{120};
constexpr const char* kType = "ceilings";

Frame encode(const Ceilings& ceilings) {
  const Json header = {{"type", kType},
                       {"read_bytes_per_s", ceilings.read_bytes_per_s},
                       {"copy_bytes_per_s", ceilings.copy_bytes_per_s},
                       {"f32_flops", ceilings.f32_flops},
                       {"f64_flops", ceilings.f64_flops}};
  return {header.dump(), {}};
}

Ceilings decode(const Frame& frame) {
  const Json header = Json::parse(frame.header);
  return {header.at("read_bytes_per_s"), header.at("copy_bytes_per_s"), header.at("f32_flops"),
          header.at("f64_flops")};
}

}  // namespace

void serve_ceilings(const WorkerOptions& options, BlockingChannel& channel) {
  const std::unique_ptr<Backend> backend = make_backend(options.backend);
  const std::unique_ptr<Device> device = backend->open_device(options.device);
  const std::unique_ptr<Compiler> compiler = backend->open_compiler(device->info());
  const Result<Ceilings> ceilings = measure_ceilings(*device, *compiler);
  if (!ceilings) {
    throw DeviceError("the ceilings cannot be measured: " + ceilings.failure().message);
  }
  static_cast<void>(channel.send(encode(*ceilings)));
}

Ceilings measure_device_ceilings(const std::string& backend, int ordinal,
                                 const std::filesystem::path& worker_program) {
  WorkerHost host(worker_program);
  WorkerProcess worker(host.command({WorkerKind::ceilings, backend, ordinal}));
  worker.set_deadline(Clock::now() + kCeilingsDeadline);
  WorkerProcess* const workers[] = {&worker};
  while (true) {
    poll_workers(workers, Clock::now() + kCeilingsDeadline);
    if (const std::optional<Frame> frame = worker.receive()) {
      if (type_of(*frame) != kType) {
        throw DeviceError(decode_unavailable(*frame).reason);
      }
      return decode(*frame);
    }
    if (!worker.alive()) {
      throw DeviceError("the ceilings cannot be measured: " + worker.obituary());
    }
    if (worker.overdue()) {
      throw DeviceError("the ceilings cannot be measured: no answer within " +
                        std::to_string(kCeilingsDeadline.count()) + " s");
    }
  }
}

}  // namespace kiln
