// Graphs of captured launches of CUDA and HIP devices.
// SPDX-License-Identifier: Apache-2.0

#include "backends/stream_device.hpp"

namespace kiln {

class StreamDevice::StreamGraph final : public CapturedGraph {
 public:
  StreamGraph(StreamDevice& device, void* executable) : device_(device), executable_(executable) {}
  ~StreamGraph() override {
    const Current current(device_);
    device_.api_.graph_executable_destroy(executable_);
  }
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;

  Status replay() override {
    const Current current(device_);
    const int code = device_.api_.graph_launch(executable_, device_.stream_);
    if (code == 0) return Done{};
    return device_.failure_of(code, "graph_launch", Outcome::launch_error);
  }

 private:
  StreamDevice& device_;
  void* executable_;
};

std::string StreamDevice::graphs_unavailable() {
  return api_.has_graphs() ? "" : "this driver has no graphs of captured launches";
}

Result<std::unique_ptr<CapturedGraph>> StreamDevice::capture(const std::function<Status()>& work) {
  if (!api_.has_graphs()) return Failure{Outcome::launch_error, graphs_unavailable()};
  const Current current(*this);
  KILN_STREAM_TRY(launch_error, api_.begin_capture, stream_, kCaptureRelaxed);
  void* graph = nullptr;
  Status done = Done{};
  try {
    done = work();
  } catch (...) {
    if (api_.end_capture(stream_, &graph) == 0) api_.graph_destroy(graph);
    throw;
  }
  const int ended = api_.end_capture(stream_, &graph);  // in any case: the stream is usable again
  if (!done) {
    if (ended == 0) api_.graph_destroy(graph);
    return done.failure();
  }
  if (ended != 0) return failure_of(ended, "end_capture", Outcome::launch_error);
  void* executable = nullptr;
  const int made = api_.graph_instantiate(&executable, graph, 0);
  api_.graph_destroy(graph);
  if (made != 0) return failure_of(made, "graph_instantiate", Outcome::launch_error);
  return std::unique_ptr<CapturedGraph>(std::make_unique<StreamGraph>(*this, executable));
}

bool StreamDevice::is_capturing(void* queue) {
  if (api_.is_capturing == nullptr) return false;
  const Current current(*this);
  int state = kCaptureNone;
  const int code = api_.is_capturing(queue != nullptr ? queue : own_stream_, &state);
  return code == 0 && state != kCaptureNone;
}

void StreamDevice::work_beside_captures() {
  int mode = kCaptureRelaxed;
  if (api_.exchange_capture_mode != nullptr) (void)api_.exchange_capture_mode(&mode);
}

}  // namespace kiln
