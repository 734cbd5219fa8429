// opencl: rows=100 cols=4096 dtype=bf16 out=bf16 op=softmax weight=false bias=false residual=false deterministic=no
  const int lane = THREAD_X % 256;
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  for (int reach = 128; reach > 0; reach /= 2) {
    if (lane < reach) {
      const f32 other = scratch[THREAD_X + reach];
      value = value + other;
      scratch[THREAD_X] = value;
    BARRIER();  // this round is written before the next reads it
  value = scratch[THREAD_X - lane];
  BARRIER();  // it is read before it is overwritten
//= normalize/twice.cl, "const int lane = THREAD_X % 256;" to "const f32 other = scratch[THREAD_X + reach];"
      value = MAX(value, other);
//= normalize/twice.cl, "scratch[THREAD_X] = value;" (2) to "BARRIER();  // it is read before it is overwritt"
  SHARED f32 scratch[256];
  SHARED f32 more[256];
