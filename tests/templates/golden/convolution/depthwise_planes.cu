// h=56 w=56 fh=3 fw=3 n=32 c=128 k=128 groups=128 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nchw precision=highest epilogue=x, sm_90a
// convolution: out[n, k, y, x] = sum over c, i, j of in[n, c, y * stride + i - pad_h, x * stride + j - pad_w] * filter[k, c, i, j]
// Variant depthwise_planes: channels first, each filtered by itself: planes or strips of rows through shared memory, in wide loads
//
//   fh              = 3      rows of the filter
//   fw              = 3      columns of the filter
//   stride          = 1      step from one output to the next, down and across
//   dtype           = f16    element type; f16 and bf16 are added up in f32
//   epilogue        = x      the element of the output: x is the sum, bias one value for each channel, residual the element of an array that lies like the output; e.g. max(x + bias, 0)
//   is_plain        = true
//   has_bias        = false
//   has_residual    = false
//   taps            = 9
//   block_planes    = 1      neighbouring planes that a block filters
//   tile_y          = 4      rows of output that a block computes of a plane
//   threads         = 64     threads of a block
//   micro_x         = 4      neighbouring outputs that a thread computes
//   micro_y         = 2      outputs below each other that a thread computes
//   run             = 1      elements of a row that a thread loads at a time
//   blocks_per_unit = 1      blocks that should be resident: caps the registers of a thread
//   element_bytes   = 2      sizeof(dtype)
//   window          = 6      (micro_x - 1) * stride + fw
//   tap_pitch       = 4      round_up(fw, 4)
//   store_vector    = 4      8 if micro_x % 8 == 0 and element_bytes == 2 else 4 if micro_x % 4 == 0 else 2 if micro_x % 2 == 0 else 1
//

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

#define SHARED_LOAD_16(pointer) (*(const u32x4*)(pointer))
#define SHARED_LOAD_8(pointer) (*(const u32x2*)(pointer))
#define SHARED_LOAD_4(pointer) (*(const u32*)(pointer))

#define SHARED_STORE_16(pointer, value) (*(u32x4*)(pointer) = (value))
#define SHARED_STORE_8(pointer, value) (*(u32x2*)(pointer) = (value))
#define SHARED_STORE_4(pointer, value) (*(u32*)(pointer) = (value))

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

// convolution, depthwise_planes: channels lie outermost, and each is filtered by itself: whole planes, or strips of rows of a
// plane, come to shared memory as they lie, in wide loads; a thread then computes MICRO_Y x MICRO_X outputs.
//
//      in: planes of h x w            tile: the same bytes             one thread: a window of each row that its outputs see
//      +----------------+             +----------------+
//      |################| 16 bytes    |################|                 x - PAD_W       x                    window, in registers
//      |################|  ------>    |################|  run by run      [ a b | c d e f | g h ]
//      +----------------+  a load     +----------------+  -------->         |   |         |
//      |################|             |################|                 places beside a row are zeros
//
//   for a row of taps:  sum[ry][rx] += window[rx * STRIDE + fx] * tap[fx]
//
// Limit attacked: the bandwidth of memory: there are only TAPS multiplications for an element.

enum {
  FH = 3,
  FW = 3,
  TAPS = FH * FW,  // 9
  PITCH = 4,  // taps of a row, in whole loads
  STRIDE = 1,
  PAD_W = FW / 2,
  PLANES = 1,  // of a block
  TILE_Y = 4,  // rows of output of a block
  THREADS = 64,
  MICRO_X = 4,
  MICRO_Y = 2,
  WINDOW = (MICRO_X - 1) * STRIDE + FW,  // elements of a row
  ROWS = (MICRO_Y - 1) * STRIDE + FH,
  ELEMENTS = 8,  // in 16 bytes
  HELD = 4,  // loads that a thread has under way
};

typedef u16 element_t;  // bits of an element

// Shared memory -> registers: the window of the outputs from column x of the input on. Runs of 1 lie inside of the row or outside.
DEVICE_FUNCTION void read_window(SHARED_PTR const element_t* row, int x, int width, f32* window) {
  {
    element_t v = 0;
    if ((u32)(x - 1) < (u32)width) v = row[x - 1];
    window[0] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x) < (u32)width) v = row[x];
    window[1] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 1) < (u32)width) v = row[x + 1];
    window[2] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 2) < (u32)width) v = row[x + 2];
    window[3] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 3) < (u32)width) v = row[x + 3];
    window[4] = F16_TO_F32(v);
  }
  {
    element_t v = 0;
    if ((u32)(x + 4) < (u32)width) v = row[x + 4];
    window[5] = F16_TO_F32(v);
  }
}

// A row of taps times a window.
DEVICE_FUNCTION void add_row(SHARED_PTR const f32* taps, const f32* window, f32* sum) {
  f32 tap[PITCH];
  UNROLL
  for (int i = 0; i < PITCH; i += 4) {
    const u32x4 v = SHARED_LOAD_16(taps + i);
    tap[i] = BITS_TO_F32(v.x), tap[i + 1] = BITS_TO_F32(v.y), tap[i + 2] = BITS_TO_F32(v.z), tap[i + 3] = BITS_TO_F32(v.w);
  }
  UNROLL
  for (int fx = 0; fx < FW; ++fx) {
    UNROLL
    for (int rx = 0; rx < MICRO_X; ++rx) sum[rx] = FMA(window[rx * STRIDE + fx], tap[fx], sum[rx]);
  }
}

DEVICE_FUNCTION void store_run(GLOBAL element_t* to, const f32* x) {
  STORE_8(to, U32X2(F32X2_TO_F16X2(x[0], x[1]), F32X2_TO_F16X2(x[2], x[3])));
}

