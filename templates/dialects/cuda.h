// The words of docs/dialect.md in CUDA C++, for NVRTC (sm_75 and later). Includes nothing: a machine with
// only the driver and NVRTC has no cuda_fp16.h.
// SPDX-License-Identifier: Apache-2.0
//
// The renderer puts in front of a kernel only the definitions that it uses, and those that these use
// (templates/prelude.cpp). A comment belongs to the lines below it, up to the next comment or blank line.

#ifndef WARP_SIZE
#define WARP_SIZE 32
#endif

#define KERNEL(x, y, z) extern "C" __global__ void __launch_bounds__((x) * (y) * (z))
#define KERNEL_MIN_BLOCKS(x, y, z, blocks) \
  extern "C" __global__ void __launch_bounds__((x) * (y) * (z), blocks)

#define DEVICE_FUNCTION __device__ __forceinline__

#define GLOBAL
#define SHARED __shared__ __align__(16)
#define SHARED_PTR
#define CONSTANT_PTR
#define RESTRICT __restrict__

extern __shared__ __align__(128) unsigned char kiln_dynamic_shared[];
#define DYNAMIC_SHARED_PARAM(T, name)
#define DYNAMIC_SHARED(T, name) T* name = (T*)kiln_dynamic_shared

#define CONSTANT_ARRAY(T, name, count) __constant__ __align__(16) T name[count];
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

#define WARP_BARRIER() __syncwarp()

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

typedef uint2 u32x2;
typedef uint4 u32x4;
#define U32X2(x, y) make_uint2(x, y)
#define U32X4(x, y, z, w) make_uint4(x, y, z, w)

#define SHUFFLE(value, lane) __shfl_sync(0xffffffffu, value, lane)
#define SHUFFLE_DOWN(value, delta) __shfl_down_sync(0xffffffffu, value, delta)
#define SHUFFLE_XOR(value, mask) __shfl_xor_sync(0xffffffffu, value, mask)

#define BALLOT(predicate) ((u64)__ballot_sync(0xffffffffu, predicate))

#define BITS_TO_F32(bits) __uint_as_float(bits)
#define F32_TO_BITS(value) __float_as_uint(value)

#define F64_FROM_BITS(low, high) __hiloint2double((int)(high), (int)(low))
#define BITS_TO_F64(bits) __longlong_as_double((i64)(bits))
#define F64_TO_BITS(value) ((u64)__double_as_longlong(value))

#define F32_INFINITY __int_as_float(0x7f800000)
#define F64_INFINITY __longlong_as_double(0x7ff0000000000000LL)

