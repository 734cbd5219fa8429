// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// atomic:block_size=256

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