// What an element of the output is made from, beside its sum.
typedef struct {
  GLOBAL const f16_t* bias;      // none
  GLOBAL const f16_t* residual;  // none
} epilogue_t;

// The element of the output from its sum x, the residual's element and the channel's bias.
DEVICE_FUNCTION f32 finish(f32 x, f32 residual, f32 bias, epilogue_t epilogue) {
  return (x);
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_depthwise_planes(
    GLOBAL const element_t* RESTRICT in,      // [n][c][h][w]
    GLOBAL const f16_t* RESTRICT filter,  // [c][FH][FW]
    GLOBAL element_t* RESTRICT out,           // [n][c][out_h][out_w]
    i32 n, i32 c, i32 h, i32 w, i32 out_h, i32 out_w, i32 pad_h
    DYNAMIC_SHARED_PARAM(u32, shared)) {
  DYNAMIC_SHARED(u32, shared);  // f32 [PLANES][FH][PITCH]; the tile
  SHARED_PTR f32* taps = (SHARED_PTR f32*)shared;
  SHARED_PTR element_t* tile = (SHARED_PTR element_t*)(shared + PLANES * FH * PITCH);

  const int strips = (out_h - 1) / TILE_Y + 1;  // of a plane
  const i64 plane0 = (i64)(BLOCK_X / strips) * PLANES;
  const int planes = (int)MIN((i64)n * c - plane0, (i64)PLANES);
  const int y0 = BLOCK_X % strips * TILE_Y;  // first row of output
  const int rows = MIN(out_h - y0, (int)TILE_Y);
  const int first = MIN(MAX(y0 * STRIDE - pad_h, 0), h);  // rows of the input that the tile holds
  const int end = MAX(MIN((y0 + rows - 1) * STRIDE - pad_h + FH, h), first);

  // Global memory -> shared memory, from a multiple of 16 bytes on.
  const i64 begin = (plane0 * h + first) * w;
  const int head = (int)(begin % ELEMENTS);
  const i64 left = (i64)n * c * h * w - (begin - head);                     // elements of the input from there
  const int wanted = head + (planes == 1 ? (end - first) * w : planes * h * w);
  const int runs = (int)MIN(left, (i64)(wanted + ELEMENTS - 1)) / ELEMENTS;  // that lie inside the input
  GLOBAL const element_t* from = in + (begin - head);
  for (int i = THREAD_X; i < runs; i += THREADS * HELD) {
    u32x4 held[HELD];
    UNROLL
    for (int j = 0; j < HELD; ++j) held[j] = LOAD_16_IF(i + j * THREADS < runs, from + (i64)(i + j * THREADS) * ELEMENTS);
    UNROLL
    for (int j = 0; j < HELD; ++j) {
      if (i + j * THREADS < runs) SHARED_STORE_16(tile + (i + j * THREADS) * ELEMENTS, held[j]);
    }
  }
  for (int i = runs * ELEMENTS + THREAD_X; i < wanted; i += THREADS) tile[i] = from[i];
  for (int i = THREAD_X; i < planes * FH * PITCH; i += THREADS) {
    const int fx = i % PITCH;
    taps[i] = fx < FW ? F16_TO_F32(filter[((plane0 + i / (FH * PITCH)) % c * FH + i / PITCH % FH) * FW + fx]) : 0.0f;
  }
  BARRIER();  // tile and taps are there

  const int blocks_x = (out_w - 1) / MICRO_X + 1;
  const int blocks = blocks_x * ((rows - 1) / MICRO_Y + 1);
  for (int i = THREAD_X; i < planes * blocks; i += THREADS) {
    const int plane = i / blocks;  // of the block
    const int x = i % blocks_x * MICRO_X;  // first output
    const int y = y0 + i % blocks / blocks_x * MICRO_Y;
    SHARED_PTR const element_t* rows_of = tile + head + plane * h * w;
    SHARED_PTR const f32* taps_of = taps + plane * (FH * PITCH);

    // Shared memory -> registers, one row of input at a time.
    f32 sum[MICRO_Y][MICRO_X];
    UNROLL
    for (int j = 0; j < MICRO_Y * MICRO_X; ++j) sum[j / MICRO_X][j % MICRO_X] = 0.0f;
    UNROLL
    for (int iy = 0; iy < ROWS; ++iy) {
      const int from_y = y * STRIDE - pad_h + iy;
      f32 window[WINDOW];
      read_window(rows_of + (from_y - first) * w, x * STRIDE, from_y >= first && from_y < end ? w : 0, window);
      UNROLL
      for (int ry = 0; ry < MICRO_Y; ++ry) {
        const int fy = iy - ry * STRIDE;
        if (fy >= 0 && fy < FH) add_row(taps_of + fy * PITCH, window, sum[ry]);
      }
    }

    // Registers -> global memory.
    UNROLL
    for (int ry = 0; ry < MICRO_Y; ++ry) {
      if (y + ry >= y0 + rows) continue;
      const i64 at = ((plane0 + plane) * out_h + y + ry) * out_w + x;
      GLOBAL element_t* to = out + at;
      if (out_w % 4 == 0) {
        UNROLL
        for (int rx = 0; rx < MICRO_X; rx += 4) {
          if (x + rx < out_w) store_run(to + rx, sum[ry] + rx);
        }
        continue;
      }
      UNROLL
      for (int rx = 0; rx < MICRO_X; ++rx) {
        if (x + rx < out_w) to[rx] = F32_TO_F16(sum[ry][rx]);
      }
    }
  }
}