DEVICE_FUNCTION f32 kiln_f16_to_f32(f16_t bits) {
  f32 value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
#define F16_TO_F32(bits) kiln_f16_to_f32(bits)

DEVICE_FUNCTION f16_t kiln_f32_to_f16(f32 value) {
  f16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#define F32_TO_F16(value) kiln_f32_to_f16(value)

#define BF16_TO_F32(bits) BITS_TO_F32((u32)(bits) << 16)

DEVICE_FUNCTION bf16_t kiln_f32_to_bf16(f32 value) {
#if __CUDA_ARCH__ >= 800
  bf16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
#else
  u32 bits = F32_TO_BITS(value);
  if (value != value) return (bf16_t)0x7fff;
  return (bf16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // ties to even
#endif
}
#define F32_TO_BF16(value) kiln_f32_to_bf16(value)

// 1 where there are instructions for 8-bit floats: sm_89 (PTX 8.1, CUDA 12.1) and later. They take two at a time.
#if __CUDA_ARCH__ >= 900 || (__CUDA_ARCH__ >= 890 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201)
#define KILN_F8_INSTRUCTIONS 1
#else
#define KILN_F8_INSTRUCTIONS 0
#endif

#if KILN_F8_INSTRUCTIONS
DEVICE_FUNCTION f32 kiln_e4m3_to_f32(e4m3_t code) {
  u32 halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((u16)code));
  return F16_TO_F32((f16_t)halves);
}
#else
DEVICE_FUNCTION f32 kiln_e4m3_to_f32(e4m3_t code) {
  const u32 steps = code & 0x7fu;
  f32 magnitude = BITS_TO_F32((steps << 20) + 0x3c000000u);
  if (steps < 8u) magnitude = (f32)steps * 0.001953125f;  // 2^-9
  if (steps == 0x7fu) magnitude = BITS_TO_F32(0x7fffffffu);
  return BITS_TO_F32(F32_TO_BITS(magnitude) | ((u32)(code & 0x80u) << 24));
}
#endif
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

#if KILN_F8_INSTRUCTIONS
DEVICE_FUNCTION e4m3_t kiln_f32_to_e4m3(f32 value) {
  u16 pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return (e4m3_t)pair;
}
#define F32_TO_E4M3(value) kiln_f32_to_e4m3(value)
#else
#define F32_TO_E4M3(value) ((e4m3_t)KILN_F32_TO_F8(value, 3u, 7u, 0x7eu))
#endif

#if KILN_F8_INSTRUCTIONS
DEVICE_FUNCTION e5m2_t kiln_f32_to_e5m2(f32 value) {
  u16 pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return (e5m2_t)pair;
}
#define F32_TO_E5M2(value) kiln_f32_to_e5m2(value)
#else
#define F32_TO_E5M2(value) ((e5m2_t)KILN_F32_TO_F8(value, 2u, 15u, 0x7bu))
#endif

#define LOAD_16(pointer) (*(const u32x4*)(pointer))
#define LOAD_8(pointer) (*(const u32x2*)(pointer))
#define LOAD_4(pointer) (*(const u32*)(pointer))

#define STORE_16(pointer, value) (*(u32x4*)(pointer) = (value))
#define STORE_8(pointer, value) (*(u32x2*)(pointer) = (value))
#define STORE_4(pointer, value) (*(u32*)(pointer) = (value))

// Predicates instead of branches: a quarter less to compile where there are many.
DEVICE_FUNCTION u32x4 kiln_load_16_if(int yes, const void* pointer) {
  u32x4 v;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %4, 0; mov.u32 %0, 0; mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0;"
               " @p ld.global.v4.u32 {%0, %1, %2, %3}, [%5]; }"
               : "=&r"(v.x), "=&r"(v.y), "=&r"(v.z), "=&r"(v.w) : "r"(yes), "l"(pointer) : "memory");
  return v;
}
DEVICE_FUNCTION u32x2 kiln_load_8_if(int yes, const void* pointer) {
  u32x2 v;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.u32 %0, 0; mov.u32 %1, 0; @p ld.global.v2.u32 {%0, %1}, [%3]; }"
               : "=&r"(v.x), "=&r"(v.y) : "r"(yes), "l"(pointer) : "memory");
  return v;
}
DEVICE_FUNCTION u32 kiln_load_4_if(int yes, const void* pointer) {
  u32 v;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; mov.u32 %0, 0; @p ld.global.u32 %0, [%2]; }"
               : "=&r"(v) : "r"(yes), "l"(pointer) : "memory");
  return v;
}
DEVICE_FUNCTION u16 kiln_load_2_if(int yes, const void* pointer) {
  u16 v;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; mov.u16 %0, 0; @p ld.global.u16 %0, [%2]; }"
               : "=&h"(v) : "r"(yes), "l"(pointer) : "memory");
  return v;
}
#define LOAD_16_IF(yes, pointer) kiln_load_16_if(yes, pointer)
#define LOAD_8_IF(yes, pointer) kiln_load_8_if(yes, pointer)
#define LOAD_4_IF(yes, pointer) kiln_load_4_if(yes, pointer)
#define LOAD_2_IF(yes, pointer) kiln_load_2_if(yes, pointer)

