// n=1000000 dtype=u8 bins=256 distribution=uniform, sm_90a
// histogram: counts[b] = how many of n samples fall into bin b: bytes by value, f32 and i32 into even bins
// Variant global_atomic: naive: one global atomic per sample; threads queue at the counters in device memory
//
//   dtype      = u8   type of the samples
//   bins       = 256  bins; 256 for u8, where a sample is its own bin
//   block_size = 256  threads per block
//

#define KERNEL(x, y, z) extern "C" __global__ void __launch_bounds__((x) * (y) * (z))
#define KERNEL_MIN_BLOCKS(x, y, z, blocks) \
  extern "C" __global__ void __launch_bounds__((x) * (y) * (z), blocks)

#define GLOBAL
#define SHARED __shared__ __align__(16)
#define SHARED_PTR
#define CONSTANT_PTR
#define RESTRICT __restrict__

#define THREAD_X ((int)threadIdx.x)
#define THREAD_Y ((int)threadIdx.y)
#define THREAD_Z ((int)threadIdx.z)
#define BLOCK_X ((int)blockIdx.x)
#define BLOCK_Y ((int)blockIdx.y)
#define BLOCK_Z ((int)blockIdx.z)

typedef unsigned char u8;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define ATOMIC_ADD_U32(pointer, value) atomicAdd((u32*)(pointer), (u32)(value))
#define ATOMIC_ADD_I32(pointer, value) atomicAdd((i32*)(pointer), (i32)(value))
#define ATOMIC_ADD_U64(pointer, value) atomicAdd((u64*)(pointer), (u64)(value))
#define ATOMIC_ADD_I64(pointer, value) ((i64)atomicAdd((u64*)(pointer), (u64)(value)))
#define ATOMIC_ADD_F32(pointer, value) atomicAdd((f32*)(pointer), (f32)(value))
#define ATOMIC_ADD_F64(pointer, value) atomicAdd((f64*)(pointer), (f64)(value))

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
