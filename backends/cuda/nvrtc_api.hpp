// NVRTC's calls, declared here and bound at run time (see cuda_api.hpp). Needs no driver and no
// GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// clang-format off
#define KILN_NVRTC_CALLS(CALL)                                                           \
  CALL(int, version, nvrtcVersion, (int* major, int* minor))                                  \
  CALL(const char*, get_error_string, nvrtcGetErrorString, (int code))                   \
  CALL(int, get_num_supported_archs, nvrtcGetNumSupportedArchs, (int* count))                 \
  CALL(int, get_supported_archs, nvrtcGetSupportedArchs, (int* archs))                        \
  CALL(int, create_program, nvrtcCreateProgram, (void** program, const char* text, const char* name, int header_count, const char* const* headers, const char* const* header_names)) \
  CALL(int, destroy_program, nvrtcDestroyProgram, (void** program))                           \
  CALL(int, compile_program, nvrtcCompileProgram, (void* program, int option_count, const char* const* options)) \
  CALL(int, get_cubin_size, nvrtcGetCUBINSize, (void* program, std::size_t* bytes))           \
  CALL(int, get_cubin, nvrtcGetCUBIN, (void* program, char* cubin))                           \
  CALL(int, get_program_log_size, nvrtcGetProgramLogSize, (void* program, std::size_t* bytes)) \
  CALL(int, get_program_log, nvrtcGetProgramLog, (void* program, char* log))                  \
  CALL(int, add_name, nvrtcAddNameExpression, (void* program, const char* name))              \
  CALL(int, get_lowered_name, nvrtcGetLoweredName, (void* program, const char* name, const char** symbol))
// clang-format on

namespace kiln {

/// Numbers of nvrtcResult that mean something to Kiln.
enum class NvrtcCode : int { success = 0, invalid_option = 5, compilation = 6 };

struct NvrtcApi {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot have them
#define KILN_DECLARE_CALL(result, member, symbol, signature) result(*member) signature = nullptr;
  KILN_NVRTC_CALLS(KILN_DECLARE_CALL)
#undef KILN_DECLARE_CALL
  // NOLINTEND(bugprone-macro-parentheses)
  int major = 0;
  int minor = 0;
  std::string path;                ///< of the library
  std::string include_folder;      ///< the folder with cuda_fp16.h that belongs to it; may be empty
  std::vector<int> architectures;  ///< 75 for sm_75 ...
};

/// The process's NVRTC, loaded by the first call. Throws DeviceError when there is none. Where it
/// looks: nvrtc_candidates().
[[nodiscard]] const NvrtcApi& nvrtc();

/// Where a libnvrtc may be, best first: only KILN_NVRTC_PATH when it is set; otherwise CUDA_PATH
/// and CUDA_HOME, the loader's path, the usual toolkit folders, the copy that
/// scripts/install_dependencies makes, and the folders of Python wheels. Files that are not there
/// are left out; names for the loader stay.
[[nodiscard]] std::vector<std::string> nvrtc_candidates();

}  // namespace kiln
