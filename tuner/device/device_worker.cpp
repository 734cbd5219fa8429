// The device worker: messages in, TrialEngine calls, reports out.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "core/errors.hpp"
#include "tuner/device/trial_engine.hpp"
#include "tuner/device/worker_loops.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln {
namespace {

enum class Next { go_on, end };

/// Sends the report and decides whether the process is still good for another job.
template <typename Report>
Next answer(BlockingChannel& channel, const Report& report) {
  if (!channel.send(encode(report))) return Next::end;
  return report.failure && report.failure->sticky ? Next::end : Next::go_on;
}

Next serve(TrialEngine& engine, const Frame& frame, BlockingChannel& channel) {
  const std::string type = type_of(frame);
  if (type == ProblemJob::kType) return answer(channel, engine.prepare(decode<ProblemJob>(frame)));
  if (type == TrialJob::kType) {
    const auto checked = [&](const Checked& news) { (void)channel.send(encode(news)); };
    return answer(channel, engine.run(decode<TrialJob>(frame), checked));
  }
  if (type == FinalsJob::kType) return answer(channel, engine.run_finals(decode<FinalsJob>(frame)));
  throw InputError("the device worker was sent an unknown message: '" + type + "'");
}

}  // namespace

void serve_device_jobs(const WorkerOptions& options, const WorkerParts& parts,
                       BlockingChannel& channel) {
  const std::unique_ptr<TrialEngine> engine = parts.open_engine(options);
  const Opened opened{engine->device(), engine->energy_unavailable(), engine->graphs_unavailable()};
  if (!channel.send(encode(opened))) return;
  engine->tell_doing([&](const std::string& what) { (void)channel.send(encode(Doing{what})); });
  while (const auto frame = channel.receive()) {
    if (serve(*engine, *frame, channel) == Next::end) return;
  }
}

}  // namespace kiln
