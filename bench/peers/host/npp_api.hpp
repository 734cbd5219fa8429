// NPP 12 and 13, opened at run time and declared here, so that neither its headers nor the
// libraries are needed to build. tests/bench/npp_headers_test.cpp compares this with nppdefs.h.
//
// Every call but one returns a status: 0 for success, positive for a warning.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln::peers {

struct NppSize {
  int width = 0, height = 0;
};

struct NppRect {
  int x = 0, y = 0, width = 0, height = 0;
};

/// NppStreamContext: the stream, and what the device is like.
struct NppContext {
  void* stream = nullptr;
  int device = 0;
  int compute_units = 0;
  int max_threads_per_unit = 0;
  int max_threads_per_block = 0;
  std::size_t max_shared_bytes = 0;
  int major = 0;
  int minor = 0;
  unsigned stream_flags = 0;
  unsigned reserved = 0;
};

/// NppiResizeBatchCXR: one image of a batch.
struct NppBatchImage {
  const void* source = nullptr;
  int source_pitch = 0;
  void* output = nullptr;
  int output_pitch = 0;
};

/// NppiInterpolationMode
constexpr int kNppLinear = 2;
constexpr int kNppSuper = 8;  ///< the mean of what lies under a pixel

// clang-format off
#define KILN_NPP_RESIZE_CALLS(CALL)                                                            \
  CALL(resize, nppiResize_8u_C3R_Ctx,                                                          \
       (const std::uint8_t* source, int source_pitch, NppSize source_size, NppRect source_part, \
        std::uint8_t* output, int output_pitch, NppSize output_size, NppRect output_part,      \
        int interpolation, NppContext context))                                                \
  CALL(resize_batch, nppiResizeBatch_8u_C3R_Ctx,                                               \
       (NppSize smallest_source, NppRect source_part, NppSize smallest_output,                 \
        NppRect output_part, int interpolation, NppBatchImage* images, unsigned count,         \
        NppContext context))
#define KILN_NPP_EXCHANGE_CALLS(CALL)                                                          \
  CALL(swap_channels, nppiSwapChannels_8u_C3IR_Ctx,                                            \
       (std::uint8_t* image, int pitch, NppSize size, const int order[3], NppContext context)) \
  CALL(convert, nppiConvert_8u32f_C3R_Ctx,                                                     \
       (const std::uint8_t* source, int source_pitch, float* output, int output_pitch,         \
        NppSize size, NppContext context))                                                     \
  CALL(copy_to_planes, nppiCopy_32f_C3P3R_Ctx,                                                 \
       (const float* source, int source_pitch, float* const planes[3], int plane_pitch,        \
        NppSize size, NppContext context))
#define KILN_NPP_ARITHMETIC_CALLS(CALL)                                                        \
  CALL(multiply, nppiMulC_32f_C3IR_Ctx,                                                        \
       (const float factors[3], float* image, int pitch, NppSize size, NppContext context))    \
  CALL(add, nppiAddC_32f_C3IR_Ctx,                                                             \
       (const float terms[3], float* image, int pitch, NppSize size, NppContext context))
// clang-format on

struct NppApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(member, symbol, signature) int(*member) signature = nullptr;
  KILN_NPP_RESIZE_CALLS(KILN_DECLARE_CALL)
  KILN_NPP_EXCHANGE_CALLS(KILN_DECLARE_CALL)
  KILN_NPP_ARITHMETIC_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  std::string version;  ///< "13.0.0"
};

/// The process's NPP, loaded by the first call. Throws DeviceError when it is not there.
/// KILN_NPP_FOLDER names the folder of its libraries, where the loader does not find them.
[[nodiscard]] const NppApi& npp();

/// Throws std::runtime_error with the call and the status if the call failed.
void check_npp(int status, const char* call);

}  // namespace kiln::peers