DEVICE_FUNCTION void kiln_store_16_if(int yes, void* pointer, u32x4 v) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v4.u32 [%1], {%2, %3, %4, %5}; }"
               :: "r"(yes), "l"(pointer), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
DEVICE_FUNCTION void kiln_store_8_if(int yes, void* pointer, u32x2 v) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v2.u32 [%1], {%2, %3}; }"
               :: "r"(yes), "l"(pointer), "r"(v.x), "r"(v.y) : "memory");
}
DEVICE_FUNCTION void kiln_store_4_if(int yes, void* pointer, u32 v) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.u32 [%1], %2; }"
               :: "r"(yes), "l"(pointer), "r"(v) : "memory");
}
DEVICE_FUNCTION void kiln_store_2_if(int yes, void* pointer, u16 v) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.u16 [%1], %2; }"
               :: "r"(yes), "l"(pointer), "h"(v) : "memory");
}
#define STORE_16_IF(yes, pointer, value) kiln_store_16_if(yes, pointer, value)
#define STORE_8_IF(yes, pointer, value) kiln_store_8_if(yes, pointer, value)
#define STORE_4_IF(yes, pointer, value) kiln_store_4_if(yes, pointer, value)
#define STORE_2_IF(yes, pointer, value) kiln_store_2_if(yes, pointer, value)

#define LOAD_16_STREAM(pointer) __ldcs((const u32x4*)(pointer))
#define LOAD_8_STREAM(pointer) __ldcs((const u32x2*)(pointer))
#define LOAD_4_STREAM(pointer) __ldcs((const u32*)(pointer))

#define STORE_16_STREAM(pointer, value) __stcs((u32x4*)(pointer), value)
#define STORE_8_STREAM(pointer, value) __stcs((u32x2*)(pointer), value)
#define STORE_4_STREAM(pointer, value) __stcs((u32*)(pointer), value)

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

#define ATOMIC_MIN_I64(pointer, value) atomicMin((i64*)(pointer), (i64)(value))
#define ATOMIC_MAX_I64(pointer, value) atomicMax((i64*)(pointer), (i64)(value))
#define ATOMIC_MIN_U64(pointer, value) atomicMin((u64*)(pointer), (u64)(value))
#define ATOMIC_MAX_U64(pointer, value) atomicMax((u64*)(pointer), (u64)(value))

#define ATOMIC_EXCHANGE_U32(pointer, value) atomicExch((u32*)(pointer), (u32)(value))
#define ATOMIC_CAS_U32(pointer, expected, value) atomicCAS((u32*)(pointer), (u32)(expected), (u32)(value))

// Floats order like signed integers where the sign bit is clear, and like unsigned ones reversed where it is set.
DEVICE_FUNCTION f32 kiln_atomic_min_f32(f32* pointer, f32 value) {
  if (__float_as_int(value) >= 0) return __int_as_float(atomicMin((i32*)pointer, __float_as_int(value)));
  return __uint_as_float(atomicMax((u32*)pointer, __float_as_uint(value)));
}
DEVICE_FUNCTION f32 kiln_atomic_max_f32(f32* pointer, f32 value) {
  if (__float_as_int(value) >= 0) return __int_as_float(atomicMax((i32*)pointer, __float_as_int(value)));
  return __uint_as_float(atomicMin((u32*)pointer, __float_as_uint(value)));
}
#define ATOMIC_MIN_F32(pointer, value) kiln_atomic_min_f32((f32*)(pointer), value)
#define ATOMIC_MAX_F32(pointer, value) kiln_atomic_max_f32((f32*)(pointer), value)

