// gfx90a, opencl: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
  WORDS = 1,  // 32-bit words that hold them
typedef u16 element_t;  // bits of an element of A, B and C
  return F32_TO_BITS(F16_TO_F32((u16)(words[i / 2] >> i % 2 * 16)));
      held[i][0] = LOAD_4(vector);
      const u32 bits = LOAD_2_IF(j < inside, vector + j);
      held[i][j / 2] = j % 2 == 0 ? bits : held[i][j / 2] | bits << 16;
      held[i][0] = LOAD_4(vector);
      const u32 bits = LOAD_2_IF(j < inside, vector + j);
      held[i][j / 2] = j % 2 == 0 ? bits : held[i][j / 2] | bits << 16;
  GLOBAL const f16_t* bias;  // none
DEVICE_FUNCTION void write_run(GLOBAL f16_t* c, int inside, int aligned, int row, int col, epilogue_t epilogue, const real_t* sum) {
  f16_t value[RUN_N];
    value[i] = F32_TO_F16(finish(sum[i], old, 0, epilogue));
  STORE_8_IF(whole, c, U32X2(value[0] | (u32)value[1] << 16, value[2] | (u32)value[3] << 16));
    STORE_2_IF(i < inside, c + i, value[i]);
    GLOBAL f16_t* RESTRICT c,  // [m][ldc]
