// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// wide

// reduce, variant wide: every term and sum in f64, for one result or many. The first pass leaves partial results, the
// second combines them.
//
//   block r * S + s: every S-th run of 64 terms of result r     (first pass, S blocks a result)
//   partials:  | r0 s0 | r0 s1 | ... | r1 s0 | ...                            (workspace)
//   out:       block r combines its S partial results                         (second pass)
//
// Replaces: for (r = 0; r < results; ++r) out[r] = combine of map(in[r][i]) over i < n
// Limit: none is attacked. It stands in for the CPU loop where that would take too long.

typedef f32 element_t;  // as stored
typedef f64 acc_t;  // terms and partial results
typedef f32 result_t;

// combine(identity(), a) == a
DEVICE_FUNCTION acc_t identity(void) { return 0.0; }
//= reduce/atomic.cu, "DEVICE_FUNCTION acc_t combine(acc_t a, acc_t b) " to "DEVICE_FUNCTION acc_t value_at(GLOBAL const elem"
  const acc_t x = (acc_t)in[at];
  return x;
}

// Combines one value of each of the 64 threads; thread 0 gets the result.
DEVICE_FUNCTION acc_t block_combine(acc_t value, SHARED_PTR acc_t* scratch) {
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  for (int reach = 32; reach > 0; reach /= 2) {
//= reduce/gate.cu, "if (THREAD_X < reach) scratch[THREAD_X] = combin" to "}" (2)

KERNEL(64, 1, 1) reduce_wide_partials(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL acc_t* partials, GLOBAL i32* shares) {
  SHARED acc_t scratch[64];

  const int share = (int)(GRID_X / results);  // blocks a result
  const i64 r = BLOCK_X / share;
  acc_t value = identity();
  for (i64 i = (i64)(BLOCK_X % share) * 64 + THREAD_X; i < n; i += (i64)share * 64) {
    value = combine(value, value_at(in, n, r * n + i, i));
  }
  value = block_combine(value, scratch);
  if (THREAD_X == 0) {
    partials[BLOCK_X] = value;
    if (BLOCK_X == 0) shares[0] = share;  // for the second pass
  }
}

// Second pass, one block a result.
KERNEL(64, 1, 1) reduce_wide_finish(
    GLOBAL const acc_t* RESTRICT partials, GLOBAL const i32* RESTRICT shares, GLOBAL result_t* out) {
  SHARED acc_t scratch[64];

  const int share = shares[0];
  acc_t value = identity();
  for (int p = THREAD_X; p < share; p += 64) value = combine(value, partials[(i64)BLOCK_X * share + p]);
  value = block_combine(value, scratch);
  if (THREAD_X == 0) out[BLOCK_X] = (result_t)value;
}
