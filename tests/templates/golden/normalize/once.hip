//= normalize/twice.hip, "// gfx90a: rows=100 cols=4096 dtype=bf16 out=bf1" to "value = scratch[THREAD_X / 256 * 4 + lane % 4];", 256 is 1024, 4 is 16
  for (int mask = 8; mask > 0; mask /= 2) {
//= normalize/once.hip, "for (int mask = 32; mask > 0; mask /= 2) {" to "for (int mask = 8; mask > 0; mask /= 2) {"
  SHARED f32 scratch[16];
  SHARED f32 more[16];
