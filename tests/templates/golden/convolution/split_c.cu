// sm_90a, gfx90a, opencl: h=14 w=14 fh=3 fw=3 n=1 c=256 k=64 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f32 layout=nchw precision=highest epilogue=x
// split_c:splits=4,tile_x=16,tile_y=4,tile_k=32,micro_x=4,micro_k=4,step_taps=36,unroll=1,prefetch=false

// convolution, split_c: a block computes TILE_K channels of TILE_Y x TILE_X pixels of one image, CHANNELS channels of
//= convolution/layers.cu, "// the input at a time; a thread keeps MICRO_K c" to "//" (10)
// The output is small and has many channels of input to add up: block (x, y, s) adds up part s of them, and convolution_combine
// adds the parts in order.
// Limit attacked: too few blocks, and loads from shared memory. The taps lie with the channels of the output innermost: a thread
//= convolution/layers.cu, "// reads them as vectors, and neighbouring threa" to "FILTER_HELD = 5,"
  SPLITS = 4,  // parts of the channels of the input
};

// Global memory -> registers: what goes to places i, i + THREADS ... of in_tile; zeros outside the input. `from` is the
// first channel of the step, y0 and x0 the first pixel of the tile.
DEVICE_FUNCTION void hold_in(f32* held, GLOBAL const f32* from, int i, int channels, int y0, int x0, i32 h, i32 w) {
//= convolution/layers.cu, "UNROLL" to "const int inside = channel < channels && y >= 0 "
    held[j] = inside ? from[((i64)channel * h + y) * w + x] : 0.0f;
  }
}

//= convolution/layers.cu, "// Registers -> shared memory." to "// output. Neighbouring threads read neighbourin"
DEVICE_FUNCTION void hold_filter(f32* held, GLOBAL const f32* from, int i, int channels, int block_k, i32 group_c) {
//= convolution/layers.cu, "UNROLL" (3) to "const int inside = rk < block_k && tap < channel"
    held[j] = inside ? from[(i64)rk * group_c * TAPS + tap] : 0.0f;
  }
}

//= convolution/layers.cu, "// Registers -> shared memory." (2) to "typedef struct {"
//= convolution/depthwise.cu, "GLOBAL const f32* bias;      // none" to "}" (2)

KERNEL(128, 1, 1) convolution_split_c(
    GLOBAL const f32* RESTRICT in,      // [n][c][h][w]
    GLOBAL const f32* RESTRICT filter,  // [k][group_c][FH][FW]
    GLOBAL f32* RESTRICT partial,       // [SPLITS][n][k][out_h][out_w]
    i32 n,
//= convolution/layers.cu, "i32 c, i32 h, i32 w, i32 k, i32 group_c, i32 gro" to "const int in_x0 = x0 * STRIDE - pad_w;"

  GLOBAL const f32* from = in + (image * c + (i64)group * group_c) * h * w;
  GLOBAL const f32* from_filter = filter + ((i64)group * group_k + k0) * group_c * TAPS;
  const int block_k = MIN(group_k - k0, TILE_K + 0);  // channels of the block that exist
  const int first_c = (int)((i64)group_c * BLOCK_Z / SPLITS);  // channels of input of this part
  const int end_c = (int)((i64)group_c * (BLOCK_Z + 1) / SPLITS);
  GLOBAL f32* out = partial + BLOCK_Z * ((i64)n * k * out_h * out_w);

//= convolution/layers.cu, "f32 sum[MICRO_K][MICRO_X];" to "f32 held[IN_HELD];"
      hold_in(held, from + (i64)c0 * h * w, i, channels, in_y0, in_x0, h, w);
//= convolution/layers.cu, "keep_in(held, i, in_tile);" to "f32 held[FILTER_HELD];"
      hold_filter(held, from_filter + (i64)c0 * TAPS, i, channels, block_k, group_c);
//= convolution/layers.cu, "keep_filter(held, i, filter_tile);" to "// Registers -> global memory."
//= convolution/layers.cu, "const int at_y = y0 + y;" to "if (rk0 + rk >= block_k) continue;"
    const i64 plane = image * k + (i64)group * group_k + k0 + rk0 + rk;
    GLOBAL f32* to = out + (plane * out_h + at_y) * out_w + at_x;
    UNROLL
    for (int rx = 0; rx < MICRO_X; ++rx) {
      if (at_x + rx < out_w) to[rx] = sum[rk][rx];
    }
  }
}

// out = sum over s of partial[s]: the parts in their order, so that the result does not vary.
KERNEL(256, 1, 1) convolution_combine(
    GLOBAL const f32* RESTRICT partial,  // [SPLITS][size]
    GLOBAL f32* RESTRICT out,            // [size]: n * k * out_h * out_w
    i32 n, i32 k, i32 out_h, i32 out_w) {
  const i64 size = (i64)n * k * out_h * out_w;
  const i64 at = (i64)BLOCK_X * 256 + THREAD_X;
  if (at >= size) return;
  f32 sum = 0.0f;
  UNROLL_N(4)
  for (int s = 0; s < SPLITS; ++s) sum += partial[s * size + at];
  const epilogue_t epilogue = { 0, 0 };
  out[at] = finish(sum, 0, 0, epilogue);
}