DEVICE_FUNCTION f64 kiln_atomic_min_f64(f64* pointer, f64 value) {
  i64 bits = __double_as_longlong(value);
  if (bits >= 0) return __longlong_as_double(atomicMin((i64*)pointer, bits));
  return __longlong_as_double((i64)atomicMax((u64*)pointer, (u64)bits));
}
DEVICE_FUNCTION f64 kiln_atomic_max_f64(f64* pointer, f64 value) {
  i64 bits = __double_as_longlong(value);
  if (bits >= 0) return __longlong_as_double(atomicMax((i64*)pointer, bits));
  return __longlong_as_double((i64)atomicMin((u64*)pointer, (u64)bits));
}
#define ATOMIC_MIN_F64(pointer, value) kiln_atomic_min_f64((f64*)(pointer), value)
#define ATOMIC_MAX_F64(pointer, value) kiln_atomic_max_f64((f64*)(pointer), value)

#define SHARED_ATOMIC_ADD_U32(pointer, value) atomicAdd((u32*)(pointer), (u32)(value))
#define SHARED_ATOMIC_ADD_I32(pointer, value) atomicAdd((i32*)(pointer), (i32)(value))
#define SHARED_ATOMIC_ADD_F32(pointer, value) atomicAdd((f32*)(pointer), (f32)(value))
#define SHARED_COUNT_U32(pointer, value) ((void)atomicAdd((u32*)(pointer), (u32)(value)))

DEVICE_FUNCTION f32 kiln_fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
DEVICE_FUNCTION f64 kiln_fma(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
DEVICE_FUNCTION i32 kiln_fma(i32 a, i32 b, i32 c) { return a * b + c; }
DEVICE_FUNCTION u32 kiln_fma(u32 a, u32 b, u32 c) { return a * b + c; }
DEVICE_FUNCTION i64 kiln_fma(i64 a, i64 b, i64 c) { return a * b + c; }
DEVICE_FUNCTION u64 kiln_fma(u64 a, u64 b, u64 c) { return a * b + c; }
#define FMA(a, b, c) kiln_fma(a, b, c)

#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)

// Tensor maps, bulk copies, their barriers, matrix units: words of CUDA alone. Each says which device.* a variant must
// require. Addresses are those of SHARED_ADDRESS: bytes, 32 bits, of this block's shared memory.

// A kernel's parameter: a tensor map of the spec, by value.
struct __align__(64) kiln_tensor_map {
  unsigned long long opaque[16];
};
#define TENSOR_MAP_PARAM(name) const __grid_constant__ kiln_tensor_map name

// Dynamic shared memory whose first byte lies at a multiple of 1024: what a tensor map of 128-byte swizzle writes.
extern __shared__ __align__(1024) unsigned char kiln_aligned_shared[];
#define ALIGNED_SHARED(T, name) T* name = (T*)kiln_aligned_shared

// In a cluster the high bits name the block.
#define SHARED_ADDRESS(pointer) ((u32)__cvta_generic_to_shared(pointer))

// Read anew at each use, so that what depends on it is not kept in registers through a loop in between.
DEVICE_FUNCTION int kiln_lane() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
#define LANE() kiln_lane()

// The same value in all threads of the warp, which the compiler then knows.
#define WARP_UNIFORM(value) __shfl_sync(0xffffffffu, value, 0)

// Waits for `threads` threads of the block; each id is a barrier of its own. 0 is BARRIER's.
#define NAMED_BARRIER(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")

#define MBARRIER_INIT(address, arrivals) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory")

// Makes initialised barriers visible to bulk copies and to the cluster; a block or cluster barrier must follow.
#define MBARRIER_FENCE() asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")

// One arrival, and `bytes` of bulk copies that the phase also waits for.
#define MBARRIER_EXPECT(address, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory")

#define MBARRIER_ARRIVE(address) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory")

// At the same address in another block of the cluster. Orders no ordinary stores: it says that reads are done.
DEVICE_FUNCTION void kiln_mbarrier_arrive_at(u32 address, u32 block) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there]; }"
      ::"r"(address), "r"(block) : "memory");
}
#define MBARRIER_ARRIVE_AT(address, block) kiln_mbarrier_arrive_at(address, block)

