//= scan/lookback.hip, "// gfx90a: n=1000000 rows=1 dtype=f32 op=sum exc" to "return tile * 4096 - shift + (THREAD_X / 64) * 1"
  SHARED acc_t scratch[64];
  SHARED acc_t scratch[64];
  SHARED acc_t scratch[64];
