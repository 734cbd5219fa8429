// rows=4 cols=1024 batch=1 dtype=f32, opencl
// transpose: out[b, c, r] = in[b, r, c]: dense, row-major, batched
// Variant strip_out: few rows: whole rows of `out` are written as one unbroken run of memory, whatever the sizes
//
//   element     = u32
//   span        = 32   lines of the strip: neighbours along the long side
//   threads     = 256  threads of a block
//   lanes       = 32   threads that walk along the long side together; the others take other lines
//   batch_loads = 4    accesses of a thread under way at a time
//   vector      = 4    16 // element_bytes
//   along       = out  'out'
//

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

typedef uint2 u32x2;
typedef uint4 u32x4;
#define U32X2(x, y) ((uint2)(x, y))
#define U32X4(x, y, z, w) ((uint4)(x, y, z, w))

#define STORE_16(pointer, value) (*(__global u32x4*)(pointer) = (value))
#define STORE_8(pointer, value) (*(__global u32x2*)(pointer) = (value))
#define STORE_4(pointer, value) (*(__global u32*)(pointer) = (value))

#define SHARED_LOAD_16(pointer) (*(__local const u32x4*)(pointer))
#define SHARED_LOAD_8(pointer) (*(__local const u32x2*)(pointer))
#define SHARED_LOAD_4(pointer) (*(__local const u32*)(pointer))

#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)

// transpose, strip_out: where one side of the matrix is short, a block moves whole lines of it. What it writes is then one
// unbroken run of memory, whatever the sizes are.
//
//              cols                 rows
//      +----+----+----+           +------+          the strip: SPAN rows of `out`, all columns: one run of memory
//      |    | ## |    |           |      |
// rows |    | ## |    |   ==>     +------+          for c < SPAN, r < rows:
//      +----+----+----+           |######| cols       strip[c][r] = in[r][col0 + c]      SPAN neighbours at a time
//                                 +------+            out[col0 + c][r] = strip[c][r]     written as one run
//                                 |      |
//                                 +------+
//
// Lines of the strip are kept an odd number of elements apart, so that SPAN neighbours lie in different banks.
// Limit attacked: the rows of a short side are shorter than the tile of the other variants is wide, and start anywhere
// in a sector: there most of a warp idles or asks for sectors that its neighbours ask for again.

enum {
  SPAN = 32,        // lines of the strip
  THREADS = 256,
  LANES = 32,      // threads that walk along the long side together
  GROUPS = THREADS / LANES,
  BATCH = 4,  // accesses of a thread under way at a time
  VECTOR = 4,      // elements in 16 bytes
};

typedef u32 element_t;

// A run of `count` elements of global memory and the lines of the strip, `width` long each.
DEVICE_FUNCTION void move_run(GLOBAL element_t* RESTRICT run, SHARED_PTR element_t* strip, i64 start, int count, int width, int pitch) {
  int done = 0;
  if (pitch == width && start % VECTOR == 0) {  // both sides are unbroken: 16 bytes at a time
    const int vectors = count / VECTOR;
    int v = THREAD_X;
    for (; v + (BATCH - 1) * THREADS < vectors; v += BATCH * THREADS) {
      u32x4 held[BATCH];
      UNROLL
      for (int i = 0; i < BATCH; ++i) held[i] = SHARED_LOAD_16(strip + (v + i * THREADS) * VECTOR);
      UNROLL
      for (int i = 0; i < BATCH; ++i) STORE_16(run + (v + i * THREADS) * VECTOR, held[i]);
    }
    for (; v < vectors; v += THREADS) STORE_16(run + v * VECTOR, SHARED_LOAD_16(strip + v * VECTOR));
    done = vectors * VECTOR;
  }
  // Element by element; line and position follow the index without dividing again.
  int line = (done + THREAD_X) / width;
  int at = (done + THREAD_X) % width;
  const int lines_on = THREADS / width;
  const int on = THREADS % width;
  UNROLL_N(4)
  for (int i = done + THREAD_X; i < count; i += THREADS) {
    run[i] = strip[line * pitch + at];
    line += lines_on;
    at += on;
    if (at >= width) {
      at -= width;
      ++line;
    }
  }
}

KERNEL(256, 1, 1) transpose_strip(
    GLOBAL const element_t* RESTRICT in,  // [batch][rows][cols]
    GLOBAL element_t* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch DYNAMIC_SHARED_PARAM(element_t, strip)) {
  DYNAMIC_SHARED(element_t, strip);  // [SPAN][pitch]
  const int pitch = rows | 1;
  const i64 first = (i64)BLOCK_X * SPAN;  // of the cols
  const int lines = (int)MIN((i64)SPAN, cols - first);
  const int lane = THREAD_X % LANES;
  const int group = THREAD_X / LANES;

  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    const i64 start = (b * cols + first) * rows;  // of the run
    GLOBAL const element_t* from = in + b * rows * cols + first;
    for (int c = lane; c < lines; c += LANES) {
      UNROLL_N(4)
      for (int r = group; r < rows; r += GROUPS) strip[c * pitch + r] = from[(i64)r * cols + c];
    }
    BARRIER();  // the whole strip is there before anyone reads along its lines

    move_run(out + start, strip, start, lines * rows, rows, pitch);
    BARRIER();  // everyone has read the strip before the next matrix overwrites it
  }
}
