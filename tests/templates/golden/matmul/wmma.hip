// gfx1100: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
//= matmul/mfma.hip, "// mfma:tile_m=128,tile_n=128,tile_k=32,warps_m=" to "WARPS_N = 2,", 128 is 64, mfma is wmma
//= matmul/mfma.hip, "THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 256" to "}" (50), 256 is 128, matmul_mfma is matmul_wmma
