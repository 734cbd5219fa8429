// gfx1100: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
// convolution: out[n, k, y, x] = sum over c, i, j of in[n, c, y * stride + i - pad_h, x * stride + j - pad_w] * filter[k, c, i, j]
// Variant wmma: a layer as a product of pixels and filters on the matrix units of wavefronts of 32 (RDNA)
//
//= convolution/mfma.hip, "//   fh              = 3               rows of t" to "//   has_residual    = false"
//   tile_m          = 64              pixels of the output that a block computes
//= convolution/mfma.hip, "//   tile_n          = 64              channels " to "//   raster          = 8               rows of t"
//   family          = wmma            'wmma'
//= convolution/mfma.hip, "//   overlapping     = false" to "//   pack            = F32X2_TO_F16X2  'F32X2_TO"
//   threads         = 128             warps_m * warps_n * lanes
//   buffers         = 2               2 if ahead else 1
//

// convolution, wmma: a layer as a product of pixels and filters, whose fragments of 16 x 16 the matrix unit multiplies.
//
//= convolution/mfma.hip, "//                                    TILE_N    " to "// Limit attacked: the rate of multiply-adds of "

//= convolution/wgmma.cu, "enum {" (2) to "DILATION = 1,"
  TAPS = FH * FW,
  TILE_M = 64,
  TILE_N = 64,
  TILE_K = 32,
  WARPS_M = 2,
  WARPS_N = 2,
  THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 128
//= convolution/mfma.hip, "PART_M = TILE_M / WARPS_M,  // of a wavefront" to "typedef u16 element_t;  // bits of an element"

//= convolution/wgmma.cu, "// Input and filter as the copies want them: cha" to "}" (10)

//= convolution/mfma.hip, "// Where a thread is along k." to "}" (30)

//= convolution/wgmma.cu, "// What an element of the output is made from, b" to "}" (5)

//= convolution/mfma.hip, "// Four neighbouring channels of a pixel, as far" to "}"

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) convolution_wmma(
//= convolution/mfma.hip, "GLOBAL const element_t* RESTRICT in,      // [im" to "}" (13)
