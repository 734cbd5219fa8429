// n=1000000 dtype=u8 bins=256 distribution=uniform, opencl
// histogram: counts[b] = how many of n samples fall into bin b: bytes by value, f32 and i32 into even bins
// Variant global_atomic: naive: one global atomic per sample; threads queue at the counters in device memory
//
//   dtype      = u8   type of the samples
//   bins       = 256  bins; 256 for u8, where a sample is its own bin
//   block_size = 256  threads per block
//

#define KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void
#define KERNEL_MIN_BLOCKS(x, y, z, blocks) KERNEL(x, y, z)

#define GLOBAL __global
#define SHARED __attribute__((aligned(16))) __local
#define SHARED_PTR __local
#define CONSTANT_PTR __constant
#define RESTRICT restrict

#define THREAD_X ((int)get_local_id(0))
#define THREAD_Y ((int)get_local_id(1))
#define THREAD_Z ((int)get_local_id(2))
#define BLOCK_X ((int)get_group_id(0))
#define BLOCK_Y ((int)get_group_id(1))
#define BLOCK_Z ((int)get_group_id(2))

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

#define ATOMIC_ADD_U32(pointer, value) atomic_add((volatile __global u32*)(pointer), (u32)(value))
#define ATOMIC_ADD_I32(pointer, value) atomic_add((volatile __global i32*)(pointer), (i32)(value))

// histogram, variant global_atomic: every sample is counted in device memory by its own atomic.
//
//   in:      | x0 | x1 | x2 | x3 | ...          thread i of the grid takes sample i
//               \   |     \   /
//   counts:  | 0 | 1 | 2 | ... | 255 |       samples that share a bin queue at its counter
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: atomics in the last-level cache; a constant input puts all of them in one queue.

typedef u8 element_t;

KERNEL(256, 1, 1) histogram_global_atomic(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts) {
  const i64 i = (i64)BLOCK_X * 256 + THREAD_X;
  if (i < n) {
    ATOMIC_ADD_U32(counts + in[i], 1u);
  }
}
