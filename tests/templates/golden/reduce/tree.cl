// n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last, opencl
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant tree: a tree in shared memory, one atomic per block: attacks the queue at the one address
//
//   dtype            = f32    type of the elements; f16 and bf16 are accumulated in f32, i32 wraps at 32 bits
//   op               = sum    how terms are combined; dot sums the products of two vectors
//   map              = x      the term of element i: x is in[i] (dot: in[i] * other[i]; source index: i itself)
//   source           = array  array: terms come from `in`; index: nothing is read and x is i, e.g. to integrate a formula
//   out_dtype        = f32
//   block_size       = 256    threads per block
//   items_per_thread = 4      elements that each thread combines before the tree
//   acc_dtype        = f32    out_dtype
//   tile             = 1024   block_size * items_per_thread
//

#define KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void
#define KERNEL_MIN_BLOCKS(x, y, z, blocks) KERNEL(x, y, z)

#define DEVICE_FUNCTION static inline __attribute__((always_inline, overloadable))

#define GLOBAL __global
#define SHARED __attribute__((aligned(16))) __local
#define SHARED_PTR __local
#define CONSTANT_PTR __constant
#define RESTRICT restrict

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

// reduce, variant tree: a block combines its elements in shared memory and adds one result to out[0].
//
//   in:       | tile of block 0: 256 threads x 4 items | tile of block 1 | ...
//   item k of thread t in block b is element  b * 1024 + k * 256 + t
//   shared:   s0  s1  s2  s3  s4  s5  s6  s7
//             s0+s4 s1+s5 s2+s6 s3+s7             half of the threads in each round
//             (s0+s4)+(s2+s6) ...                 log2(256) rounds, a barrier after each
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: barriers and idle threads in the rounds; the loads of a thread are narrow and few.

typedef f32 element_t;  // as stored
typedef f32 acc_t;  // terms and partial results
typedef f32 result_t;

// combine(identity(), a) == a
DEVICE_FUNCTION acc_t identity(void) { return 0.0f; }
DEVICE_FUNCTION acc_t combine(acc_t a, acc_t b) { return a + b; }

// The term of element i, on its own, which lies at in[at].
DEVICE_FUNCTION acc_t value_at(GLOBAL const element_t* RESTRICT in, i64 n, i64 at, i64 i) {
  const acc_t x = in[at];
  return x;
}

// First step: out[0] holds the identity before any block adds to it.
KERNEL(1, 1, 1) reduce_begin(GLOBAL result_t* out) { out[0] = identity(); }

// out[0] = combine(out[0], value), whoever else does the same.
DEVICE_FUNCTION void add_to_result(GLOBAL result_t* out, acc_t value) {
  ATOMIC_ADD_F32(out, value);
}

// Combines one value of each of the 256 threads; thread 0 gets the result.
DEVICE_FUNCTION acc_t block_combine(acc_t value, SHARED_PTR acc_t* scratch) {
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  for (int reach = 128; reach > 0; reach /= 2) {
    if (THREAD_X < reach) scratch[THREAD_X] = combine(scratch[THREAD_X], scratch[THREAD_X + reach]);
    BARRIER();  // this round is written before the next reads it
  }
  return scratch[0];
}

KERNEL(256, 1, 1) reduce_tree(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];

  // ---- device memory -> registers
  const i64 first = (i64)BLOCK_X * 1024 + THREAD_X;
  acc_t value = identity();
  UNROLL
  for (int item = 0; item < 4; ++item) {
    const i64 i = first + item * 256;
    if (i < n) value = combine(value, value_at(in, n, i, i));
  }

  // ---- registers -> shared memory -> out[0]
  value = block_combine(value, scratch);
  if (THREAD_X == 0) add_to_result(out, value);
}
