// sm_90a, gfx90a, opencl: out_h=640 out_w=640 src_h=2160 src_w=3840 n=32 format=bgr filter=bilinear fit=stretch to=rgb layout=chw dtype=f32 matrix=bt601 pitch=11520 source_bytes=796262400
// naive:block_x=64,block_y=2

// preprocess, naive: one thread computes one pixel of `out`, all three channels.
//
//    source: w x h, bgr             out: out_w x out_h, rgb
//    +----------------+             +------------+    for each image, y, x:
//    |  o  o          |             |            |      value = source at ((x + 0.5) * w / to_w - 0.5, the same of y), bilinear
//    |  o  o          |     =>      |    x       |      out[c][y][x] = value[c] * scale_c + shift_c
//    |                |             |            |
//    +----------------+             +------------+
//
// Limit: a load for every byte, and every coordinate is computed anew for each pixel.
//= preprocess/pixels.cu, "// Where the pixels of one image lie and which p" to "BLOCK_ACROSS = 64,"
  BLOCK_DOWN = 2,
};

KERNEL(64, 2, 1) preprocess_naive(
//= preprocess/pixels.cu, "GLOBAL const u8* RESTRICT in,        // [source_" to "affine.border = border;"
//= convolution/naive.cu, "const int blocks_across = (out_w - 1) / BLOCK_AC" to "if (x >= out_w || y >= out_h) return;"
  for (i64 index = BLOCK_Y; index < n; index += GRID_Y) {
    const image_t image = image_of(regions, index, out_w, out_h);
    const colour_t source = sample(in, image, x - image.left, y - image.top);
    store_pixel(out, index, x, y, out_w, out_h, finished(source, affine));
  }
}
