// The peers from cuDNN: for one layer or image filter each engine that its heuristic proposes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "bench/peers/host/cudnn_layer.hpp"
#include "bench/peers/host/load_error.hpp"
#include "bench/peers/peer.hpp"

namespace kiln::peers {
namespace {

constexpr int kEngines = 8;

LayerShape layer_shape(const Workload& workload) {
  const auto field = [&](const char* name) { return workload.problem.integer(name); };
  const bool last = workload.is("layout", "nhwc");
  const std::int64_t reach_h = (field("fh") - 1) * field("dilation") + 1;
  const std::int64_t reach_w = (field("fw") - 1) * field("dilation") + 1;
  const std::int64_t out_h =
      (field("h") + field("pad_h") + field("pad_bottom") - reach_h) / field("stride") + 1;
  const std::int64_t out_w =
      (field("w") + field("pad_w") + field("pad_right") - reach_w) / field("stride") + 1;
  LayerShape shape;
  shape.dtype = workload.output_dtype == DType::f16    ? DnnType::f16
                : workload.output_dtype == DType::bf16 ? DnnType::bf16
                                                       : DnnType::f32;
  shape.tensor_cores = !workload.is("precision", "highest");
  shape.input = dense_tensor({field("n"), field("c"), field("h"), field("w")}, last);
  shape.filter =
      dense_tensor({field("k"), field("c") / field("groups"), field("fh"), field("fw")}, last);
  shape.output = dense_tensor({field("n"), field("k"), out_h, out_w}, last);
  shape.strides = {field("stride"), field("stride")};
  shape.dilations = {field("dilation"), field("dilation")};
  shape.padding_before = {field("pad_h"), field("pad_w")};
  shape.padding_after = {field("pad_bottom"), field("pad_right")};
  return shape;
}

/// The layer with its memory; the operands are the workload's.
class DnnWorkload {
 public:
  explicit DnnWorkload(const Workload& workload)
      : layer_(cudnn(), layer_shape(workload), kEngines),
        input_(workload.inputs.at("in").data()),
        filter_(workload.inputs.at("filter").data()),
        output_(workload.output_dtype, workload.output_count),
        workspace_(std::max<std::int64_t>(16, layer_.workspace_bytes())) {}

  [[nodiscard]] const DnnLayer& layer() const { return layer_; }
  [[nodiscard]] const DeviceArray& output() const { return output_; }
  void run(int index, cudaStream_t stream) const {
    layer_.run(index, input_, filter_, output_.data(), workspace_.data(), stream);
  }

 private:
  DnnLayer layer_;
  const void* input_;
  const void* filter_;
  DeviceArray output_;
  DeviceArray workspace_;
};

class DnnConvolution final : public Peer {
 public:
  DnnConvolution(std::shared_ptr<const DnnWorkload> workload, int index)
      : workload_(std::move(workload)), index_(index) {}

  std::string name() const override { return fmt::format("cuDNN no. {}", index_ + 1); }
  void run(cudaStream_t stream) override { workload_->run(index_, stream); }
  const DeviceArray* result() const override { return &workload_->output(); }
  std::optional<Choice> choice() const override {
    return Choice{"cuDNN", index_, workload_->layer().describe(index_)};
  }

 private:
  std::shared_ptr<const DnnWorkload> workload_;
  int index_;
};

}  // namespace

const std::string& why_no_cudnn() {
  static const std::string reason = load_error(cudnn);
  return reason;
}

void add_cudnn(const Workload& workload, Peers& peers, std::vector<std::string>& notes) {
  if (workload.kernel != "convolution" || !why_no_cudnn().empty()) return;
  try {
    const auto shared = std::make_shared<const DnnWorkload>(workload);
    for (int i = 0; i < shared->layer().count(); ++i)
      peers.push_back(std::make_unique<DnnConvolution>(shared, i));
  } catch (const std::exception& error) {
    notes.push_back(fmt::format("cuDNN: {}", error.what()));
  }
}

}  // namespace kiln::peers