// Until the phase of this parity is over.
DEVICE_FUNCTION int kiln_mbarrier_try(u32 address, u32 parity) {
  u32 over;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(over) : "r"(address), "r"(parity) : "memory");
  return over != 0;
}
#define MBARRIER_WAIT(address, parity) \
  do {                                 \
  } while (!kiln_mbarrier_try(address, parity))

#define TENSOR_PREFETCH(map) asm volatile("prefetch.tensormap [%0];" ::"l"(&(map)) : "memory")

// `bytes` bytes in a row to shared memory, where they count at the barrier. All three: multiples of 16.
#define BULK_LOAD(to, from, bytes, barrier)                                                                      \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];"        \
               ::"r"(to), "l"(from), "r"(barrier), "r"(bytes) : "memory")

// One box of the tensor to shared memory; element (y, x) first, x innermost. Its bytes count at the barrier.
#define TENSOR_LOAD_2D(to, map, x, y, barrier)                                                                   \
  asm volatile(                                                                                                  \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" \
      ::"r"(to), "l"(&(map)), "r"(barrier), "r"(x), "r"(y) : "memory")

// The same to all blocks of the cluster whose bits are set in `blocks`: same addresses, each block's own barrier.
#define TENSOR_LOAD_2D_MULTICAST(to, map, x, y, barrier, blocks)                                                 \
  asm volatile(                                                                                                  \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], " \
      "[%1, {%3, %4}], [%2], %5;" ::"r"(to), "l"(&(map)), "r"(barrier), "r"(x), "r"(y), "h"((u16)(blocks)) : "memory")

#define TENSOR_LOAD_3D(to, map, x, y, z, barrier)                                                                \
  asm volatile(                                                                                                  \
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" \
      ::"r"(to), "l"(&(map)), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory")

#define TENSOR_LOAD_3D_MULTICAST(to, map, x, y, z, barrier, blocks)                                              \
  asm volatile(                                                                                                  \
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], " \
      "[%1, {%3, %4, %5}], [%2], %6;"                                                                            \
      ::"r"(to), "l"(&(map)), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"((u16)(blocks)) : "memory")

// A box of an im2col map of images: positions from (y, x) of `image` on, shifted by (dy, dx); channels from `c` on.
#define TENSOR_LOAD_IM2COL(to, map, c, x, y, image, dx, dy, barrier)                                             \
  asm volatile(                                                                                                  \
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "                \
      "[%1, {%3, %4, %5, %6}], [%2], {%7, %8};"                                                                  \
      ::"r"(to), "l"(&(map)), "r"(barrier), "r"(c), "r"(x), "r"(y), "r"(image), "h"((u16)(dx)), "h"((u16)(dy)) : "memory")

#define TENSOR_LOAD_IM2COL_MULTICAST(to, map, c, x, y, image, dx, dy, barrier, blocks)                           \
  asm volatile(                                                                                                  \
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], " \
      "[%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;"                                                              \
      ::"r"(to), "l"(&(map)), "r"(barrier), "r"(c), "r"(x), "r"(y), "r"(image), "h"((u16)(dx)), "h"((u16)(dy)),  \
      "h"((u16)(blocks)) : "memory")

// Shared memory to one box of the tensor; what lies outside the tensor is left out. ASYNC_FENCE() comes before.
#define TENSOR_STORE_2D(map, x, y, from)                                                              \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"     \
               ::"l"(&(map)), "r"(from), "r"(x), "r"(y) : "memory")

#define TENSOR_STORE_3D(map, x, y, z, from)                                                           \
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" \
               ::"l"(&(map)), "r"(from), "r"(x), "r"(y), "r"(z) : "memory")

#define TENSOR_STORE_4D(map, x, y, z, w, from)                                                            \
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" \
               ::"l"(&(map)), "r"(from), "r"(x), "r"(y), "r"(z), "r"(w) : "memory")

// Stores of this thread since the last commit are a group; waits until at most n groups have not read (written) all.
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT_READ(n) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
#define BULK_WAIT(n) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")

// Orders this thread's stores to shared memory before bulk copies and matrix instructions that read them.
#define ASYNC_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

DEVICE_FUNCTION int kiln_cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
#define CLUSTER_RANK() kiln_cluster_rank()
#define CLUSTER_BARRIER() asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory")
// Orders no memory but what MBARRIER_FENCE did: waits for no store.
#define CLUSTER_BARRIER_RELAXED() asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory")

// Of each thread of this warpgroup, from here on. The kernel must have a register cap (KERNEL_MIN_BLOCKS).
#define REGISTERS_GROW(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define REGISTERS_SHRINK(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))

#define WGMMA_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")

// Of a matrix in shared memory with a swizzle of 128, 64 or 32 bytes, or none. Along k: `leading` is not used, `stride`
// is 8 rows; without a swizzle units of 8 rows x 16 bytes lie `leading` bytes apart along k, `stride` across.
// Across k: `leading` bytes from 64 columns to the next 64, `stride` from 8 rows to the next 8. A descriptor holds 18
// bits of an address: those above name the block of the cluster.
#define WGMMA_DESCRIPTOR(address, leading, stride, swizzle)                                                          \
  ((u64)((swizzle) == 128 ? 1 : (swizzle) == 64 ? 2 : (swizzle) == 32 ? 3 : 0) << 62 | (u64)((stride) >> 4) << 32 | \
   (u64)((leading) >> 4) << 16 | ((address) & 0x3ffffu) >> 4)

// Four 8 x 8 matrices of 16-bit elements from the registers of a warp: lane l gives the address of row l % 8 of matrix l / 8.
#define STORE_MATRIX_4(address, a, b, c, d)                                                                        \
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), \
               "r"(c), "r"(d) : "memory")

