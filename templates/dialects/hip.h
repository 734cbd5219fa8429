// The words of docs/dialect.md in HIP, for hipRTC (gfx900 and later, wavefronts of 32 or 64). Includes
// nothing: <hip/hip_fp16.h> does not compile under hipRTC.
// SPDX-License-Identifier: Apache-2.0
//
// The renderer puts in front of a kernel only the definitions that it uses, and those that these use
// (templates/prelude.cpp). A comment belongs to the lines below it, up to the next comment or blank line.

#ifndef WARP_SIZE
#define WARP_SIZE 64
#endif

#define KERNEL(x, y, z) extern "C" __global__ __launch_bounds__((x) * (y) * (z)) void

// The second launch bound counts wavefronts per SIMD here: a compute unit has 4 SIMDs of 64 lanes or 2 of 32.
#define KILN_WAVES(threads, blocks) \
  (((threads) * (blocks) + WARP_SIZE * (WARP_SIZE / 16) - 1) / (WARP_SIZE * (WARP_SIZE / 16)))
#define KILN_AT_MOST_8(n) ((n) < 8 ? (n) : 8)
#define KERNEL_MIN_BLOCKS(x, y, z, blocks) \
  extern "C" __global__ __launch_bounds__((x) * (y) * (z), KILN_AT_MOST_8(KILN_WAVES((x) * (y) * (z), blocks))) void

#define DEVICE_FUNCTION static __device__ __attribute__((always_inline)) inline

#define GLOBAL
#define SHARED __shared__ __attribute__((aligned(16)))
#define SHARED_PTR
#define CONSTANT_PTR
#define RESTRICT __restrict__

extern __shared__ __attribute__((aligned(128))) unsigned char kiln_dynamic_shared[];
#define DYNAMIC_SHARED_PARAM(T, name)
#define DYNAMIC_SHARED(T, name) T* name = (T*)kiln_dynamic_shared

#define CONSTANT_ARRAY(T, name, count) __constant__ __attribute__((aligned(16))) T name[count];
#define CONSTANT_PARAM(T, name)

#define STATIC_ASSERT(condition, why) static_assert(condition, why)

#define KILN_PRAGMA(text) _Pragma(#text)
#define UNROLL _Pragma("unroll")
#define UNROLL_N(n) KILN_PRAGMA(unroll n)
#define NO_UNROLL _Pragma("unroll 1")

#define THREAD_X ((int)threadIdx.x)
#define THREAD_Y ((int)threadIdx.y)
#define THREAD_Z ((int)threadIdx.z)
#define BLOCK_X ((int)blockIdx.x)
#define BLOCK_Y ((int)blockIdx.y)
#define BLOCK_Z ((int)blockIdx.z)

#define GRID_X ((int)gridDim.x)
#define GRID_Y ((int)gridDim.y)
#define GRID_Z ((int)gridDim.z)
#define BLOCK_SIZE_X ((int)blockDim.x)
#define BLOCK_SIZE_Y ((int)blockDim.y)
#define BLOCK_SIZE_Z ((int)blockDim.z)

#define BARRIER() __syncthreads()

// Lanes run in lock step; the fences order shared memory as the compiler sees it.
DEVICE_FUNCTION void kiln_warp_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#define WARP_BARRIER() kiln_warp_barrier()

#define GLOBAL_FENCE() __threadfence()

typedef unsigned char u8;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

typedef unsigned short f16_t;   // the bits of a half
typedef unsigned short bf16_t;  // the bits of a bfloat16

typedef signed char i8;

typedef short i16;

typedef unsigned char e4m3_t;  // the bits of an 8-bit float with 4 bits of exponent
typedef unsigned char e5m2_t;  // the bits of an 8-bit float with 5 bits of exponent

typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#define U32X2(x, y) ((u32x2){(x), (y)})
#define U32X4(x, y, z, w) ((u32x4){(x), (y), (z), (w)})

#define SHUFFLE(value, lane) __shfl(value, lane)
#define SHUFFLE_DOWN(value, delta) __shfl_down(value, delta)
#define SHUFFLE_XOR(value, mask) __shfl_xor(value, mask)

#define BALLOT(predicate) ((u64)__ballot(predicate))

