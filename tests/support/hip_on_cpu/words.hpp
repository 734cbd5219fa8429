// Put in front of HIP text that a C++ compiler translates for the CPU (hiprtc.cpp): the words of
// HIP and of AMD's compiler that the HIP dialect uses.
//
// The matrix instructions follow AMD's tables of which lane and register holds which element ("AMD
// Instinct MI200 Instruction Set Architecture", "RDNA3" and "RDNA4 Instruction Set Architecture",
// chapters on matrix operations). They are written down here apart from the dialect, which has its
// own reading of the same tables: a test that passes says that both agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <math.h>

#include "lane_hooks.hpp"

extern "C" {
KilnLaneHooks* kiln_hooks;  // set by the loader
}

// ---- Words of the language

#define __device__
#define __global__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ thread_local  // all lanes of all blocks run on one thread of the host
#define threadIdx (kiln_hooks->thread)
#define blockIdx (kiln_hooks->block)
#define blockDim (kiln_hooks->block_size)
#define gridDim (kiln_hooks->grid)
#define __syncthreads() kiln_hooks->barrier()
#define __threadfence() ((void)0)
#define __HIP_MEMORY_SCOPE_AGENT 0
#define __builtin_amdgcn_fence(order, scope) ((void)0)
#define __builtin_amdgcn_wave_barrier() ((void)kiln_hooks->gather(nullptr, 0))
#define __builtin_nontemporal_load(pointer) (*(pointer))
#define __builtin_nontemporal_store(value, pointer) (*(pointer) = (value))

// Aligned as on the device: an address that is not faults here, too, where the CPU's moves want it.
struct alignas(8) kiln_u32x2 {
  unsigned x, y;
};
struct alignas(16) kiln_u32x4 {
  unsigned x, y, z, w;
};

// ---- Halves, which C++ compilers do not all have

struct KilnHalf {
  unsigned short bits;
  KilnHalf() = default;
  explicit KilnHalf(float value) {
    const unsigned all = __builtin_bit_cast(unsigned, value);
    const unsigned sign = all >> 16 & 0x8000U;
    const unsigned magnitude = all & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
      bits = static_cast<unsigned short>(sign | 0x7e00U);
    } else if (magnitude >= 0x477ff000U) {  // rounds to more than 65504
      bits = static_cast<unsigned short>(sign | 0x7c00U);
    } else if (magnitude < 0x38800000U) {  // smaller than every normal half: steps of 2^-24
      const float steps = __builtin_bit_cast(float, magnitude) * 16777216.0F;
      bits = static_cast<unsigned short>(sign | static_cast<unsigned>(nearbyintf(steps)));
    } else {
      const unsigned rounded = magnitude + 0xfffU + (magnitude >> 13 & 1U) - 0x38000000U;
      bits = static_cast<unsigned short>(sign | rounded >> 13);
    }
  }
  operator float() const {  // NOLINT(google-explicit-constructor): as the device's own type
    const unsigned sign = (bits & 0x8000U) << 16;
    const unsigned magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U)
      return __builtin_bit_cast(float, sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
    if (magnitude < 0x400U) {
      const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8F;  // 2^-24
      return sign == 0 ? value : -value;
    }
    return __builtin_bit_cast(float, sign | ((magnitude << 13) + 0x38000000U));
  }
};
#define _Float16 KilnHalf

inline float kiln_value(KilnHalf half) { return half; }
inline float kiln_value(short bfloat) {
  return __builtin_bit_cast(float, static_cast<unsigned>(static_cast<unsigned short>(bfloat))
                                       << 16);
}

// ---- Lanes of a wavefront

template <typename T>
const T* kiln_all(const T& mine) {
  return static_cast<const T*>(kiln_hooks->gather(&mine, sizeof mine));
}

template <typename T>
T kiln_shuffle(T value, int from) {
  return kiln_all(value)[from & (kiln_hooks->wavefront - 1)];
}
#define __shfl(value, from) kiln_shuffle(value, from)
#define __shfl_xor(value, mask) kiln_shuffle(value, kiln_hooks->lane ^ (mask))
#define __shfl_down(value, delta)                                        \
  kiln_shuffle(value, kiln_hooks->lane + (delta) < kiln_hooks->wavefront \
                          ? kiln_hooks->lane + (delta)                   \
                          : kiln_hooks->lane)

inline unsigned long long kiln_ballot(bool predicate) {
  const bool* all = kiln_all(predicate);
  unsigned long long mask = 0;
  for (int i = 0; i < kiln_hooks->wavefront; ++i) {
    if ((kiln_hooks->present >> i & 1U) != 0 && all[i]) mask |= 1ULL << i;
  }
  return mask;
}
#define __ballot(predicate) kiln_ballot((predicate) != 0)

