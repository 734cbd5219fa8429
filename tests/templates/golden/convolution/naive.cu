// sm_90a, gfx90a, opencl: h=28 w=28 fh=3 fw=3 n=32 c=128 k=128 groups=1 stride=1 dilation=1 pad_h=1 pad_w=1 pad_bottom=1 pad_right=1 dtype=f16 layout=nhwc precision=highest epilogue=x
// naive:block_x=32,block_y=8,wide=false

// convolution, naive: one thread computes one output.
//
//      in: h x w                 out: out_h x out_w
//    +-------------+            +-------------+     for n, k, y, x:
//    |  +----+     |            |             |       sum = 0
//    |  | fh |     |     =>     |   x         |       for c of the group, i < FH, j < FW:
//    |  +-fw-+     |            |             |         sum += in[n][c][y * STRIDE + i - pad_h][x * STRIDE + j - pad_w]
//    +-------------+            +-------------+                * filter[k][c][i][j]      (zero outside the input)
//                                                     out[n][k][y][x] = sum
// Channels lie innermost: in[n][y][x][c], filter[k][i][j][c], out[n][y][x][k].
// Limit: two loads for every multiplication, and the borders are tested for each.
//= convolution/f32_split.cu, "enum {" (2) to "STRIDE = 1,"
  BLOCK_ACROSS = 32,
  BLOCK_DOWN = 8,
};

//= convolution/depthwise_planes.cu, "// What an element of the output is made from, b" to "}" (2)

KERNEL(32, 8, 1) convolution_naive(
    GLOBAL const f16_t* RESTRICT in,      // [n][h][w][c]
    GLOBAL const f16_t* RESTRICT filter,  // [k][FH][FW][group_c]
    GLOBAL f16_t* RESTRICT out,           // [n][out_h][out_w][k]
    i32 n, i32 c, i32 h, i32 w, i32 k, i32 group_c, i32 group_k, i32 out_h, i32 out_w, i32 pad_h, i32 pad_w) {
  const int blocks_across = (out_w - 1) / BLOCK_ACROSS + 1;
  const int x = BLOCK_X % blocks_across * BLOCK_ACROSS + THREAD_X;
  const int y = BLOCK_X / blocks_across * BLOCK_DOWN + THREAD_Y;
  if (x >= out_w || y >= out_h) return;

  const epilogue_t epilogue = { 0, 0 };
  const i64 planes = (i64)n * k;
  for (i64 plane = BLOCK_Y; plane < planes; plane += GRID_Y) {  // plane = image * k + channel of `out`
    const int channel = (int)(plane % k);
    const i64 image = plane / k;
    const int first = channel / group_k * group_c;  // first channel of `in` that it sees
    f32 sum = 0;
    for (int g = 0; g < group_c; ++g) {
      for (int i = 0; i < FH; ++i) {
        const int from_y = y * STRIDE + i - pad_h;
        if (from_y < 0 || from_y >= h) continue;
        for (int j = 0; j < FW; ++j) {
          const int from_x = x * STRIDE + j - pad_w;
          if (from_x < 0 || from_x >= w) continue;
          const f32 value = F16_TO_F32(in[(((i64)image * h + from_y) * w + from_x) * c + first + g]);
          const f32 tap = F16_TO_F32(filter[(((i64)channel * FH + i) * FW + j) * group_c + g]);
          sum = FMA(value, tap, sum);
        }
      }
    }
    const i64 at = ((image * out_h + y) * out_w + x) * k + channel;
    out[at] = F32_TO_F16(finish(sum, 0, 0, epilogue));
  }
}
