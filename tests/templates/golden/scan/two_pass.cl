// opencl: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
//= scan/lookback.cl, "//   dtype        = f32     type of the elements" to "//   streaming    = false   loads and stores car"
//= scan/lookback.cl, "//   per_load     = 4       load_bytes // sizeof" to "//   acc_dtype    = f32     dtype"
//= scan/lookback.cl, "//   row r:   | tile 0 | tile 1 | ... | tile T-1" to "return tile * 4096 - shift + (THREAD_X / 1) * 16"
  SHARED acc_t scratch[256];
  SHARED acc_t scratch[256];
  SHARED acc_t scratch[256];