#define BITS_TO_F32(bits) __builtin_bit_cast(f32, (u32)(bits))
#define F32_TO_BITS(value) __builtin_bit_cast(u32, (f32)(value))

#define F64_FROM_BITS(low, high) BITS_TO_F64(((u64)(u32)(high) << 32) | (u64)(u32)(low))
#define BITS_TO_F64(bits) __builtin_bit_cast(f64, (u64)(bits))
#define F64_TO_BITS(value) __builtin_bit_cast(u64, (f64)(value))

#define F32_INFINITY __builtin_huge_valf()
#define F64_INFINITY __builtin_huge_val()

#define F16_TO_F32(bits) ((f32)__builtin_bit_cast(_Float16, (f16_t)(bits)))
#define F32_TO_F16(value) __builtin_bit_cast(f16_t, (_Float16)(f32)(value))

#define BF16_TO_F32(bits) BITS_TO_F32((u32)(bits) << 16)

DEVICE_FUNCTION bf16_t kiln_f32_to_bf16(f32 value) {
  u32 bits = F32_TO_BITS(value);
  if (value != value) return (bf16_t)0x7fff;
  return (bf16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // ties to even
}
#define F32_TO_BF16(value) kiln_f32_to_bf16(value)

DEVICE_FUNCTION f32 kiln_e4m3_to_f32(e4m3_t code) {
  const u32 steps = code & 0x7fu;
  f32 magnitude = BITS_TO_F32((steps << 20) + 0x3c000000u);
  if (steps < 8u) magnitude = (f32)steps * 0.001953125f;  // 2^-9
  if (steps == 0x7fu) magnitude = BITS_TO_F32(0x7fffffffu);
  return BITS_TO_F32(F32_TO_BITS(magnitude) | ((u32)(code & 0x80u) << 24));
}
#define E4M3_TO_F32(bits) kiln_e4m3_to_f32(bits)

#define E5M2_TO_F32(bits) F16_TO_F32((f16_t)((bits) << 8))  // the upper half of a half

// The plain conversion to an 8-bit float of this many bits of mantissa; codes without their sign, in order, are the
// numbers in order. Ties go to the even code, numbers beyond the largest become the largest, NaN is 0x7f.
DEVICE_FUNCTION u8 kiln_f32_to_f8(f32 value, u32 mantissa_bits, u32 bias, u32 largest) {
  const u32 bits = F32_TO_BITS(value);
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (u8)0x7f;
  const u32 exponent = magnitude >> 23;
  const u32 least = 128u - bias;  // exponent of the smallest normal number
  u32 shift = 23u - mantissa_bits;
  u32 steps = magnitude - ((least - 1u) << 23);
  if (exponent < least) {
    steps = (magnitude & 0x7fffffu) | 0x800000u;
    shift += least - exponent;
    shift = shift < 25u ? shift : 25u;  // from there on all become zero
  }
  const u32 code = (steps + (1u << (shift - 1u)) - 1u + ((steps >> shift) & 1u)) >> shift;
  return (u8)(((bits >> 24) & 0x80u) | (code < largest ? code : largest));
}
#define KILN_F32_TO_F8(value, mantissa_bits, bias, largest) kiln_f32_to_f8(value, mantissa_bits, bias, largest)

#define F32_TO_E4M3(value) ((e4m3_t)KILN_F32_TO_F8(value, 3u, 7u, 0x7eu))

#define F32_TO_E5M2(value) ((e5m2_t)KILN_F32_TO_F8(value, 2u, 15u, 0x7bu))

#define LOAD_16(pointer) (*(const u32x4*)(pointer))
#define LOAD_8(pointer) (*(const u32x2*)(pointer))
#define LOAD_4(pointer) (*(const u32*)(pointer))

#define STORE_16(pointer, value) (*(u32x4*)(pointer) = (value))
#define STORE_8(pointer, value) (*(u32x2*)(pointer) = (value))
#define STORE_4(pointer, value) (*(u32*)(pointer) = (value))

// Zeros are loaded like the rest: a choice of address, where a branch around each of many loads would keep masks of lanes.
static __device__ __attribute__((aligned(16))) u32 kiln_zeros[4];
#define KILN_OR_ZEROS(yes, T, pointer) (*((yes) ? (const T*)(pointer) : (const T*)kiln_zeros))
#define LOAD_16_IF(yes, pointer) KILN_OR_ZEROS(yes, u32x4, pointer)
#define LOAD_8_IF(yes, pointer) KILN_OR_ZEROS(yes, u32x2, pointer)
#define LOAD_4_IF(yes, pointer) KILN_OR_ZEROS(yes, u32, pointer)
#define LOAD_2_IF(yes, pointer) KILN_OR_ZEROS(yes, u16, pointer)

#define STORE_16_IF(yes, pointer, value) do { if (yes) STORE_16(pointer, value); } while (0)
#define STORE_8_IF(yes, pointer, value) do { if (yes) STORE_8(pointer, value); } while (0)
#define STORE_4_IF(yes, pointer, value) do { if (yes) STORE_4(pointer, value); } while (0)
#define STORE_2_IF(yes, pointer, value) do { if (yes) *(u16*)(pointer) = (value); } while (0)

#define LOAD_16_STREAM(pointer) __builtin_nontemporal_load((const u32x4*)(pointer))
#define LOAD_8_STREAM(pointer) __builtin_nontemporal_load((const u32x2*)(pointer))
#define LOAD_4_STREAM(pointer) __builtin_nontemporal_load((const u32*)(pointer))

#define STORE_16_STREAM(pointer, value) __builtin_nontemporal_store(value, (u32x4*)(pointer))
#define STORE_8_STREAM(pointer, value) __builtin_nontemporal_store(value, (u32x2*)(pointer))
#define STORE_4_STREAM(pointer, value) __builtin_nontemporal_store((u32)(value), (u32*)(pointer))

#define SHARED_LOAD_16(pointer) (*(const u32x4*)(pointer))
#define SHARED_LOAD_8(pointer) (*(const u32x2*)(pointer))
#define SHARED_LOAD_4(pointer) (*(const u32*)(pointer))

#define SHARED_STORE_16(pointer, value) (*(u32x4*)(pointer) = (value))
#define SHARED_STORE_8(pointer, value) (*(u32x2*)(pointer) = (value))
#define SHARED_STORE_4(pointer, value) (*(u32*)(pointer) = (value))

#define ATOMIC_ADD_U32(pointer, value) atomicAdd((u32*)(pointer), (u32)(value))
#define ATOMIC_ADD_I32(pointer, value) atomicAdd((i32*)(pointer), (i32)(value))
#define ATOMIC_ADD_U64(pointer, value) atomicAdd((u64*)(pointer), (u64)(value))
#define ATOMIC_ADD_I64(pointer, value) ((i64)atomicAdd((u64*)(pointer), (u64)(value)))
#define ATOMIC_ADD_F32(pointer, value) atomicAdd((f32*)(pointer), (f32)(value))
#define ATOMIC_ADD_F64(pointer, value) atomicAdd((f64*)(pointer), (f64)(value))

#define ATOMIC_MIN_I32(pointer, value) atomicMin((i32*)(pointer), (i32)(value))
#define ATOMIC_MAX_I32(pointer, value) atomicMax((i32*)(pointer), (i32)(value))
#define ATOMIC_MIN_U32(pointer, value) atomicMin((u32*)(pointer), (u32)(value))
#define ATOMIC_MAX_U32(pointer, value) atomicMax((u32*)(pointer), (u32)(value))

#define KILN_ATOMIC(operation, pointer, value) \
  __hip_atomic_fetch_##operation(pointer, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_MIN_I64(pointer, value) KILN_ATOMIC(min, (i64*)(pointer), (i64)(value))
#define ATOMIC_MAX_I64(pointer, value) KILN_ATOMIC(max, (i64*)(pointer), (i64)(value))
#define ATOMIC_MIN_U64(pointer, value) KILN_ATOMIC(min, (u64*)(pointer), (u64)(value))
#define ATOMIC_MAX_U64(pointer, value) KILN_ATOMIC(max, (u64*)(pointer), (u64)(value))

#define ATOMIC_EXCHANGE_U32(pointer, value) atomicExch((u32*)(pointer), (u32)(value))
#define ATOMIC_CAS_U32(pointer, expected, value) atomicCAS((u32*)(pointer), (u32)(expected), (u32)(value))

// Floats order like signed integers where the sign bit is clear, and like unsigned ones reversed where it is set.
DEVICE_FUNCTION f32 kiln_atomic_min_f32(f32* pointer, f32 value) {
  u32 bits = F32_TO_BITS(value);
  if ((i32)bits >= 0) return BITS_TO_F32((u32)ATOMIC_MIN_I32(pointer, bits));
  return BITS_TO_F32(ATOMIC_MAX_U32(pointer, bits));
}
DEVICE_FUNCTION f32 kiln_atomic_max_f32(f32* pointer, f32 value) {
  u32 bits = F32_TO_BITS(value);
  if ((i32)bits >= 0) return BITS_TO_F32((u32)ATOMIC_MAX_I32(pointer, bits));
  return BITS_TO_F32(ATOMIC_MIN_U32(pointer, bits));
}
#define ATOMIC_MIN_F32(pointer, value) kiln_atomic_min_f32((f32*)(pointer), value)
#define ATOMIC_MAX_F32(pointer, value) kiln_atomic_max_f32((f32*)(pointer), value)

DEVICE_FUNCTION f64 kiln_atomic_min_f64(f64* pointer, f64 value) {
  u64 bits = F64_TO_BITS(value);
  if ((i64)bits >= 0) return BITS_TO_F64((u64)ATOMIC_MIN_I64(pointer, bits));
  return BITS_TO_F64(ATOMIC_MAX_U64(pointer, bits));
}
DEVICE_FUNCTION f64 kiln_atomic_max_f64(f64* pointer, f64 value) {
  u64 bits = F64_TO_BITS(value);
  if ((i64)bits >= 0) return BITS_TO_F64((u64)ATOMIC_MAX_I64(pointer, bits));
  return BITS_TO_F64(ATOMIC_MIN_U64(pointer, bits));
}
#define ATOMIC_MIN_F64(pointer, value) kiln_atomic_min_f64((f64*)(pointer), value)
#define ATOMIC_MAX_F64(pointer, value) kiln_atomic_max_f64((f64*)(pointer), value)

#define SHARED_ATOMIC_ADD_U32(pointer, value) atomicAdd((u32*)(pointer), (u32)(value))
#define SHARED_ATOMIC_ADD_I32(pointer, value) atomicAdd((i32*)(pointer), (i32)(value))
#define SHARED_ATOMIC_ADD_F32(pointer, value) atomicAdd((f32*)(pointer), (f32)(value))
#define SHARED_COUNT_U32(pointer, value) ((void)atomicAdd((u32*)(pointer), (u32)(value)))

DEVICE_FUNCTION f32 kiln_fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
DEVICE_FUNCTION f64 kiln_fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
DEVICE_FUNCTION i32 kiln_fma(i32 a, i32 b, i32 c) { return a * b + c; }
DEVICE_FUNCTION u32 kiln_fma(u32 a, u32 b, u32 c) { return a * b + c; }
DEVICE_FUNCTION i64 kiln_fma(i64 a, i64 b, i64 c) { return a * b + c; }
DEVICE_FUNCTION u64 kiln_fma(u64 a, u64 b, u64 c) { return a * b + c; }
#define FMA(a, b, c) kiln_fma(a, b, c)

DEVICE_FUNCTION f32 kiln_min(f32 a, f32 b) { return __builtin_fminf(a, b); }
DEVICE_FUNCTION f64 kiln_min(f64 a, f64 b) { return __builtin_fmin(a, b); }
DEVICE_FUNCTION i32 kiln_min(i32 a, i32 b) { return a < b ? a : b; }
DEVICE_FUNCTION u32 kiln_min(u32 a, u32 b) { return a < b ? a : b; }
DEVICE_FUNCTION i64 kiln_min(i64 a, i64 b) { return a < b ? a : b; }
DEVICE_FUNCTION u64 kiln_min(u64 a, u64 b) { return a < b ? a : b; }
DEVICE_FUNCTION f32 kiln_max(f32 a, f32 b) { return __builtin_fmaxf(a, b); }
DEVICE_FUNCTION f64 kiln_max(f64 a, f64 b) { return __builtin_fmax(a, b); }
DEVICE_FUNCTION i32 kiln_max(i32 a, i32 b) { return a > b ? a : b; }
DEVICE_FUNCTION u32 kiln_max(u32 a, u32 b) { return a > b ? a : b; }
DEVICE_FUNCTION i64 kiln_max(i64 a, i64 b) { return a > b ? a : b; }
DEVICE_FUNCTION u64 kiln_max(u64 a, u64 b) { return a > b ? a : b; }
#define MIN(a, b) kiln_min(a, b)
#define MAX(a, b) kiln_max(a, b)

// Two floats as two halves in a word, the first in the low bits.
#define F32X2_TO_F16X2(low, high) ((u32)F32_TO_F16(low) | (u32)F32_TO_F16(high) << 16)
#define F32X2_TO_BF16X2(low, high) ((u32)F32_TO_BF16(low) | (u32)F32_TO_BF16(high) << 16)

// The first `bytes` bytes (an even number) from global to shared memory, zeros for the rest: plain copies here.
template <typename T>
DEVICE_FUNCTION void kiln_copy(void* to, const void* from, int bytes) {
  if (bytes == (int)sizeof(T)) {
    *(T*)to = *(const T*)from;
    return;
  }
  for (int i = 0; i < (int)sizeof(T) / 2; ++i) ((u16*)to)[i] = 2 * i < bytes ? ((const u16*)from)[i] : (u16)0;
}
#define ASYNC_COPY_16(to, from, bytes) kiln_copy<u32x4>(to, from, bytes)
#define ASYNC_COPY_8(to, from, bytes) kiln_copy<u32x2>(to, from, bytes)
#define ASYNC_COPY_4(to, from, bytes) kiln_copy<u32>(to, from, bytes)

#define ASYNC_COPY_16_IF(yes, to, from) do { if (yes) SHARED_STORE_16(to, LOAD_16(from)); } while (0)
#define ASYNC_COPY_8_IF(yes, to, from) do { if (yes) SHARED_STORE_8(to, LOAD_8(from)); } while (0)
#define ASYNC_COPY_4_IF(yes, to, from) do { if (yes) SHARED_STORE_4(to, LOAD_4(from)); } while (0)

#define ASYNC_COMMIT() ((void)0)
#define ASYNC_WAIT(n) ((void)0)

// A step begins when the one in front of it has ended, whatever that one says.
#define DEPENDENT_LAUNCH() ((void)0)

// Matrix unit of a wavefront, 16 x 16 sums at a time: 64 lanes on CDNA (device.has_mfma), 32 on RDNA (device.has_wmma).
#if defined(__GFX11__)
#define MATRIX_WORDS 8
#define MATRIX_SUMS 8
#elif defined(__GFX12__)
#define MATRIX_WORDS 4
#define MATRIX_SUMS 8
#else
#define MATRIX_WORDS 2
#define MATRIX_SUMS 4
#endif

// A lane holds elements of one row that are neighbours along k.
#define MATRIX_ROW_A(lane) ((lane) % 16)
#define MATRIX_ROW_B(lane) MATRIX_ROW_A(lane)
#define MATRIX_BYTE_B(lane, run) MATRIX_BYTE_A(lane, run)
#if defined(__GFX11__)
#define MATRIX_RUNS 2
#define MATRIX_BYTE_A(lane, run) ((run) * 16)
#elif defined(__GFX12__)
#define MATRIX_RUNS 1
#define MATRIX_BYTE_A(lane, run) ((lane) / 16 * 16)
#else
#define MATRIX_RUNS 1
#define MATRIX_BYTE_A(lane, run) ((lane) / 16 * 8)
#endif
DEVICE_FUNCTION void kiln_matrix_load(u32* fragment, int run, const void* pointer) {
#if defined(__GFX11__) || defined(__GFX12__)
  const u32x4 words = *(const u32x4*)pointer;
  fragment[run * 4 + 2] = words.z, fragment[run * 4 + 3] = words.w;
#else
  const u32x2 words = *(const u32x2*)pointer;
#endif
  fragment[run * 4] = words.x, fragment[run * 4 + 1] = words.y;
}
#define MATRIX_LOAD(fragment, run, pointer) kiln_matrix_load(fragment, run, pointer)

// The same elements one by one.
#define MATRIX_ROW_ACROSS_A(lane) ((lane) % 16)
#define MATRIX_ROW_ACROSS_B(lane) MATRIX_ROW_ACROSS_A(lane)
#define MATRIX_STEP_ACROSS_B(lane, run) MATRIX_STEP_ACROSS_A(lane, run)
#if defined(__GFX11__)
#define MATRIX_RUNS_ACROSS 16
#define MATRIX_STEP_ACROSS_A(lane, run) (run)
#elif defined(__GFX12__)
#define MATRIX_RUNS_ACROSS 8
#define MATRIX_STEP_ACROSS_A(lane, run) ((lane) / 16 * 8 + (run))
#else
#define MATRIX_RUNS_ACROSS 4
#define MATRIX_STEP_ACROSS_A(lane, run) ((lane) / 16 * 4 + (run))
#endif
DEVICE_FUNCTION void kiln_matrix_load_across(u32* fragment, int run, const void* pointer) {
  const u32 bits = *(const u16*)pointer;
  fragment[run / 2] = run % 2 == 0 ? bits : fragment[run / 2] | bits << 16;
}
#define MATRIX_LOAD_ACROSS(fragment, run, pointer) kiln_matrix_load_across(fragment, run, pointer)

// The instruction gets the operands in turned roles, so that a lane holds sums of one row that are neighbours.
template <typename T>
DEVICE_FUNCTION T kiln_fragment_as(const u32* words) {
  T fragment;
  __builtin_memcpy(&fragment, words, sizeof fragment);
  return fragment;
}
typedef f32 kiln_sums __attribute__((ext_vector_type(MATRIX_SUMS)));
typedef _Float16 kiln_halves __attribute__((ext_vector_type(2 * MATRIX_WORDS)));
typedef short kiln_bfloats __attribute__((ext_vector_type(2 * MATRIX_WORDS)));
DEVICE_FUNCTION void kiln_matrix_multiply_f16(f32* sum, const u32* a, const u32* b) {
  kiln_sums s;
  __builtin_memcpy(&s, sum, sizeof s);
  const kiln_halves left = kiln_fragment_as<kiln_halves>(b), right = kiln_fragment_as<kiln_halves>(a);
#if defined(__GFX11__)
  s = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(left, right, s);
#elif defined(__GFX12__)
  s = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(left, right, s);
#else
  s = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, s, 0, 0, 0);
#endif
  __builtin_memcpy(sum, &s, sizeof s);
}
DEVICE_FUNCTION void kiln_matrix_multiply_bf16(f32* sum, const u32* a, const u32* b) {
  kiln_sums s;
  __builtin_memcpy(&s, sum, sizeof s);
  const kiln_bfloats left = kiln_fragment_as<kiln_bfloats>(b), right = kiln_fragment_as<kiln_bfloats>(a);
#if defined(__GFX11__)
  s = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(left, right, s);
#elif defined(__GFX12__)
  s = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(left, right, s);
#else
  s = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, s, 0, 0, 0);
