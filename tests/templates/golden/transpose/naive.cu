// rows=1024 cols=1024 batch=1 dtype=f32, sm_90a
// transpose: out[b, c, r] = in[b, r, c]: dense, row-major, batched
// Variant naive: one thread per element: the side that is walked with a stride wastes most of each sector
//
//   element = u32
//   along   = writes  which side neighbouring threads walk along
//   block_x = 32      threads along the contiguous side
//   block_y = 8       threads across it
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

#define GRID_X ((int)gridDim.x)
#define GRID_Y ((int)gridDim.y)
#define GRID_Z ((int)gridDim.z)
#define BLOCK_SIZE_X ((int)blockDim.x)
#define BLOCK_SIZE_Y ((int)blockDim.y)
#define BLOCK_SIZE_Z ((int)blockDim.z)

typedef unsigned char u8;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

// transpose, naive: one thread moves one element from global memory to global memory.
//
//         cols                    rows
//      +---------+              +------+      for b < batch, r < rows, c < cols:
// rows |    x    |   ==>   cols |      |        out[(b * cols + c) * rows + r] = in[(b * rows + r) * cols + c]
//      |         |              |  x   |
//      +---------+              |      |
//                               +------+
//
// Limit: neighbouring threads walk along the rows of out. On the other side each of them touches
// a memory sector of its own and uses one element of it.

enum {
  BLOCK_ALONG = 32,   // threads along a row of out
  BLOCK_ACROSS = 8,  // rows of it
};

KERNEL(32, 8, 1) transpose_naive(
    GLOBAL const u32* RESTRICT in,  // [batch][rows][cols]
    GLOBAL u32* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch) {
  const int blocks_along = (rows - 1) / BLOCK_ALONG + 1;
  const i64 r = (i64)(BLOCK_X % blocks_along) * BLOCK_ALONG + THREAD_X;
  const i64 c = (i64)(BLOCK_X / blocks_along) * BLOCK_ACROSS + THREAD_Y;
  if (r >= rows || c >= cols) return;
  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    out[(b * cols + c) * rows + r] = in[(b * rows + r) * cols + c];
  }
}
