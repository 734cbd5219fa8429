// m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576, sm_90a
// matmul: C = alpha * op(A) * op(B) + beta * C: op(A) is m x k, op(B) k x n, C m x n, row-major
// Variant mma: warps multiply fragments with the matrix unit, while the next tiles are copied to shared memory
//
//   out             = f16    element type of C and bias: that of A and B, or f32 for f16 and bf16; bf16, f16 or f32 for 8 bits, i32 too for i8
//   trans_a         = false  A is stored transposed, as k x m
//   trans_b         = false  B is stored transposed, as n x k
//   beta_zero       = true   C is written and never read: beta is 0, or the epilogue has no c
//   batched         = false  there is more than one product
//   is_plain        = true
//   has_bias        = false
//   element_bytes   = 2
//   out_bytes       = 2
//   sum_type        = f32
//   scalar_type     = f32
//   element         = u16
//   tile_m          = 128    rows of C that a block computes
//   tile_n          = 128    columns of C that a block computes
//   warps_m         = 2      warps below each other in a tile
//   warps_n         = 2      warps beside each other in a tile
//   stages          = 4      tiles of both operands in shared memory: copied ahead
//   load_bytes      = 16     bytes in one load from global memory
//   ahead           = true   load the fragments of a step while the step before is multiplied: more registers, less waiting
//   splits          = 1      parts of k, each computed by blocks of its own
//   blocks_per_unit = 1      blocks that should be resident: caps the registers of a thread
//   raster          = 8      rows of tiles that are walked together, so that blocks in flight share operands in the cache
//   family          = mma    'mma'
//   tile_k          = 32     row_bytes // element_bytes
//   load_vector     = 8      load_bytes // element_bytes
//   held            = false  load_bytes < 4
//   pad             = 0
//   cycle_a         = 4      (8 if tile_m % 64 == 0 else 4) if trans_a else cycle_k
//   cycle_b         = 8      cycle_k if trans_b else (8 if tile_n % 64 == 0 else 4)
//   fragment_k      = 16     32 // element_bytes
//   chunk           = 8      16 // element_bytes
//   matrix_type     = F16    'F16' if dtype == f16 else 'BF16' if dtype == bf16 else 'TF32' if dtype == f32 else 'I8' if dtype == i8 else 'E4M3' if dtype == e4m3 else 'E5M2'
//   promoted        = false  dtype in [e4m3, e5m2] and precision == 'highest'
//   swapped         = false
//   threads         = 128    warps_m * warps_n * lanes
//   words           = 4      max(1, load_bytes // 4)
//   row_a           = 4      (tile_m if trans_a else tile_k) // load_vector
//   row_b           = 16     (tile_k if trans_b else tile_n) // load_vector
//   buffers         = 2      2 if ahead else 1
//

#define WARP_SIZE 32

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

#define BARRIER() __syncthreads()

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

typedef uint2 u32x2;
typedef uint4 u32x4;
#define U32X2(x, y) make_uint2(x, y)
#define U32X4(x, y, z, w) make_uint4(x, y, z, w)

#define BITS_TO_F32(bits) __uint_as_float(bits)
#define F32_TO_BITS(value) __float_as_uint(value)

