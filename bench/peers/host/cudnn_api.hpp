// cuDNN 9, opened at run time and declared here, so that neither its header nor the library is
// needed to build. tests/bench/cudnn_headers_test.cpp compares this with cudnn_graph.h.
//
// Handles and descriptors are void*; every call but two returns a status, 0 for success.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// clang-format off
#define KILN_CUDNN_CALLS(CALL)                                                               \
  CALL(create, cudnnCreate, (void** handle))                                                 \
  CALL(destroy, cudnnDestroy, (void* handle))                                                \
  CALL(set_stream, cudnnSetStream, (void* handle, void* stream))                             \
  CALL(make, cudnnBackendCreateDescriptor, (int kind, void** descriptor))                    \
  CALL(remove, cudnnBackendDestroyDescriptor, (void* descriptor))                            \
  CALL(finalize, cudnnBackendFinalize, (void* descriptor))                                   \
  CALL(set, cudnnBackendSetAttribute,                                                        \
       (void* descriptor, int attribute, int type, std::int64_t count, const void* values))  \
  CALL(get, cudnnBackendGetAttribute,                                                        \
       (void* descriptor, int attribute, int type, std::int64_t room, std::int64_t* count,   \
        void* values))                                                                       \
  CALL(execute, cudnnBackendExecute, (void* handle, void* plan, void* pack))
// clang-format on

namespace kiln::peers {

/// Numbers of cudnnDataType_t.
enum class DnnType : int { f32 = 0, f16 = 2, bf16 = 9 };

/// Numbers of cudnnBackendAttributeType_t.
enum class DnnValue : int {
  handle = 0,
  data_type = 1,
  int64 = 3,
  f32 = 4,
  pointer = 6,
  convolution_mode = 7,
  heuristic_mode = 8,
  numerical_note = 11,
  descriptor = 15,
};

/// Numbers of cudnnBackendDescriptorType_t.
enum class DnnKind : int {
  convolution = 1,
  engine = 2,
  engine_config = 3,
  heuristic = 4,
  plan = 5,
  forward = 10,
  graph = 15,
  pack = 16,
  tensor = 17,
};

/// Numbers of cudnnBackendAttributeName_t.
enum class DnnAttribute : int {
  convolution_type = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_post_paddings = 104,
  convolution_pre_paddings = 105,
  convolution_dimensions = 106,
  heuristic_mode = 200,
  heuristic_graph = 201,
  heuristic_results = 202,
  config_engine = 300,
  plan_handle = 400,
  plan_config = 401,
  plan_workspace_bytes = 402,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_filter = 703,
  forward_input = 704,
  forward_output = 705,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_dimensions = 902,
  tensor_strides = 903,
  tensor_id = 906,
  pack_ids = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  engine_index = 1301,
  engine_notes = 1303,
};

/// Of cudnnHeurMode_t: the one that cuDNN recommends, and the engines that always work.
enum class DnnHeuristic : int { fallback = 2, recommended = 3 };

/// Of cudnnBackendNumericalNote_t: the engine uses tensor cores; with f32 operands it rounds them.
constexpr int kDnnNoteTensorCore = 0;
constexpr int kDnnNotes = 10;  ///< CUDNN_NUMERICAL_NOTE_TYPE_COUNT or more

struct DnnApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(member, symbol, signature) int(*member) signature = nullptr;
  KILN_CUDNN_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  std::size_t (*version)() = nullptr;
  const char* (*status_name)(int status) = nullptr;
};

/// The process's cuDNN, loaded by the first call. Throws DeviceError when it is not there.
/// KILN_CUDNN_LIBRARY names another library than libcudnn.so.9.
[[nodiscard]] const DnnApi& cudnn();

/// Throws std::runtime_error with the call and the status unless the status is success.
void check_dnn(const DnnApi& api, int status, const char* call);

/// "9.19.0"
[[nodiscard]] std::string version_text(const DnnApi& api);

}  // namespace kiln::peers
