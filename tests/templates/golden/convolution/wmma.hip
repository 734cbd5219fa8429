// gfx1100: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
//= convolution/mfma.hip, "// mfma:tile_m=128,tile_n=64,tile_k=32,warps_m=2" to "WARPS_N = 2,", 128 is 64, mfma is wmma
//= convolution/mfma.hip, "THREADS = WARPS_M * WARPS_N * WARP_SIZE,  // 256" to "enum {", 256 is 128
//= convolution/mfma.hip, "PACK_THREADS = 256," to "}" (59), convolution_mfma is convolution_wmma
