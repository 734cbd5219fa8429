// opencl: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
//= scan/lookback.cl, "//   row r:   | tile 0 | tile 1 | ... | tile T-1" to "return tile * 4096 - shift + (THREAD_X / 1) * 16"
  SHARED acc_t scratch[256];
  SHARED acc_t scratch[256];
  SHARED acc_t scratch[256];