#endif
  __builtin_memcpy(sum, &s, sizeof s);
}
#define MATRIX_MULTIPLY_F16(sum, a, b) kiln_matrix_multiply_f16(sum, a, b)
#define MATRIX_MULTIPLY_BF16(sum, a, b) kiln_matrix_multiply_bf16(sum, a, b)

#define MATRIX_SUM_ROW(lane, i) ((lane) % 16)
#define MATRIX_SUM_COLUMN(lane, i) ((lane) / 16 * MATRIX_SUMS + (i))
#if defined(__GFX11__)
// Lanes 0 to 15 hold the even columns of a row, lanes 16 to 31 its odd ones: they exchange halves.
DEVICE_FUNCTION void kiln_matrix_order(f32* sum, int lane) {
  const int low = lane < 16;
  f32 other[4];
  f32 own[4];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    own[i] = low ? sum[i] : sum[4 + i];
    other[i] = __shfl_xor(low ? sum[4 + i] : sum[i], 16);
  }
  UNROLL
  for (int i = 0; i < 4; ++i) {
    sum[2 * i] = low ? own[i] : other[i];
    sum[2 * i + 1] = low ? other[i] : own[i];
  }
}
#define MATRIX_ORDER(sum, lane) kiln_matrix_order(sum, lane)
#else
#define MATRIX_ORDER(sum, lane) ((void)0)
#endif