// Two floats as two halves in a word, the first in the low bits.
DEVICE_FUNCTION u32 kiln_f32x2_to_f16x2(f32 low, f32 high) {
#if __CUDA_ARCH__ < 800
  return (u32)F32_TO_F16(low) | (u32)F32_TO_F16(high) << 16;
#else
  u32 pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#endif
}
DEVICE_FUNCTION u32 kiln_f32x2_to_bf16x2(f32 low, f32 high) {
#if __CUDA_ARCH__ < 800
  return (u32)F32_TO_BF16(low) | (u32)F32_TO_BF16(high) << 16;
#else
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#endif
}
#define F32X2_TO_F16X2(low, high) kiln_f32x2_to_f16x2(low, high)
#define F32X2_TO_BF16X2(low, high) kiln_f32x2_to_bf16x2(low, high)

// A word that blocks of a device hand to each other: what was written before the store is seen after the load.
DEVICE_FUNCTION u32 kiln_load_acquire_u32(const u32* pointer) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(pointer) : "memory");
  return value;
}
DEVICE_FUNCTION void kiln_store_release_u32(u32* pointer, u32 value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory");
}
#define LOAD_ACQUIRE_U32(pointer) kiln_load_acquire_u32(pointer)
#define STORE_RELEASE_U32(pointer, value) kiln_store_release_u32(pointer, value)

// Of steps launched with `programmatic`: waits for what the step before has written; lets the next step begin.
#define DEPENDENT_WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#define DEPENDENT_LAUNCH() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")

// From an address in shared memory.
DEVICE_FUNCTION u32x2 kiln_load_8_at(u32 address) {
  u32x2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
  return v;
}
DEVICE_FUNCTION u16 kiln_load_2_at(u32 address) {
  u16 v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
  return v;
}
#define LOAD_8_AT(address) kiln_load_8_at(address)
#define LOAD_2_AT(address) kiln_load_2_at(address)

// From the same address in the shared memory of another block of the cluster.
DEVICE_FUNCTION u32x4 kiln_load_16_of_block(u32 address, u32 block) {
  u32x4 v;
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5; ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [there]; }"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address), "r"(block) : "memory");
  return v;
}
#define LOAD_16_OF_BLOCK(address, block) kiln_load_16_of_block(address, block)

