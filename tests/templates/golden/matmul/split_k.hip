//= matmul/register.hip, "// gfx90a, opencl: m=1024 n=1024 k=1024 dtype=f1" to "GLOBAL const f16_t* bias;  // none"
    GLOBAL f16_t* RESTRICT c,  // [m][ldc]
  GLOBAL f16_t* to = c + at / n * ldc + at % n;
  *to = F32_TO_F16(finish(sum, 0, 0, epilogue));