// ---- Matrix instructions: D = A * B + C of 16 x 16 elements, 16 steps along k

enum class KilnMatrix {
  mfma,        ///< CDNA, 64 lanes
  wmma_gfx11,  ///< RDNA 3, 32 lanes: the lanes of both halves hold the same operands
  wmma_gfx12,  ///< RDNA 4, 32 lanes
};

template <KilnMatrix kind, typename Operand, typename Sums>
Sums kiln_multiply(const Operand& a, const Operand& b, Sums sums) {
  constexpr int kLanes = kind == KilnMatrix::mfma ? 64 : 32;
  constexpr int kHeld = kind == KilnMatrix::mfma ? 4 : kind == KilnMatrix::wmma_gfx11 ? 16 : 8;
  constexpr int kSums = 256 / kLanes;
  static_assert(sizeof a == kHeld * 2 && sizeof sums == kSums * 4,
                "the fragment's size is another");
  if (kiln_hooks->wavefront != kLanes)
    kiln_hooks->refuse("a matrix instruction of another wavefront");
  struct Both {
    Operand a, b;
  };
  const Both* all = kiln_all(Both{a, b});
  if (kiln_hooks->present + 1 != (kLanes == 64 ? 0ULL : 1ULL << kLanes))
    kiln_hooks->refuse("a matrix instruction that not all lanes execute");
  if (kind == KilnMatrix::wmma_gfx11) {
    const int lane = kiln_hooks->lane;
    if (__builtin_memcmp(&all[lane], &all[lane ^ 16], sizeof(Both)) != 0)
      kiln_hooks->refuse("lanes 16 apart hold different operands");
  }
  const auto lane_of = [](int row, int k) {
    return kind == KilnMatrix::wmma_gfx11 ? row : row + 16 * (k / kHeld);
  };
  const int column = kiln_hooks->lane % 16;
  const int half = kiln_hooks->lane / 16;
  for (int i = 0; i < kSums; ++i) {
    const int row = kind == KilnMatrix::wmma_gfx11 ? 2 * i + half : kSums * half + i;
    for (int k = 0; k < 16; ++k) {
      sums.e[i] += kiln_value(all[lane_of(row, k)].a.e[k % kHeld]) *
                   kiln_value(all[lane_of(column, k)].b.e[k % kHeld]);
    }
  }
  return sums;
}
#define __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, x, y, z) \
  kiln_multiply<KilnMatrix::mfma>(a, b, c)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, x, y, z) \
  kiln_multiply<KilnMatrix::mfma>(a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c) \
  kiln_multiply<KilnMatrix::wmma_gfx11>(a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c) \
  kiln_multiply<KilnMatrix::wmma_gfx11>(a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c) \
  kiln_multiply<KilnMatrix::wmma_gfx12>(a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c) \
  kiln_multiply<KilnMatrix::wmma_gfx12>(a, b, c)

// ---- Atomics: one lane runs at a time

template <typename T, typename U>
T kiln_swap(T* at, U value) {
  const T old = *at;
  *at = static_cast<T>(value);
  return old;
}
template <typename T>
T atomicAdd(T* at, T value) {
  return kiln_swap(at, *at + value);
}
template <typename T>
T atomicMin(T* at, T value) {
  return kiln_swap(at, value < *at ? value : *at);
}
template <typename T>
T atomicMax(T* at, T value) {
  return kiln_swap(at, value > *at ? value : *at);
}
template <typename T>
T atomicExch(T* at, T value) {
  return kiln_swap(at, value);
}
template <typename T>
T atomicCAS(T* at, T expected, T value) {
  return kiln_swap(at, *at == expected ? value : *at);
}
#define __hip_atomic_fetch_min(pointer, value, order, scope) atomicMin(pointer, value)
#define __hip_atomic_fetch_max(pointer, value, order, scope) atomicMax(pointer, value)

// ---- A kernel, called with pointers to its arguments

template <int... at>
struct KilnPlaces {};
template <int n, int... at>
struct KilnCount : KilnCount<n - 1, n - 1, at...> {};
template <int... at>
struct KilnCount<0, at...> {
  using Places = KilnPlaces<at...>;
};
template <typename... A, int... at>
void kiln_call_at(void (*kernel)(A...), void** arguments, KilnPlaces<at...> /*places*/) {
  kernel(*static_cast<A*>(arguments[at])...);
}
template <typename... A>
void kiln_call(void (*kernel)(A...), void** arguments) {
  kiln_call_at(kernel, arguments, typename KilnCount<sizeof...(A)>::Places());
}