// A copy to shared memory that goes on while the thread does not wait; device.has_async_copy. The first `bytes` bytes
// from global memory, zeros for the rest; with 0 nothing is read. Both addresses are multiples of 16 (8, 4).
#define KILN_ASYNC_COPY(how, size, to, from, bytes)                                          \
  asm volatile("cp.async." how ".shared.global.L2::128B [%0], [%1], " size ", %2;"           \
               :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"((int)(bytes)) : "memory")
#define ASYNC_COPY_16(to, from, bytes) KILN_ASYNC_COPY("cg", "16", to, from, bytes)
#define ASYNC_COPY_8(to, from, bytes) KILN_ASYNC_COPY("ca", "8", to, from, bytes)
#define ASYNC_COPY_4(to, from, bytes) KILN_ASYNC_COPY("ca", "4", to, from, bytes)

// All bytes where `yes` is not 0; otherwise nothing is read or written.
#define KILN_ASYNC_COPY_IF(how, size, yes, to, from)                                                                  \
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async." how ".shared.global.L2::128B [%0], [%1], " size   \
               "; }" :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"((int)(yes)) : "memory")
#define ASYNC_COPY_16_IF(yes, to, from) KILN_ASYNC_COPY_IF("cg", "16", yes, to, from)
#define ASYNC_COPY_8_IF(yes, to, from) KILN_ASYNC_COPY_IF("ca", "8", yes, to, from)
#define ASYNC_COPY_4_IF(yes, to, from) KILN_ASYNC_COPY_IF("ca", "4", yes, to, from)

// This thread's copies since the last commit are a group; waits until at most n groups are under way.
#define ASYNC_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define ASYNC_WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")

// Matrix unit of a warp, 16 x 16 sums at a time; device.has_mma.
#define MATRIX_WORDS 4
#define MATRIX_SUMS 8

// ldmatrix: lane l gives the address of row l % 8 of 8 x 16 bytes number l / 8. These lie below each other, then along k,
// for A; the other way round for B, whose words for one instruction must be neighbours.
#define MATRIX_RUNS 1
#define MATRIX_ROW_A(lane) ((lane) % 16)
#define MATRIX_ROW_B(lane) ((lane) / 16 * 8 + (lane) % 8)
#define MATRIX_BYTE_A(lane, run) ((lane) / 16 * 16)
#define MATRIX_BYTE_B(lane, run) ((lane) / 8 % 2 * 16)
#define MATRIX_LOAD(fragment, run, pointer)                                                                          \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"                                    \
               : "=r"((fragment)[0]), "=r"((fragment)[1]), "=r"((fragment)[2]), "=r"((fragment)[3])                  \
               : "r"((u32)__cvta_generic_to_shared(pointer)) : "memory")

// The same, each 8 x 8 elements of 16 bits transposed: a lane's address is that of 8 rows at one step of k.
#define MATRIX_RUNS_ACROSS 1
#define MATRIX_ROW_ACROSS_A(lane) ((lane) / 8 % 2 * 8)
#define MATRIX_ROW_ACROSS_B(lane) ((lane) / 16 * 8)
#define MATRIX_STEP_ACROSS_A(lane, run) ((lane) / 16 * 8 + (lane) % 8)
#define MATRIX_STEP_ACROSS_B(lane, run) ((lane) % 16)
#define MATRIX_LOAD_ACROSS(fragment, run, pointer)                                                                   \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"                              \
               : "=r"((fragment)[0]), "=r"((fragment)[1]), "=r"((fragment)[2]), "=r"((fragment)[3])                  \
               : "r"((u32)__cvta_generic_to_shared(pointer)) : "memory")

