// Our declarations of cuDNN's calls and numbers against NVIDIA's header, where that is found at
// build time; and what a layer is described with.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/peers/host/cudnn_api.hpp"
#include "bench/peers/host/cudnn_layer.hpp"
#include "tests/backends/same_call.hpp"

#ifdef KILN_HAS_CUDNN_HEADER
#include <cudnn_graph.h>
#endif

namespace kiln::peers {
namespace {

TEST(CudnnLayer, StridesTellTheLayout) {
  using ::testing::ElementsAre;
  EXPECT_THAT(dense_tensor({2, 3, 5, 7}, false).strides, ElementsAre(105, 35, 7, 1));
  EXPECT_THAT(dense_tensor({2, 3, 5, 7}, true).strides, ElementsAre(105, 1, 21, 3));
}

#ifdef KILN_HAS_CUDNN_HEADER

TEST(CudnnHeader, AgreesOnTheCalls) {
#define KILN_COMPARE(member, symbol, ...) \
  static_assert(SameCall<decltype(DnnApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_CUDNN_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
  static_assert(SameCall<decltype(DnnApi::version), decltype(&::cudnnGetVersion)>::value);
  static_assert(SameCall<decltype(DnnApi::status_name), decltype(&::cudnnGetErrorString)>::value);
}

TEST(CudnnHeader, AgreesOnTypesAndKinds) {
  EXPECT_NUMBER(DnnType::f32, CUDNN_DATA_FLOAT);
  EXPECT_NUMBER(DnnType::f16, CUDNN_DATA_HALF);
  EXPECT_NUMBER(DnnType::bf16, CUDNN_DATA_BFLOAT16);
  EXPECT_NUMBER(DnnValue::handle, CUDNN_TYPE_HANDLE);
  EXPECT_NUMBER(DnnValue::data_type, CUDNN_TYPE_DATA_TYPE);
  EXPECT_NUMBER(DnnValue::int64, CUDNN_TYPE_INT64);
  EXPECT_NUMBER(DnnValue::f32, CUDNN_TYPE_FLOAT);
  EXPECT_NUMBER(DnnValue::pointer, CUDNN_TYPE_VOID_PTR);
  EXPECT_NUMBER(DnnValue::convolution_mode, CUDNN_TYPE_CONVOLUTION_MODE);
  EXPECT_NUMBER(DnnValue::heuristic_mode, CUDNN_TYPE_HEUR_MODE);
  EXPECT_NUMBER(DnnValue::numerical_note, CUDNN_TYPE_NUMERICAL_NOTE);
  EXPECT_NUMBER(DnnValue::descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::engine_config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::heuristic, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::forward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  EXPECT_NUMBER(DnnKind::tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  EXPECT_NUMBER(DnnHeuristic::recommended, CUDNN_HEUR_MODE_A);
  EXPECT_NUMBER(DnnHeuristic::fallback, CUDNN_HEUR_MODE_FALLBACK);
  EXPECT_EQ(kDnnNoteTensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  EXPECT_GE(kDnnNotes, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

TEST(CudnnHeader, AgreesOnAttributes) {
  EXPECT_NUMBER(DnnAttribute::convolution_type, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  EXPECT_NUMBER(DnnAttribute::convolution_mode, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  EXPECT_NUMBER(DnnAttribute::convolution_dilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  EXPECT_NUMBER(DnnAttribute::convolution_strides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  EXPECT_NUMBER(DnnAttribute::convolution_post_paddings, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  EXPECT_NUMBER(DnnAttribute::convolution_pre_paddings, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  EXPECT_NUMBER(DnnAttribute::convolution_dimensions, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  EXPECT_NUMBER(DnnAttribute::heuristic_mode, CUDNN_ATTR_ENGINEHEUR_MODE);
  EXPECT_NUMBER(DnnAttribute::heuristic_graph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  EXPECT_NUMBER(DnnAttribute::heuristic_results, CUDNN_ATTR_ENGINEHEUR_RESULTS);
  EXPECT_NUMBER(DnnAttribute::config_engine, CUDNN_ATTR_ENGINECFG_ENGINE);
  EXPECT_EQ(static_cast<int>(DnnAttribute::plan_handle), 400);  // its name is deprecated
  EXPECT_NUMBER(DnnAttribute::plan_config, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  EXPECT_NUMBER(DnnAttribute::plan_workspace_bytes, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  EXPECT_NUMBER(DnnAttribute::forward_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
  EXPECT_NUMBER(DnnAttribute::forward_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
  EXPECT_NUMBER(DnnAttribute::forward_convolution,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  EXPECT_NUMBER(DnnAttribute::forward_filter, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
  EXPECT_NUMBER(DnnAttribute::forward_input, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  EXPECT_NUMBER(DnnAttribute::forward_output, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  EXPECT_EQ(static_cast<int>(DnnAttribute::graph_handle), 800);  // likewise
  EXPECT_NUMBER(DnnAttribute::graph_operations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  EXPECT_NUMBER(DnnAttribute::tensor_alignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  EXPECT_NUMBER(DnnAttribute::tensor_type, CUDNN_ATTR_TENSOR_DATA_TYPE);
  EXPECT_NUMBER(DnnAttribute::tensor_dimensions, CUDNN_ATTR_TENSOR_DIMENSIONS);
  EXPECT_NUMBER(DnnAttribute::tensor_strides, CUDNN_ATTR_TENSOR_STRIDES);
  EXPECT_NUMBER(DnnAttribute::tensor_id, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  EXPECT_NUMBER(DnnAttribute::pack_ids, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  EXPECT_NUMBER(DnnAttribute::pack_pointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  EXPECT_NUMBER(DnnAttribute::pack_workspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  EXPECT_NUMBER(DnnAttribute::engine_index, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  EXPECT_NUMBER(DnnAttribute::engine_notes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
}

#else
TEST(CudnnHeader, IsNotHere) { GTEST_SKIP() << "no cudnn_graph.h was found when this was built"; }
#endif

}  // namespace
}  // namespace kiln::peers
