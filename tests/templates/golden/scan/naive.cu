// sm_90a, gfx90a, opencl: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
// naive:block_size=256

// scan, variant naive: one thread walks along each row.
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) out[r][i] = acc = combine(acc, in[r][i])
// Limit: none is attacked: a row is one chain of loads.

//= scan/lookback.cu, "typedef f32 element_t;  // as stored" to "DEVICE_FUNCTION acc_t combine(acc_t a, acc_t b) "

KERNEL(256, 1, 1) scan_naive(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 rows,  // [rows][n]
    GLOBAL element_t* RESTRICT out) {                      // [rows][n]
  const i64 r = (i64)BLOCK_X * 256 + THREAD_X;
  if (r >= rows) return;
  acc_t acc = identity();
  for (i64 i = r * n; i < (r + 1) * n; ++i) {
    const acc_t next = combine(acc, in[i]);
    out[i] = next;
    acc = next;
  }
}
