// rows=1024 cols=1024 batch=1 dtype=f32, opencl
// transpose: out[b, c, r] = in[b, r, c]: dense, row-major, batched
// Variant naive: one thread per element: the side that is walked with a stride wastes most of each sector
//
//   element = u32
//   along   = writes  which side neighbouring threads walk along
//   block_x = 32      threads along the contiguous side
//   block_y = 8       threads across it
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

#define GRID_X ((int)get_num_groups(0))
#define GRID_Y ((int)get_num_groups(1))
#define GRID_Z ((int)get_num_groups(2))
#define BLOCK_SIZE_X ((int)get_local_size(0))
#define BLOCK_SIZE_Y ((int)get_local_size(1))
#define BLOCK_SIZE_Z ((int)get_local_size(2))

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
