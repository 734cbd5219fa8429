// The hipRTC calls that Kiln makes, over NVRTC: HIP text is compiled as CUDA, behind a few
// definitions that give CUDA the words of HIP and clang that the HIP dialect uses. Needs no GPU.
// See hip_over_cuda.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/cuda_devices.hpp"
#include "backends/cuda/nvrtc_api.hpp"

namespace {

using kiln::nvrtc;

// Lanes are 32 here, so full masks are ~0u.
constexpr std::string_view kCompatibility = R"(
#define __HIP_MEMORY_SCOPE_AGENT 0
#ifndef __ATOMIC_RELAXED
#define __ATOMIC_RELAXED 0
#endif
#define __hip_atomic_fetch_min(pointer, value, order, scope) atomicMin(pointer, value)
#define __hip_atomic_fetch_max(pointer, value, order, scope) atomicMax(pointer, value)
#define __shfl(value, lane) __shfl_sync(~0u, value, lane)
#define __shfl_down(value, delta) __shfl_down_sync(~0u, value, delta)
#define __shfl_xor(value, mask) __shfl_xor_sync(~0u, value, mask)
#define __ballot(predicate) __ballot_sync(~0u, predicate)
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __builtin_nontemporal_load(pointer) (*(pointer))
#define __builtin_nontemporal_store(value, pointer) (*(pointer) = (value))
#define __builtin_huge_val() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_huge_valf() __int_as_float(0x7f800000)
#define __builtin_fma fma
#define __builtin_fmaf fmaf
#define __builtin_fmin fmin
#define __builtin_fminf fminf
#define __builtin_fmax fmax
#define __builtin_fmaxf fmaxf
#define __builtin_memcpy memcpy
// Enough to compile the words: variants that need AMD's matrix units do not exist on these devices.
#define __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, cbsz, abid, blgp) (c)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, cbsz, abid, blgp) (c)
struct KilnHalf {
  unsigned short bits;
  KilnHalf() = default;
  __device__ explicit KilnHalf(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
  __device__ explicit operator float() const {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
};
#define _Float16 KilnHalf
)";

/// clang's vectors have no counterpart that a macro could name: these two lines become CUDA's own
/// types.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string as_cuda(std::string text, const std::string& name) {
  replace_all(text, "typedef u32 u32x2 __attribute__((ext_vector_type(2)))", "typedef uint2 u32x2");
  replace_all(text, "typedef u32 u32x4 __attribute__((ext_vector_type(4)))", "typedef uint4 u32x4");
  replace_all(text, "((u32x2){(x), (y)})", "make_uint2(x, y)");
  replace_all(text, "((u32x4){(x), (y), (z), (w)})", "make_uint4(x, y, z, w)");
  return std::string(kCompatibility) + "#line 1 \"" + name + "\"\n" + text;
}

/// "--offload-arch=sm_90a" is NVRTC's --gpu-architecture; optimisation levels it does not have.
std::vector<std::string> as_nvrtc_options(int count, const char** options) {
  std::vector<std::string> translated = {"--device-as-default-execution-space"};
  for (int i = 0; i < count; ++i) {
    constexpr std::string_view kArchitecture = "--offload-arch=";
    const std::string_view option = options[i];
    if (option.starts_with(kArchitecture)) {
      translated.push_back("--gpu-architecture=" +
                           std::string(option.substr(kArchitecture.size())));
    } else if (!option.starts_with("-O")) {
      translated.emplace_back(option);
    }
  }
  return translated;
}

}  // namespace

extern "C" {

const char* hiprtcGetErrorString(int code) { return nvrtc().get_error_string(code); }

int hiprtcCreateProgram(void** program, const char* text, const char* name, int, const char**,
                        const char**) {
  return nvrtc().create_program(program, as_cuda(text, name).c_str(), name, 0, nullptr, nullptr);
}

int hiprtcDestroyProgram(void** program) { return nvrtc().destroy_program(program); }

int hiprtcCompileProgram(void* program, int option_count, const char** options) {
  const std::vector<std::string> translated = as_nvrtc_options(option_count, options);
  std::vector<const char*> pointers;
  pointers.reserve(translated.size());
  for (const std::string& option : translated) pointers.push_back(option.c_str());
  return nvrtc().compile_program(program, static_cast<int>(pointers.size()), pointers.data());
}

int hiprtcGetCodeSize(void* program, std::size_t* bytes) {
  return nvrtc().get_cubin_size(program, bytes);
}
int hiprtcGetCode(void* program, char* code) { return nvrtc().get_cubin(program, code); }
int hiprtcGetProgramLogSize(void* program, std::size_t* bytes) {
  return nvrtc().get_program_log_size(program, bytes);
}
int hiprtcGetProgramLog(void* program, char* log) { return nvrtc().get_program_log(program, log); }
int hiprtcAddNameExpression(void* program, const char* name) {
  return nvrtc().add_name(program, name);
}
int hiprtcGetLoweredName(void* program, const char* name, const char** symbol) {
  return nvrtc().get_lowered_name(program, name, symbol);
}

// --- The architectures, asked as AMD's code object manager is asked ------------------------------

int amd_comgr_get_isa_count(std::size_t* count) {
  *count = nvrtc().architectures.size();
  return 0;
}

int amd_comgr_get_isa_name(std::size_t index, const char** name) {
  static std::vector<std::string> names;
  if (names.empty()) {
    names.reserve(nvrtc().architectures.size());
    for (const int capability : nvrtc().architectures)
      names.push_back("hip-over-cuda--" + kiln::cuda_architecture(capability));
  }
  if (index >= names.size()) return 1;
  *name = names[index].c_str();
  return 0;
}

}  // extern "C"