// Two instructions of 16 x 8 sums over 32 bytes of k. Fragments of all types lie alike, seen as words.
#define KILN_MMA(shape, types, sums, constraint, d, a, b0, b1)                                                       \
  asm volatile("mma.sync.aligned." shape ".row.col." sums "." types "." sums                                         \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                    \
               : constraint((d)[0]), constraint((d)[1]), constraint((d)[2]), constraint((d)[3])                      \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))
#define KILN_MMA_PAIR(shape, types, sums, constraint, d, a, b)                                                       \
  KILN_MMA(shape, types, sums, constraint, d, a, (b)[0], (b)[1]);                                                    \
  KILN_MMA(shape, types, sums, constraint, (d) + 4, a, (b)[2], (b)[3])
DEVICE_FUNCTION void kiln_matrix_multiply_f16(f32* sum, const u32* a, const u32* b) {
  KILN_MMA_PAIR("m16n8k16", "f16.f16", "f32", "+f", sum, a, b);
}
DEVICE_FUNCTION void kiln_matrix_multiply_bf16(f32* sum, const u32* a, const u32* b) {
  KILN_MMA_PAIR("m16n8k16", "bf16.bf16", "f32", "+f", sum, a, b);
}
DEVICE_FUNCTION void kiln_matrix_multiply_tf32(f32* sum, const u32* a, const u32* b) {
  KILN_MMA_PAIR("m16n8k8", "tf32.tf32", "f32", "+f", sum, a, b);
}
DEVICE_FUNCTION void kiln_matrix_multiply_e4m3(f32* sum, const u32* a, const u32* b) {
  KILN_MMA_PAIR("m16n8k32", "e4m3.e4m3", "f32", "+f", sum, a, b);
}
DEVICE_FUNCTION void kiln_matrix_multiply_e5m2(f32* sum, const u32* a, const u32* b) {
  KILN_MMA_PAIR("m16n8k32", "e5m2.e5m2", "f32", "+f", sum, a, b);
}
DEVICE_FUNCTION void kiln_matrix_multiply_i8(i32* sum, const u32* a, const u32* b) {
  KILN_MMA_PAIR("m16n8k32", "s8.s8", "s32", "+r", sum, a, b);
}
#define MATRIX_MULTIPLY_F16(sum, a, b) kiln_matrix_multiply_f16(sum, a, b)
#define MATRIX_MULTIPLY_BF16(sum, a, b) kiln_matrix_multiply_bf16(sum, a, b)
#define MATRIX_MULTIPLY_TF32(sum, a, b) kiln_matrix_multiply_tf32(sum, a, b)
#define MATRIX_MULTIPLY_E4M3(sum, a, b) kiln_matrix_multiply_e4m3(sum, a, b)
#define MATRIX_MULTIPLY_E5M2(sum, a, b) kiln_matrix_multiply_e5m2(sum, a, b)
#define MATRIX_MULTIPLY_I8(sum, a, b) kiln_matrix_multiply_i8(sum, a, b)

// Instructions leave a lane with two neighbours in each half of a row: neighbouring lanes exchange halves.
template <typename T>
DEVICE_FUNCTION void kiln_matrix_order(T* sum, int lane) {
  const bool odd = lane % 2 != 0;
  T ordered[MATRIX_SUMS];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const T other = __shfl_xor_sync(0xffffffffu, odd ? sum[i] : sum[4 + i], 1);
    ordered[i / 2 * 4 + i % 2] = odd ? other : sum[i];
    ordered[i / 2 * 4 + 2 + i % 2] = odd ? sum[4 + i] : other;
  }
  UNROLL
  for (int i = 0; i < MATRIX_SUMS; ++i) sum[i] = ordered[i];
}
#define MATRIX_ORDER(sum, lane) kiln_matrix_order(sum, lane)
#define MATRIX_SUM_ROW(lane, i) ((lane) / 4 + (i) / 4 * 8)
#define MATRIX_SUM_COLUMN(lane, i) ((lane) % 2 * 8 + (lane) / 2 % 2 * 4 + (i) % 4)
