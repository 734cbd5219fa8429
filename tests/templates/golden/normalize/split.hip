//= normalize/twice.hip, "// gfx90a: rows=100 cols=4096 dtype=bf16 out=bf1" to "SHARED f32 more[4];"
  SHARED f32 scratch[4];
  SHARED f32 more[4];
