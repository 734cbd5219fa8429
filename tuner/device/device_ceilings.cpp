// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device_ceilings.hpp"

#include "core/errors.hpp"
#include "tuner/device/worker_loops.hpp"
#include "tuner/workers/message_codec.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {
namespace {

constexpr std::chrono::seconds kCeilingsDeadline{120};

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
      if (type_of(*frame) != Ceilings::kType) {
        throw DeviceError(decode<Unavailable>(*frame).reason);
      }
      return decode<Ceilings>(*frame);
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
