// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant atomic: naive: one atomic per element; every thread of the device queues at one address
//
//   dtype      = f32    type of the elements; f16 and bf16 are accumulated in f32, i32 wraps at 32 bits
//   op         = sum    how terms are combined; dot sums the products of two vectors
//   map        = x      the term of element i: x is in[i] (dot: in[i] * other[i]; source index: i itself)
//   source     = array  array: terms come from `in`; index: nothing is read and x is i, e.g. to integrate a formula
//   out_dtype  = f32
//   block_size = 256    threads per block
//   acc_dtype  = f32    out_dtype
//

// reduce, variant atomic: every element is combined into out[0] by its own atomic.
//
//   in:      | x0 | x1 | x2 | x3 | ...          thread i of the grid takes element i
//               \    \   /    /
//   out:          out[0] (one address: all atomics queue there)
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: atomics on one address, about one per clock of the whole device. The variants after this one
// bring fewer and fewer of them.

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

KERNEL(256, 1, 1) reduce_atomic(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL result_t* out) {
  const i64 i = (i64)BLOCK_X * 256 + THREAD_X;
  if (i < n) add_to_result(out, value_at(in, n, i, i));
}
