// gfx1100: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// wmma:tile_m=64,tile_n=64,tile_k=32,warps_m=2,warps_n=2,load_vector=8,ahead=true,splits=1,blocks_per_unit=1,raster=8

// matmul, wmma: each warp multiplies fragments of 16 x 16 with the matrix unit, while registers take the next tiles.
//
//= matmul/mfma.hip, "//                                    TILE_N    " to "enum {"
//= convolution/wmma.hip, "TILE_M = 64," to "THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 128"
//= matmul/mfma.hip, "PART_M = TILE_M / WARPS_M,  // of a warp" to "}" (38)

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_wmma(
//= matmul/mfma.hip, "GLOBAL const element_t* RESTRICT a,  // [m][lda]" to "}" (12)
