// sm_90a, gfx90a, opencl: n=1000 results=1000 dtype=f32 op=sum map=x source=array axis=last
// each:block_size=256

// reduce, variant each: one thread for each of many results, naive.
//
//   in:    | row 0 | row 1 | ... |        thread r of the grid walks over row r
//   out:   | r0 | r1 | ... |
//
// Replaces: for (r = 0; r < results; ++r) out[r] = combine of map(in[r][i]) over i < n
// Limit: neighbouring threads walk along different rows: each asks for a memory sector of its own and uses one element.

//= reduce/atomic.cu, "typedef f32 element_t;  // as stored" to "}"

KERNEL(256, 1, 1) reduce_each(GLOBAL const element_t* RESTRICT in, i64 n, i64 results, GLOBAL result_t* out) {
  const i64 r = (i64)BLOCK_X * 256 + THREAD_X;
  if (r >= results) return;
  acc_t sum = identity();
  for (i64 i = 0; i < n; ++i) sum = combine(sum, value_at(in, n, r * n + i, i));
  out[r] = sum;
}
