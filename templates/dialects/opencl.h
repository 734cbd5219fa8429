// The words of docs/dialect.md in OpenCL C 1.2 (-cl-std=CL1.2), which every driver has: PoCL, and NVIDIA's
// OpenCL 3.0, whose optional 2.x features (device-scope atomics, sub-groups) are absent. NVIDIA's compiler
// takes inline PTX instead. 64-bit atomics and doubles exist where the device has them.
// SPDX-License-Identifier: Apache-2.0
//
// The renderer puts in front of a kernel only the definitions that it uses, and those that these use
// (templates/prelude.cpp). A comment belongs to the lines below it, up to the next comment or blank line.

#ifndef WARP_SIZE
#define WARP_SIZE 1
#endif

#define KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void
#define KERNEL_MIN_BLOCKS(x, y, z, blocks) KERNEL(x, y, z)

#define DEVICE_FUNCTION static inline __attribute__((always_inline, overloadable))

#define GLOBAL __global
#define SHARED __attribute__((aligned(16))) __local
#define SHARED_PTR __local
#define CONSTANT_PTR __constant
#define RESTRICT restrict

// Declared as 16-byte words: a __local parameter is aligned like its type, and kernels read 16 bytes at once.
#define DYNAMIC_SHARED_PARAM(T, name) , __local uint4* name##_words
#define DYNAMIC_SHARED(T, name) __local T* name = (__local T*)name##_words

#define CONSTANT_ARRAY(T, name, count)
#define CONSTANT_PARAM(T, name) , __constant T* name

#define STATIC_ASSERT(condition, why) _Static_assert(condition, why)

#define KILN_PRAGMA(text) _Pragma(#text)
#define UNROLL _Pragma("unroll")
#define UNROLL_N(n) KILN_PRAGMA(unroll n)
#define NO_UNROLL _Pragma("unroll 1")

#define THREAD_X ((int)get_local_id(0))
#define THREAD_Y ((int)get_local_id(1))
#define THREAD_Z ((int)get_local_id(2))
#define BLOCK_X ((int)get_group_id(0))
#define BLOCK_Y ((int)get_group_id(1))
#define BLOCK_Z ((int)get_group_id(2))

#define GRID_X ((int)get_num_groups(0))
#define GRID_Y ((int)get_num_groups(1))
#define GRID_Z ((int)get_num_groups(2))
#define BLOCK_SIZE_X ((int)get_local_size(0))
#define BLOCK_SIZE_Y ((int)get_local_size(1))
#define BLOCK_SIZE_Z ((int)get_local_size(2))

#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

#ifdef __NV_CL_C_VERSION
#define WARP_BARRIER() __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define WARP_BARRIER() mem_fence(CLK_LOCAL_MEM_FENCE)
#endif

#ifdef __NV_CL_C_VERSION
#define GLOBAL_FENCE() __asm__ volatile("membar.gl;" ::: "memory")
#else
#define GLOBAL_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
#endif
typedef uchar u8;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef float f32;

typedef ushort f16_t;   // the bits of a half
typedef ushort bf16_t;  // the bits of a bfloat16

typedef char i8;

typedef short i16;

typedef uchar e4m3_t;  // the bits of an 8-bit float with 4 bits of exponent
typedef uchar e5m2_t;  // the bits of an 8-bit float with 5 bits of exponent

typedef uint2 u32x2;
typedef uint4 u32x4;
#define U32X2(x, y) ((uint2)(x, y))
#define U32X4(x, y, z, w) ((uint4)(x, y, z, w))

// Exchange of 64-bit values in two halves, for the three shuffles.
#define KILN_SHUFFLE_OVERLOADS(name)                                                         \
  DEVICE_FUNCTION i32 name(i32 value, int lane) { return as_int(name(as_uint(value), lane)); } \
  DEVICE_FUNCTION f32 name(f32 value, int lane) { return as_float(name(as_uint(value), lane)); } \
  DEVICE_FUNCTION u64 name(u64 value, int lane) {                                            \
    u32 high = name((u32)(value >> 32), lane);                                               \
    return ((u64)high << 32) | name((u32)value, lane);                                       \
  }                                                                                          \
  DEVICE_FUNCTION i64 name(i64 value, int lane) { return as_long(name(as_ulong(value), lane)); }

#if defined(cl_khr_fp64)
#define KILN_SHUFFLE_F64(name) \
  DEVICE_FUNCTION f64 name(f64 value, int lane) { return as_double(name(as_ulong(value), lane)); }
#else
#define KILN_SHUFFLE_F64(name)
#endif

