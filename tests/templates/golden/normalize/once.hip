// gfx90a: rows=100 cols=4096 dtype=bf16 out=bf16 op=softmax weight=false bias=false residual=false deterministic=no
  for (int mask = 32; mask > 0; mask /= 2) {
  // One value of each of the 16 warps of a team meets in each of them.
  const int lane = THREAD_X % 64;
  if (lane == 0) scratch[THREAD_X / 64] = value;
  value = scratch[THREAD_X / 1024 * 16 + lane % 16];
  for (int mask = 8; mask > 0; mask /= 2) {
//= normalize/once.hip, "for (int mask = 32; mask > 0; mask /= 2) {" to "for (int mask = 8; mask > 0; mask /= 2) {"
  SHARED f32 scratch[16];
  SHARED f32 more[16];