DEVICE_FUNCTION f16_t kiln_f32_to_f16(f32 value) {
  f16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#define F32_TO_F16(value) kiln_f32_to_f16(value)

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

#define SHARED_STORE_16(pointer, value) (*(u32x4*)(pointer) = (value))
#define SHARED_STORE_8(pointer, value) (*(u32x2*)(pointer) = (value))
#define SHARED_STORE_4(pointer, value) (*(u32*)(pointer) = (value))

#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)

// Tensor maps, bulk copies, their barriers, matrix units: words of CUDA alone. Each says which device.* a variant must
// require. Addresses are those of SHARED_ADDRESS: bytes, 32 bits, of this block's shared memory.

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

// matmul, mma: each warp multiplies fragments of 16 x 16 with the matrix unit, while the next tiles are copied.
//
//                                    TILE_N               a warp: PART_M x PART_N of the tile
//                               +-------------+
//                        TILE_K |   tile_b    |             b: FRAGMENTS_N of 16 columns
//                               +-------------+             |  |  |  |  |
//            TILE_K             +------+------+        a: - +--+--+--+--+
//           +------+            | warp | warp |           - |  |  |  |  |    for each step of FRAGMENT_K along k:
//    TILE_M |tile_a|            |------+------|           - +--+--+--+--+      for i < FRAGMENTS_M, j < FRAGMENTS_N:
//           |      |            | warp | warp |  <=       - |  |  |  |  |        sum[i][j] += a[i] * b[j]
//           +------+            +------+------+           - +--+--+--+--+
//                                      C
//
//   global memory -> (asynchronous copies) shared memory, STAGES tiles -> registers (fragments) -> matrix unit
//
// Tiles lie as their operands do: a fragment of an operand that lies across k is turned while it is loaded.
// Limit attacked: the rate of multiply-adds of single threads, which the matrix unit exceeds many times.

enum {
  TILE_M = 128,
  TILE_N = 128,
  TILE_K = 32,
  WARPS_M = 2,
  WARPS_N = 2,
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 128
  PART_M = TILE_M / WARPS_M,  // of a warp
  PART_N = TILE_N / WARPS_N,
  FRAGMENTS_M = PART_M / 16,
  FRAGMENTS_N = PART_N / 16,
  FRAGMENT_K = 16,  // 32 bytes of a row
  STEPS = TILE_K / FRAGMENT_K,  // of a tile
  STAGES = 4,
  LOAD = 8,  // elements in one load from global memory
  WORDS = 4,  // 32-bit words that hold them
  CHUNK = 8,  // elements in 16 bytes
  ROW_A = TILE_K / LOAD,  // loads per stored row of a tile of A
  ROW_B = TILE_N / LOAD,
  PASS_A = THREADS / ROW_A,  // stored rows that the block loads at a time
  PASS_B = THREADS / ROW_B,
  LOADS_A = TILE_M * TILE_K / (THREADS * LOAD),  // loads per thread and tile
  LOADS_B = TILE_N * TILE_K / (THREADS * LOAD),
  PITCH_A = TILE_K,  // elements from one stored row of tile_a to the next
  PITCH_B = TILE_N,
  SIZE_A = TILE_M * PITCH_A,  // elements of tile_a
  STAGE = SIZE_A + TILE_K * PITCH_B,  // of both tiles
  RASTER = 8,
};

typedef u16 element_t;  // bits of an element of A and B

// A run of LOAD elements, of which `inside` exist; zeros beyond.
DEVICE_FUNCTION void load_elements(GLOBAL const element_t* from, int inside, u32 words[WORDS]) {
  UNROLL
  for (int i = 0; i < LOAD; ++i) {
    const u32 bits = LOAD_2_IF(i < inside, from + i);
    words[i / 2] = i % 2 == 0 ? bits : words[i / 2] | bits << 16;
  }
}

// Registers -> shared memory.
DEVICE_FUNCTION void keep_run(SHARED_PTR element_t* to, const u32 words[WORDS]) {
  SHARED_STORE_16(to, U32X4(words[0], words[1], words[2], words[3]));
}

// Where tile_a keeps element (row, column) of its stored rows: an XOR spreads the 16-byte chunks of neighbouring rows over the banks.
DEVICE_FUNCTION int place_a(int row, int column) {
  return row * PITCH_A + (column ^ row / 2 % 4 * CHUNK);
}

// Global memory -> shared memory, where `whole`: part `step` of this thread's share of a tile of op(A), read along k,
// none of it beyond the matrix. `from` and `to` are its first run. Predicated, not branched to, so that multiplications go on
// between the copies.
DEVICE_FUNCTION void copy_a(int whole, GLOBAL const element_t* from, i32 ld, int step, SHARED_PTR element_t* to) {
  UNROLL
  for (int i = LOADS_A * step / STEPS; i < LOADS_A * (step + 1) / STEPS; ++i) {
    ASYNC_COPY_16_IF(whole, to + i * PASS_A * PITCH_A,
                     from + (i64)(i * PASS_A) * ld);
  }
}

// The same at the edges: rows_left and k_left are counted from the first run, and beyond them come zeros. `aligned`: runs
// may be copied as vectors.
DEVICE_FUNCTION void copy_edge_a(GLOBAL const element_t* from, i32 ld, int rows_left, int k_left, int aligned,
                                 SHARED_PTR element_t* tile) {
  NO_UNROLL
  for (int i = 0; i < LOADS_A; ++i) {
    GLOBAL const element_t* run = from + (i64)(i * PASS_A) * ld;
    SHARED_PTR element_t* to = tile + place_a(THREAD_X / ROW_A + i * PASS_A, THREAD_X % ROW_A * LOAD);
    const int inside = i * PASS_A < rows_left ? MIN(MAX(k_left, 0), LOAD + 0) : 0;  // elements from here on
    if (aligned) {
      ASYNC_COPY_16(to, run, inside * 2);
    } else {
      u32 words[WORDS];
      load_elements(run, inside, words);
      keep_run(to, words);
    }
  }
}

// Where in tile_a this lane's share of the fragments lies, for each step: those below each other are 16 rows apart.
DEVICE_FUNCTION void find_a(int lane, int first, int places[STEPS * MATRIX_RUNS]) {
  UNROLL
  for (int i = 0; i < STEPS * MATRIX_RUNS; ++i) {
    const int column = i / MATRIX_RUNS * FRAGMENT_K + MATRIX_BYTE_A(lane, i % MATRIX_RUNS) / 2;
    places[i] = first * PITCH_A + place_a(MATRIX_ROW_A(lane), column);
  }
}

// Shared memory -> registers: the warp's fragments of a step.
DEVICE_FUNCTION void load_a(SHARED_PTR const element_t* tile, const int* places, int step,
                            u32 fragments[FRAGMENTS_M][MATRIX_WORDS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_M; ++i) {
    UNROLL
    for (int r = 0; r < MATRIX_RUNS; ++r) {
      MATRIX_LOAD(fragments[i], r, tile + places[step * MATRIX_RUNS + r] + i * 16 * PITCH_A);
    }
  }
}

// Where tile_b keeps element (row, column) of its stored rows: an XOR spreads the 16-byte chunks of neighbouring rows over the banks.
DEVICE_FUNCTION int place_b(int row, int column) {
  return row * PITCH_B + (column ^ row / 1 % 8 * CHUNK);
}

// Global memory -> shared memory, where `whole`: part `step` of this thread's share of a tile of op(B), read along cols,
// none of it beyond the matrix. `from` and `to` are its first run. Predicated, not branched to, so that multiplications go on
// between the copies.
DEVICE_FUNCTION void copy_b(int whole, GLOBAL const element_t* from, i32 ld, int step, SHARED_PTR element_t* to) {
  UNROLL
  for (int i = LOADS_B * step / STEPS; i < LOADS_B * (step + 1) / STEPS; ++i) {
    ASYNC_COPY_16_IF(whole, to + i * PASS_B * PITCH_B,
                     from + (i64)(i * PASS_B) * ld);
  }
}

// The same at the edges: cols_left and k_left are counted from the first run, and beyond them come zeros. `aligned`: runs
// may be copied as vectors.
DEVICE_FUNCTION void copy_edge_b(GLOBAL const element_t* from, i32 ld, int cols_left, int k_left, int aligned,
                                 SHARED_PTR element_t* tile) {
  NO_UNROLL
  for (int i = 0; i < LOADS_B; ++i) {
    GLOBAL const element_t* run = from + (i64)(i * PASS_B) * ld;
    SHARED_PTR element_t* to = tile + place_b(THREAD_X / ROW_B + i * PASS_B, THREAD_X % ROW_B * LOAD);
    const int inside = i * PASS_B < k_left ? MIN(MAX(cols_left, 0), LOAD + 0) : 0;  // elements from here on
    if (aligned) {
      ASYNC_COPY_16(to, run, inside * 2);
    } else {
      u32 words[WORDS];
      load_elements(run, inside, words);
      keep_run(to, words);
    }
  }
}

// Where in tile_b this lane's share of the fragments lies, for each fragment: steps are FRAGMENT_K rows apart.
DEVICE_FUNCTION void find_b(int lane, int first, int places[FRAGMENTS_N * MATRIX_RUNS_ACROSS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_N * MATRIX_RUNS_ACROSS; ++i) {
    const int column = first + i / MATRIX_RUNS_ACROSS * 16 + MATRIX_ROW_ACROSS_B(lane);
    places[i] = place_b(MATRIX_STEP_ACROSS_B(lane, i % MATRIX_RUNS_ACROSS), column);
  }
}

// Shared memory -> registers: the warp's fragments of a step.
DEVICE_FUNCTION void load_b(SHARED_PTR const element_t* tile, const int* places, int step,
                            u32 fragments[FRAGMENTS_N][MATRIX_WORDS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_N; ++i) {
    UNROLL
    for (int r = 0; r < MATRIX_RUNS_ACROSS; ++r) {
      MATRIX_LOAD_ACROSS(fragments[i], r, tile + places[i * MATRIX_RUNS_ACROSS + r] + step * FRAGMENT_K * PITCH_B);
    }
  }
}

// sum += a * b, fragment by fragment; every second row of them backwards, so that the next one shares an operand.
DEVICE_FUNCTION void multiply(u32 a[FRAGMENTS_M][MATRIX_WORDS], u32 b[FRAGMENTS_N][MATRIX_WORDS],
                              f32 sum[FRAGMENTS_M][FRAGMENTS_N][MATRIX_SUMS]) {
  UNROLL
  for (int i = 0; i < FRAGMENTS_M; ++i) {
    UNROLL
    for (int j = 0; j < FRAGMENTS_N; ++j) {
      const int to = i % 2 == 0 ? j : FRAGMENTS_N - 1 - j;
      MATRIX_MULTIPLY_F16(sum[i][to], a[i], b[to]);
    }
  }
}

// What an element of C is made from, beside its sum over k.
typedef struct {
  f32 alpha, beta;
  GLOBAL const f16_t* bias;  // none
} epilogue_t;

// The element of C from its sum x and from c, what it was.
DEVICE_FUNCTION f32 finish(f32 x, f32 c, f32 bias, epilogue_t epilogue) {
  const f32 alpha = epilogue.alpha;
  const f32 beta = epilogue.beta;
  return alpha * x;
}

// The values of bias for two neighbouring columns of a row; any value for what lies outside.
DEVICE_FUNCTION void bias_pair(epilogue_t epilogue, int row, int col, int rows, int cols, f32* x, f32* y) {
  *x = *y = 0;
}

// Two neighbouring columns of a row of the product to C, as far as they lie inside.
DEVICE_FUNCTION void store_pair(GLOBAL f16_t* c, int row, int col, int rows, int cols, i32 ldc, f32 x, f32 y,
                                epilogue_t epilogue) {
  if (row >= rows) return;
  GLOBAL f16_t* to = c + (i64)row * ldc + col;
  const int next = 1;
  f32 bias_x, bias_y;
  bias_pair(epilogue, row, col, rows, cols, &bias_x, &bias_y);
  if (col + 1 < cols && ldc % 2 == 0) {
    STORE_4(to, F32X2_TO_F16X2(finish(x, 0, bias_x, epilogue), finish(y, 0, bias_y, epilogue)));
    return;
  }
  if (col < cols) *to = F32_TO_F16(finish(x, 0, bias_x, epilogue));
  if (col + 1 < cols) to[next] = F32_TO_F16(finish(y, 0, bias_y, epilogue));
}

// Four neighbouring columns of a row of C, as far as they lie inside: col is a multiple of 4.
DEVICE_FUNCTION void store_four(GLOBAL f16_t* c, int row, int col, int rows, int cols, i32 ldc, const f32* x,
                                epilogue_t epilogue) {
  if (row < rows && col + 4 <= cols && ldc % 4 == 0) {
    f32 bias[4], done[4];
    bias_pair(epilogue, row, col, rows, cols, &bias[0], &bias[1]);
    bias_pair(epilogue, row, col + 2, rows, cols, &bias[2], &bias[3]);
    UNROLL
    for (int i = 0; i < 4; ++i) done[i] = finish(x[i], 0, bias[i], epilogue);
    STORE_8(c + (i64)row * ldc + col, U32X2(F32X2_TO_F16X2(done[0], done[1]), F32X2_TO_F16X2(done[2], done[3])));
    return;
  }
  store_pair(c, row, col, rows, cols, ldc, x[0], x[1], epilogue);
  store_pair(c, row, col + 2, rows, cols, ldc, x[2], x[3], epilogue);
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_mma(
    GLOBAL const element_t* RESTRICT a,  // [m][lda]
    GLOBAL const element_t* RESTRICT b,  // [k][ldb]
    GLOBAL f16_t* RESTRICT c,  // [m][ldc]
    i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, f32 alpha, f32 beta
    DYNAMIC_SHARED_PARAM(element_t, tiles)) {
  DYNAMIC_SHARED(element_t, tiles);  // [STAGES][tile_a, tile_b]

  // Which tile of C: RASTER rows of tiles are walked column by column, then the next RASTER rows.
  const int tiles_n = (n - 1) / TILE_N + 1;
  const int tiles_m = (m - 1) / TILE_M + 1;
  const int band = BLOCK_X / (RASTER * tiles_n) * RASTER;  // first row of tiles
  const int band_rows = MIN(tiles_m - band, RASTER + 0);
  const int in_band = BLOCK_X % (RASTER * tiles_n);
  const int row0 = (band + in_band % band_rows) * TILE_M;
  const int col0 = in_band / band_rows * TILE_N;

  // Which part of k, in tiles.
  const int tiles_k = (k - 1) / TILE_K + 1;
  const int k_begin = 0;
  int k_left = k;  // not fetched yet

  // This thread's first run of each operand, and what is left of the matrices from there.
  const int rows_left = m - row0 - THREAD_X / ROW_A;
  const int a_k = THREAD_X % ROW_A * LOAD;
  GLOBAL const element_t* from_a = a + (i64)(row0 + THREAD_X / ROW_A) * lda + k_begin + a_k;
  const i64 step_a = TILE_K;
  const int cols_left = n - col0 - THREAD_X % ROW_B * LOAD;
  const int b_k = THREAD_X / ROW_B;
  GLOBAL const element_t* from_b = b + (i64)(k_begin + b_k) * ldb + col0 + THREAD_X % ROW_B * LOAD;
  const i64 step_b = (i64)TILE_K * ldb;

  // Which part of the tile, and where this lane's share of its fragments lies.
  const int lane = THREAD_X % WARP_SIZE;
  const int warp = THREAD_X / WARP_SIZE;
  const int part_row = warp / WARPS_N * PART_M;
  const int part_col = warp % WARPS_N * PART_N;
  int places_a[STEPS * MATRIX_RUNS];
  int places_b[FRAGMENTS_N * MATRIX_RUNS_ACROSS];
  find_a(lane, part_row, places_a);
  find_b(lane, part_col, places_b);

  f32 sum[FRAGMENTS_M][FRAGMENTS_N][MATRIX_SUMS];
  UNROLL
  for (int i = 0; i < FRAGMENTS_M; ++i) {
    UNROLL
    for (int j = 0; j < FRAGMENTS_N; ++j) {
      UNROLL
      for (int s = 0; s < MATRIX_SUMS; ++s) sum[i][j][s] = 0;
    }
  }

  // Rows that begin at multiples of LOAD are loaded as vectors.
  const int aligned_a = lda % LOAD == 0;
  const int aligned_b = ldb % LOAD == 0;
  const int whole_a = aligned_a && row0 + TILE_M <= m;
  const int whole_b = aligned_b && col0 + TILE_N <= n;
  int fill = 0;  // the stage that is filled next
  SHARED_PTR element_t* filled;
  int all_a, all_b;
  const int to_a = place_a(THREAD_X / ROW_A, THREAD_X % ROW_A * LOAD);
  const int to_b = SIZE_A + place_b(THREAD_X / ROW_B, THREAD_X % ROW_B * LOAD);
  NO_UNROLL
  for (; fill < STAGES - 1; ++fill) {
    all_a = whole_a && k_left >= TILE_K;
    all_b = whole_b && k_left >= TILE_K;
    filled = tiles + fill * STAGE;
    if (k_left > 0 && !(all_a && all_b)) {
      if (!all_a) copy_edge_a(from_a, lda, rows_left, k_left - a_k, aligned_a, filled);
      if (!all_b) copy_edge_b(from_b, ldb, cols_left, k_left - b_k, aligned_b, filled + SIZE_A);
    }
    UNROLL
    for (int step = 0; step < STEPS; ++step) {
      copy_a(all_a, from_a, lda, step, filled + to_a);
      copy_b(all_b, from_b, ldb, step, filled + to_b);
    }
    ASYNC_COMMIT();
    from_a += step_a;
    from_b += step_b;
    k_left -= TILE_K;
  }
  ASYNC_WAIT(2);
  BARRIER();  // the first tiles are there

  // Each step loads the fragments of the next one, then multiplies its own.
  u32 fragments_a[2][FRAGMENTS_M][MATRIX_WORDS];
  u32 fragments_b[2][FRAGMENTS_N][MATRIX_WORDS];
  SHARED_PTR element_t* current = tiles;
  int stage = 0;
  load_a(current, places_a, 0, fragments_a[0]);
  load_b(current + SIZE_A, places_b, 0, fragments_b[0]);
  NO_UNROLL
  for (int tile = 0; tile < tiles_k; ++tile) {
    UNROLL
    for (int step = 0; step < STEPS; ++step) {
      // A share of the copies in each step: multiplications hide what comes between them.
      if (step == 0) {
        all_a = whole_a && k_left >= TILE_K;
        all_b = whole_b && k_left >= TILE_K;
        filled = tiles + fill * STAGE;
        if (k_left > 0 && !(all_a && all_b)) {
          if (!all_a) copy_edge_a(from_a, lda, rows_left, k_left - a_k, aligned_a, filled);
          if (!all_b) copy_edge_b(from_b, ldb, cols_left, k_left - b_k, aligned_b, filled + SIZE_A);
        }
      }
      copy_a(all_a, from_a, lda, step, filled + to_a);
      copy_b(all_b, from_b, ldb, step, filled + to_b);
      if (step + 1 == STEPS) {
        ASYNC_COMMIT();
        fill = fill + 1 == STAGES ? 0 : fill + 1;
        from_a += step_a;
        from_b += step_b;
        k_left -= TILE_K;
      }
      if (step + 1 == STEPS) {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        current = tiles + stage * STAGE;
        ASYNC_WAIT(2);
        BARRIER();  // the next tiles are there, and all fragments of the current ones are loaded
      }
      load_a(current, places_a, (step + 1) % STEPS, fragments_a[(step + 1) % 2]);
      load_b(current + SIZE_A, places_b, (step + 1) % STEPS, fragments_b[(step + 1) % 2]);
      multiply(fragments_a[step % 2], fragments_b[step % 2], sum);
    }
  }

  // Registers -> C.
  const epilogue_t epilogue = {alpha, beta, 0};
  UNROLL
  for (int i = 0; i < FRAGMENTS_M; ++i) {
    UNROLL
    for (int j = 0; j < FRAGMENTS_N; ++j) {
      MATRIX_ORDER(sum[i][j], lane);
      UNROLL
      for (int s = 0; s < MATRIX_SUMS; s += 4) {
        const int row = row0 + part_row + i * 16 + MATRIX_SUM_ROW(lane, s);
        const int col = col0 + part_col + j * 16 + MATRIX_SUM_COLUMN(lane, s);
        store_four(c, row, col, m, n, ldc, &sum[i][j][s], epilogue);
      }
    }
  }
}
