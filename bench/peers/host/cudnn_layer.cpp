// Describes a convolution to cuDNN, asks its heuristics for engines, and runs them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cudnn_layer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#define KILN_DNN(api, call, ...) check_dnn(api, (api).call(__VA_ARGS__), "cuDNN " #call)

namespace kiln::peers {
namespace {

// What a tensor is called in a graph and in a variant pack.
constexpr std::int64_t kInput = 1;
constexpr std::int64_t kFilter = 2;
constexpr std::int64_t kOutput = 3;

DnnObject describe_tensor(const DnnApi& api, const DnnTensor& tensor, DnnType type,
                          std::int64_t id) {
  const std::int64_t alignment = 16;
  DnnObject made(api, DnnKind::tensor);
  made.set(DnnAttribute::tensor_type, DnnValue::data_type, 1, &type)
      .set(DnnAttribute::tensor_dimensions, DnnValue::int64, 4, tensor.extents.data())
      .set(DnnAttribute::tensor_strides, DnnValue::int64, 4, tensor.strides.data())
      .set(DnnAttribute::tensor_id, DnnValue::int64, 1, &id)
      .set(DnnAttribute::tensor_alignment, DnnValue::int64, 1, &alignment)
      .finalize();
  return made;
}

DnnObject describe_convolution(const DnnApi& api, const LayerShape& shape) {
  const DnnType sums = DnnType::f32;
  const std::int64_t dimensions = 2;
  const int cross_correlation = 1;
  DnnObject made(api, DnnKind::convolution);
  made.set(DnnAttribute::convolution_dimensions, DnnValue::int64, 1, &dimensions)
      .set(DnnAttribute::convolution_type, DnnValue::data_type, 1, &sums)
      .set(DnnAttribute::convolution_mode, DnnValue::convolution_mode, 1, &cross_correlation)
      .set(DnnAttribute::convolution_pre_paddings, DnnValue::int64, 2, shape.padding_before.data())
      .set(DnnAttribute::convolution_post_paddings, DnnValue::int64, 2, shape.padding_after.data())
      .set(DnnAttribute::convolution_dilations, DnnValue::int64, 2, shape.dilations.data())
      .set(DnnAttribute::convolution_strides, DnnValue::int64, 2, shape.strides.data())
      .finalize();
  return made;
}

DnnObject describe_forward(const DnnApi& api, const std::vector<DnnObject>& parts) {
  const float alpha = 1;
  const float beta = 0;
  const auto part = [&](std::size_t index) { return parts[index].get(); };
  void* const input = part(0);
  void* const filter = part(1);
  void* const output = part(2);
  void* const convolution = part(3);
  DnnObject made(api, DnnKind::forward);
  made.set(DnnAttribute::forward_input, DnnValue::descriptor, 1, &input)
      .set(DnnAttribute::forward_filter, DnnValue::descriptor, 1, &filter)
      .set(DnnAttribute::forward_output, DnnValue::descriptor, 1, &output)
      .set(DnnAttribute::forward_convolution, DnnValue::descriptor, 1, &convolution)
      .set(DnnAttribute::forward_alpha, DnnValue::f32, 1, &alpha)
      .set(DnnAttribute::forward_beta, DnnValue::f32, 1, &beta)
      .finalize();
  return made;
}

}  // namespace

DnnTensor dense_tensor(std::array<std::int64_t, 4> extents, bool channels_last) {
  const auto [images, channels, rows, columns] = extents;
  static_cast<void>(images);
  if (channels_last) {
    return {extents, {rows * columns * channels, 1, columns * channels, channels}};
  }
  return {extents, {channels * rows * columns, rows * columns, columns, 1}};
}

DnnObject::DnnObject(const DnnApi& api, DnnKind kind) : api_(&api) {
  KILN_DNN(api, make, static_cast<int>(kind), &object_);
}

DnnObject::~DnnObject() {
  if (object_ != nullptr) api_->remove(object_);
}

DnnObject& DnnObject::set(DnnAttribute attribute, DnnValue type, std::int64_t count,
                          const void* values) {
  KILN_DNN(*api_, set, object_, static_cast<int>(attribute), static_cast<int>(type), count, values);
  return *this;
}

DnnObject& DnnObject::finalize() {
  KILN_DNN(*api_, finalize, object_);
  return *this;
}

DnnLayer::DnnLayer(const DnnApi& api, const LayerShape& shape, int wanted)
    : api_(api), only_f32_(shape.dtype == DnnType::f32 && !shape.tensor_cores) {
  described_.push_back(describe_tensor(api, shape.input, shape.dtype, kInput));
  described_.push_back(describe_tensor(api, shape.filter, shape.dtype, kFilter));
  described_.push_back(describe_tensor(api, shape.output, shape.dtype, kOutput));
  described_.push_back(describe_convolution(api, shape));
  described_.push_back(describe_forward(api, described_));
  void* const operation = described_.back().get();
  KILN_DNN(api, create, &handle_);
  DnnObject graph(api, DnnKind::graph);
  graph.set(DnnAttribute::graph_handle, DnnValue::handle, 1, &handle_)
      .set(DnnAttribute::graph_operations, DnnValue::descriptor, 1, &operation)
      .finalize();
  ask(DnnHeuristic::recommended, graph, wanted);
  if (plans_.empty()) ask(DnnHeuristic::fallback, graph, wanted);
  described_.push_back(std::move(graph));
  if (plans_.empty()) throw std::runtime_error("the heuristic found no engine");
}

DnnLayer::~DnnLayer() {
  plans_.clear();
  described_.clear();
  if (handle_ != nullptr) api_.destroy(handle_);
}

void DnnLayer::ask(DnnHeuristic mode, const DnnObject& graph, int wanted) {
  constexpr std::int64_t kMost = 64;  // engine configs that are looked at
  void* const asked = graph.get();
  DnnObject heuristic(api_, DnnKind::heuristic);
  heuristic.set(DnnAttribute::heuristic_graph, DnnValue::descriptor, 1, &asked)
      .set(DnnAttribute::heuristic_mode, DnnValue::heuristic_mode, 1, &mode);
  if (api_.finalize(heuristic.get()) != 0) return;  // it has nothing for such a layer
  std::vector<DnnObject> configs;
  std::vector<void*> places;
  for (std::int64_t i = 0; i < kMost; ++i) {
    configs.emplace_back(api_, DnnKind::engine_config);
    places.push_back(configs.back().get());
  }
  std::int64_t count = 0;
  KILN_DNN(api_, get, heuristic.get(), static_cast<int>(DnnAttribute::heuristic_results),
           static_cast<int>(DnnValue::descriptor), kMost, &count, places.data());
  for (std::int64_t i = 0; i < std::min(count, kMost); ++i) {
    keep(std::move(configs[static_cast<std::size_t>(i)]), static_cast<std::size_t>(wanted));
  }
}

/// Makes a plan of an engine's config where that is possible.
void DnnLayer::keep(DnnObject config, std::size_t wanted) {
  if (plans_.size() >= wanted) return;
  DnnObject engine(api_, DnnKind::engine);
  void* place = engine.get();
  std::int64_t count = 0;
  std::int64_t index = -1;
  std::array<int, kDnnNotes> notes = {};
  std::int64_t note_count = 0;
  const auto get = [&](void* from, DnnAttribute attribute, DnnValue type, std::int64_t room,
                       std::int64_t* got, void* values) {
    return api_.get(from, static_cast<int>(attribute), static_cast<int>(type), room, got, values);
  };
  if (get(config.get(), DnnAttribute::config_engine, DnnValue::descriptor, 1, &count, &place) != 0)
    return;
  get(place, DnnAttribute::engine_index, DnnValue::int64, 1, &count, &index);
  get(place, DnnAttribute::engine_notes, DnnValue::numerical_note, kDnnNotes, &note_count,
      notes.data());
  const auto known = static_cast<std::size_t>(std::min<std::int64_t>(note_count, kDnnNotes));
  if (only_f32_ && std::count(notes.begin(), notes.begin() + known, kDnnNoteTensorCore) > 0) return;
  DnnObject plan(api_, DnnKind::plan);
  void* const chosen = config.get();
  plan.set(DnnAttribute::plan_handle, DnnValue::handle, 1, &handle_)
      .set(DnnAttribute::plan_config, DnnValue::descriptor, 1, &chosen);
  if (api_.finalize(plan.get()) != 0) return;  // the engine does not take this layer
  std::int64_t bytes = 0;
  KILN_DNN(api_, get, plan.get(), static_cast<int>(DnnAttribute::plan_workspace_bytes),
           static_cast<int>(DnnValue::int64), 1, &count, &bytes);
  described_.push_back(std::move(config));
  plans_.push_back({std::move(plan), index, bytes});
}

std::string DnnLayer::describe(int index) const {
  const Plan& plan = plans_[static_cast<std::size_t>(index)];
  return fmt::format("engine {}, workspace {} bytes", plan.engine, plan.workspace_bytes);
}

std::int64_t DnnLayer::workspace_bytes() const {
  std::int64_t most = 0;
  for (const Plan& plan : plans_) most = std::max(most, plan.workspace_bytes);
  return most;
}

void DnnLayer::run(int index, const void* input, const void* filter, void* output, void* workspace,
                   void* stream) const {
  const std::array<std::int64_t, 3> ids = {kInput, kFilter, kOutput};
  const std::array<const void*, 3> pointers = {input, filter, output};
  DnnObject pack(api_, DnnKind::pack);
  pack.set(DnnAttribute::pack_ids, DnnValue::int64, 3, ids.data())
      .set(DnnAttribute::pack_pointers, DnnValue::pointer, 3, pointers.data())
      .set(DnnAttribute::pack_workspace, DnnValue::pointer, 1, &workspace)
      .finalize();
  KILN_DNN(api_, set_stream, handle_, stream);
  KILN_DNN(api_, execute, handle_, plans_[static_cast<std::size_t>(index)].plan.get(), pack.get());
}

}  // namespace kiln::peers
