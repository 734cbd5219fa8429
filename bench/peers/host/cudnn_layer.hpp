// DnnLayer: one convolution of cuDNN with its descriptors, and the engines that its heuristic
// proposes for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/peers/host/cudnn_api.hpp"

namespace kiln::peers {

/// A tensor of four dimensions: images (or channels of the output), channels, rows, columns, in
/// this order whatever the layout is.
struct DnnTensor {
  std::array<std::int64_t, 4> extents = {};
  std::array<std::int64_t, 4> strides = {};  ///< elements
};

/// Strides of a dense tensor, channels last or not.
[[nodiscard]] DnnTensor dense_tensor(std::array<std::int64_t, 4> extents, bool channels_last);

struct LayerShape {
  DnnType dtype = DnnType::f32;
  bool tensor_cores = true;  ///< of f32 too, where they round its operands
  DnnTensor input;
  DnnTensor filter;
  DnnTensor output;
  std::array<std::int64_t, 2> strides = {1, 1};  ///< down, across
  std::array<std::int64_t, 2> dilations = {1, 1};
  std::array<std::int64_t, 2> padding_before = {};
  std::array<std::int64_t, 2> padding_after = {};
};

/// A descriptor of cuDNN's, removed at the end of its scope.
class DnnObject {
 public:
  DnnObject(const DnnApi& api, DnnKind kind);
  ~DnnObject();
  DnnObject(DnnObject&& other) noexcept : api_(other.api_), object_(other.object_) {
    other.object_ = nullptr;
  }
  DnnObject& operator=(DnnObject&&) = delete;

  DnnObject& set(DnnAttribute attribute, DnnValue type, std::int64_t count, const void* values);
  DnnObject& finalize();
  [[nodiscard]] void* get() const { return object_; }

 private:
  const DnnApi* api_;
  void* object_ = nullptr;
};

class DnnLayer {
 public:
  /// Asks the heuristic for engines and keeps the first `wanted` that can run. Of those for f32
  /// operands only such as compute in f32. `api` must outlive the layer. Throws std::runtime_error
  /// with cuDNN's status, e.g. when it has no engine for the layer.
  DnnLayer(const DnnApi& api, const LayerShape& shape, int wanted);
  ~DnnLayer();
  DnnLayer(const DnnLayer&) = delete;
  DnnLayer& operator=(const DnnLayer&) = delete;

  [[nodiscard]] int count() const { return static_cast<int>(plans_.size()); }
  /// "engine 37"
  [[nodiscard]] std::string describe(int index) const;
  /// The most that any of the engines needs.
  [[nodiscard]] std::int64_t workspace_bytes() const;
  /// Enqueues the layer with engine `index` on a cudaStream_t; does not wait.
  void run(int index, const void* input, const void* filter, void* output, void* workspace,
           void* stream) const;

 private:
  struct Plan {
    DnnObject plan;
    std::int64_t engine;
    std::int64_t workspace_bytes;
  };

  void ask(DnnHeuristic mode, const DnnObject& graph, int wanted);
  void keep(DnnObject config, std::size_t wanted);

  const DnnApi& api_;
  bool only_f32_;
  void* handle_ = nullptr;
  std::vector<DnnObject> described_;  // what the plans refer to
  std::vector<Plan> plans_;           // in the heuristic's order, usable ones only
};

}  // namespace kiln::peers
