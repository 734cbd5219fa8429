// gfx1100: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
// wmma:tile_m=64,tile_n=64,tile_k=32,warps_m=2,warps_n=2,ahead=true,splits=1,blocks_per_unit=1,raster=8

// convolution, wmma: a layer as a product of pixels and filters, whose fragments of 16 x 16 the matrix unit multiplies.
//
//= convolution/mfma.hip, "//                                    TILE_N    " to "TAPS = FH * FW,"
  TILE_M = 64,
//= convolution/mfma.hip, "TILE_N = 64," to "WARPS_N = 2,"
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 128
//= convolution/mfma.hip, "PART_M = TILE_M / WARPS_M,  // of a wavefront" to "}" (47)

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_wmma(
//= convolution/mfma.hip, "GLOBAL const element_t* RESTRICT in,      // [im" to "}" (13)