// The one exchange of 32 bits that the compiler at hand has: PTX, or the sub-group extensions.
#if defined(__NV_CL_C_VERSION)
#define KILN_SHUFFLE_BITS(name, ptx, extension)                                                 \
  DEVICE_FUNCTION u32 name(u32 value, int lane) {                                               \
    u32 result;                                                                                 \
    __asm__ volatile("shfl.sync." ptx " %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane)); \
    return result;                                                                              \
  }
#else
#define KILN_SHUFFLE_BITS(name, ptx, extension) \
  DEVICE_FUNCTION u32 name(u32 value, int lane) { return extension(value, (uint)lane); }
#endif

KILN_SHUFFLE_BITS(kiln_shuffle, "idx.b32", sub_group_shuffle)
KILN_SHUFFLE_OVERLOADS(kiln_shuffle)
KILN_SHUFFLE_F64(kiln_shuffle)
#define SHUFFLE(value, lane) kiln_shuffle(value, lane)

KILN_SHUFFLE_BITS(kiln_shuffle_down, "down.b32", sub_group_shuffle_down)
KILN_SHUFFLE_OVERLOADS(kiln_shuffle_down)
KILN_SHUFFLE_F64(kiln_shuffle_down)
#define SHUFFLE_DOWN(value, delta) kiln_shuffle_down(value, delta)

KILN_SHUFFLE_BITS(kiln_shuffle_xor, "bfly.b32", sub_group_shuffle_xor)
KILN_SHUFFLE_OVERLOADS(kiln_shuffle_xor)
KILN_SHUFFLE_F64(kiln_shuffle_xor)
#define SHUFFLE_XOR(value, mask) kiln_shuffle_xor(value, mask)

#if defined(__NV_CL_C_VERSION)
DEVICE_FUNCTION u64 kiln_ballot(int predicate) {
  u32 mask;
  __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(mask) : "r"(predicate));
  return mask;
}
#define BALLOT(predicate) kiln_ballot((predicate) ? 1 : 0)
#else
#define BALLOT(predicate) as_ulong(sub_group_ballot((predicate) ? 1 : 0).xy)
#endif

#define BITS_TO_F32(bits) as_float((u32)(bits))
#define F32_TO_BITS(value) as_uint((f32)(value))

#define F64_FROM_BITS(low, high) as_double(((u64)(u32)(high) << 32) | (u64)(u32)(low))
#define BITS_TO_F64(bits) as_double((u64)(bits))
#define F64_TO_BITS(value) as_ulong((f64)(value))

#define F32_INFINITY INFINITY
#define F64_INFINITY as_double(0x7ff0000000000000UL)

DEVICE_FUNCTION f32 kiln_f16_to_f32(f16_t bits) { return vload_half(0, (const __private half*)&bits); }
#define F16_TO_F32(bits) kiln_f16_to_f32((f16_t)(bits))

DEVICE_FUNCTION f16_t kiln_f32_to_f16(f32 value) {
  f16_t bits;
  vstore_half_rte(value, 0, (__private half*)&bits);
  return bits;
}
#define F32_TO_F16(value) kiln_f32_to_f16((f32)(value))

#define BF16_TO_F32(bits) BITS_TO_F32((u32)(bits) << 16)

DEVICE_FUNCTION bf16_t kiln_f32_to_bf16(f32 value) {
  u32 bits = F32_TO_BITS(value);
  if (isnan(value)) return (bf16_t)0x7fff;
  return (bf16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // ties to even
}
#define F32_TO_BF16(value) kiln_f32_to_bf16((f32)(value))

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

// Two floats as two halves in a word, the first in the low bits.
#define F32X2_TO_F16X2(low, high) ((u32)F32_TO_F16(low) | (u32)F32_TO_F16(high) << 16)
#define F32X2_TO_BF16X2(low, high) ((u32)F32_TO_BF16(low) | (u32)F32_TO_BF16(high) << 16)

#define LOAD_16(pointer) (*(__global const u32x4*)(pointer))
#define LOAD_8(pointer) (*(__global const u32x2*)(pointer))
#define LOAD_4(pointer) (*(__global const u32*)(pointer))

#define STORE_16(pointer, value) (*(__global u32x4*)(pointer) = (value))
#define STORE_8(pointer, value) (*(__global u32x2*)(pointer) = (value))
#define STORE_4(pointer, value) (*(__global u32*)(pointer) = (value))

#define LOAD_16_IF(yes, pointer) ((yes) ? LOAD_16(pointer) : U32X4(0, 0, 0, 0))
#define LOAD_8_IF(yes, pointer) ((yes) ? LOAD_8(pointer) : U32X2(0, 0))
#define LOAD_4_IF(yes, pointer) ((yes) ? LOAD_4(pointer) : 0)
#define LOAD_2_IF(yes, pointer) ((u16)((yes) ? *(__global const u16*)(pointer) : 0))

#define STORE_16_IF(yes, pointer, value) do { if (yes) STORE_16(pointer, value); } while (0)
#define STORE_8_IF(yes, pointer, value) do { if (yes) STORE_8(pointer, value); } while (0)
#define STORE_4_IF(yes, pointer, value) do { if (yes) STORE_4(pointer, value); } while (0)
#define STORE_2_IF(yes, pointer, value) do { if (yes) *(__global u16*)(pointer) = (value); } while (0)

#define LOAD_16_STREAM(pointer) (*(__global const u32x4*)(pointer))
#define LOAD_8_STREAM(pointer) (*(__global const u32x2*)(pointer))
#define LOAD_4_STREAM(pointer) (*(__global const u32*)(pointer))

#define STORE_16_STREAM(pointer, value) (*(__global u32x4*)(pointer) = (value))
#define STORE_8_STREAM(pointer, value) (*(__global u32x2*)(pointer) = (value))
#define STORE_4_STREAM(pointer, value) (*(__global u32*)(pointer) = (value))

#define SHARED_LOAD_16(pointer) (*(__local const u32x4*)(pointer))
#define SHARED_LOAD_8(pointer) (*(__local const u32x2*)(pointer))
#define SHARED_LOAD_4(pointer) (*(__local const u32*)(pointer))

#define SHARED_STORE_16(pointer, value) (*(__local u32x4*)(pointer) = (value))
#define SHARED_STORE_8(pointer, value) (*(__local u32x2*)(pointer) = (value))
#define SHARED_STORE_4(pointer, value) (*(__local u32*)(pointer) = (value))

#define ATOMIC_ADD_U32(pointer, value) atomic_add((volatile __global u32*)(pointer), (u32)(value))
#define ATOMIC_ADD_I32(pointer, value) atomic_add((volatile __global i32*)(pointer), (i32)(value))

// 64-bit atomics are an extension; a kernel that uses them on a device without fails to compile.
#ifndef KILN_INT64_ATOMICS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#ifdef cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif
#define KILN_INT64_ATOMICS(call) call
#endif

#define ATOMIC_ADD_U64(pointer, value) \
  KILN_INT64_ATOMICS(atom_add((volatile __global u64*)(pointer), (u64)(value)))
#define ATOMIC_ADD_I64(pointer, value) \
  KILN_INT64_ATOMICS(atom_add((volatile __global i64*)(pointer), (i64)(value)))

#if defined(__NV_CL_C_VERSION)
DEVICE_FUNCTION f32 kiln_atomic_add_f32(volatile __global f32* pointer, f32 value) {
  f32 old;
  __asm__ volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(pointer), "f"(value) : "memory");
  return old;
}
#else
DEVICE_FUNCTION f32 kiln_atomic_add_f32(volatile __global f32* pointer, f32 value) {
  volatile __global u32* word = (volatile __global u32*)pointer;
  u32 seen = *word;
  u32 old;
  do {
    old = seen;
    seen = atomic_cmpxchg(word, old, as_uint(as_float(old) + value));
  } while (seen != old);
  return as_float(old);
}
#endif
#define ATOMIC_ADD_F32(pointer, value) kiln_atomic_add_f32(pointer, (f32)(value))

DEVICE_FUNCTION f64 kiln_atomic_add_f64(volatile __global f64* pointer, f64 value) {
  volatile __global u64* word = (volatile __global u64*)pointer;
  u64 seen = *word;
  u64 old;
  do {
    old = seen;
    seen = KILN_INT64_ATOMICS(atom_cmpxchg(word, old, as_ulong(as_double(old) + value)));
  } while (seen != old);
  return as_double(old);
}
#define ATOMIC_ADD_F64(pointer, value) kiln_atomic_add_f64(pointer, (f64)(value))

#define ATOMIC_MIN_I32(pointer, value) atomic_min((volatile __global i32*)(pointer), (i32)(value))
#define ATOMIC_MAX_I32(pointer, value) atomic_max((volatile __global i32*)(pointer), (i32)(value))
#define ATOMIC_MIN_U32(pointer, value) atomic_min((volatile __global u32*)(pointer), (u32)(value))
#define ATOMIC_MAX_U32(pointer, value) atomic_max((volatile __global u32*)(pointer), (u32)(value))

// By compare and swap: the extension with atom_min and atom_max is rarer than the one with atom_cmpxchg.
#define KILN_ATOMIC_64(name, T, better)                                                \
  DEVICE_FUNCTION T name(volatile __global T* pointer, T value) {                      \
    T old = *pointer;                                                                  \
    while (value better old) {                                                         \
      T seen = KILN_INT64_ATOMICS(atom_cmpxchg(pointer, old, value));                  \
      if (seen == old) break;                                                          \
      old = seen;                                                                      \
    }                                                                                  \
    return old;                                                                        \
  }
KILN_ATOMIC_64(kiln_atomic_min_i64, i64, <)
KILN_ATOMIC_64(kiln_atomic_max_i64, i64, >)
KILN_ATOMIC_64(kiln_atomic_min_u64, u64, <)
KILN_ATOMIC_64(kiln_atomic_max_u64, u64, >)
#define ATOMIC_MIN_I64(pointer, value) kiln_atomic_min_i64((volatile __global i64*)(pointer), (i64)(value))
#define ATOMIC_MAX_I64(pointer, value) kiln_atomic_max_i64((volatile __global i64*)(pointer), (i64)(value))
#define ATOMIC_MIN_U64(pointer, value) kiln_atomic_min_u64((volatile __global u64*)(pointer), (u64)(value))
#define ATOMIC_MAX_U64(pointer, value) kiln_atomic_max_u64((volatile __global u64*)(pointer), (u64)(value))

#define ATOMIC_EXCHANGE_U32(pointer, value) atomic_xchg((volatile __global u32*)(pointer), (u32)(value))
#define ATOMIC_CAS_U32(pointer, expected, value) \
  atomic_cmpxchg((volatile __global u32*)(pointer), (u32)(expected), (u32)(value))

// Floats order like signed integers where the sign bit is clear, and like unsigned ones reversed where it is set.
DEVICE_FUNCTION f32 kiln_atomic_min_f32(volatile __global f32* pointer, f32 value) {
  if (as_int(value) >= 0) return as_float(ATOMIC_MIN_I32(pointer, as_int(value)));
  return as_float(ATOMIC_MAX_U32(pointer, as_uint(value)));
}
DEVICE_FUNCTION f32 kiln_atomic_max_f32(volatile __global f32* pointer, f32 value) {
  if (as_int(value) >= 0) return as_float(ATOMIC_MAX_I32(pointer, as_int(value)));
  return as_float(ATOMIC_MIN_U32(pointer, as_uint(value)));
}
#define ATOMIC_MIN_F32(pointer, value) kiln_atomic_min_f32(pointer, (f32)(value))
#define ATOMIC_MAX_F32(pointer, value) kiln_atomic_max_f32(pointer, (f32)(value))

DEVICE_FUNCTION f64 kiln_atomic_min_f64(volatile __global f64* pointer, f64 value) {
  if (as_long(value) >= 0) return as_double(ATOMIC_MIN_I64(pointer, as_long(value)));
  return as_double(ATOMIC_MAX_U64(pointer, as_ulong(value)));
}
DEVICE_FUNCTION f64 kiln_atomic_max_f64(volatile __global f64* pointer, f64 value) {
  if (as_long(value) >= 0) return as_double(ATOMIC_MAX_I64(pointer, as_long(value)));
  return as_double(ATOMIC_MIN_U64(pointer, as_ulong(value)));
}
#define ATOMIC_MIN_F64(pointer, value) kiln_atomic_min_f64(pointer, (f64)(value))
#define ATOMIC_MAX_F64(pointer, value) kiln_atomic_max_f64(pointer, (f64)(value))

#define SHARED_ATOMIC_ADD_U32(pointer, value) atomic_add((volatile __local u32*)(pointer), (u32)(value))
#define SHARED_ATOMIC_ADD_I32(pointer, value) atomic_add((volatile __local i32*)(pointer), (i32)(value))
#define SHARED_COUNT_U32(pointer, value) ((void)atomic_add((volatile __local u32*)(pointer), (u32)(value)))

DEVICE_FUNCTION f32 kiln_shared_atomic_add_f32(volatile __local f32* pointer, f32 value) {
  volatile __local u32* word = (volatile __local u32*)pointer;
  u32 seen = *word;
  u32 old;
  do {
    old = seen;
    seen = atomic_cmpxchg(word, old, as_uint(as_float(old) + value));
  } while (seen != old);
  return as_float(old);
}
#define SHARED_ATOMIC_ADD_F32(pointer, value) kiln_shared_atomic_add_f32(pointer, (f32)(value))

DEVICE_FUNCTION f32 kiln_fma(f32 a, f32 b, f32 c) { return fma(a, b, c); }
DEVICE_FUNCTION i32 kiln_fma(i32 a, i32 b, i32 c) { return a * b + c; }
DEVICE_FUNCTION u32 kiln_fma(u32 a, u32 b, u32 c) { return a * b + c; }
DEVICE_FUNCTION i64 kiln_fma(i64 a, i64 b, i64 c) { return a * b + c; }
DEVICE_FUNCTION u64 kiln_fma(u64 a, u64 b, u64 c) { return a * b + c; }
#if defined(cl_khr_fp64)
DEVICE_FUNCTION f64 kiln_fma(f64 a, f64 b, f64 c) { return fma(a, b, c); }
#endif
#define FMA(a, b, c) kiln_fma(a, b, c)

#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)
