//= normalize/twice.cl, "// opencl: rows=100 cols=4096 dtype=bf16 out=bf1" to "SHARED f32 more[256];"
  SHARED f32 scratch[256];
  SHARED f32 more[256];
