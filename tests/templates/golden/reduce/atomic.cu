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

//= reduce/grid_stride.cu, "typedef f32 element_t;  // as stored" to "}" (2)

KERNEL(256, 1, 1) reduce_atomic(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL result_t* out) {
  const i64 i = (i64)BLOCK_X * 256 + THREAD_X;
  if (i < n) add_to_result(out, value_at(in, n, i, i));
}
