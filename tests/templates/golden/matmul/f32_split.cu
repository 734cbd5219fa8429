// sm_90a: m=1024 n=1024 k=1024 dtype=f32 out=f32 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// f32_split:tile_m=128,tile_n=128,tile_k=32,consumers=2,stages=4,cluster_m=1,cluster_n=1,schedule=tiles,register_split=true,blocks_per_unit=1,raster=8,raster_along=m

//= matmul/wgmma.cu, "// matmul, wgmma: warpgroups multiply tiles in s" to "//" (14)
// An f32 is the sum of three bf16 values: six products of those, the small ones first, make one product in f32.
//= matmul/wgmma.cu, "// Limit attacked: the rate of the matrix units;" to "TILE_N = 128,"
//= convolution/f32_split.cu, "TILE_K = 32," to "PLANE_A = TILE_M * ROW,  // bytes from one to th"
  PLANE_B = TILE_K * 128,
  PART_A = 64 * ROW,  // bytes from 64 rows of tile_a to the next 64
  PART_B = TILE_K * 128 * PLANES,
//= convolution/f32_split.cu, "BYTES_A = TILE_M * ROW * PLANES," to "asm volatile("
      "{ .reg .pred p; setp.ne.b32 p, %66, 0;"
      " wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
//= matmul/wgmma.cu, "" { %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10," to "f32 alpha, beta;"
  GLOBAL const f32* bias;  // none
//= matmul/wgmma.cu, "} epilogue_t;" to "// Two neighbouring columns of a row of the prod"
DEVICE_FUNCTION void store_pair(GLOBAL f32* c, int row, int col, int rows, int cols, i32 ldc, f32 x, f32 y,
                                epilogue_t epilogue) {
  if (row >= rows) return;
  GLOBAL f32* to = c + (i64)row * ldc + col;
//= matmul/wgmma.cu, "const int next = 1;" to "if (col + 1 < cols && ldc % 2 == 0) {"
    STORE_8(to, U32X2(F32_TO_BITS(finish(x, 0, bias_x, epilogue)), F32_TO_BITS(finish(y, 0, bias_y, epilogue))));
    return;
  }
  if (col < cols) *to = finish(x, 0, bias_x, epilogue);
  if (col + 1 < cols) to[next] = finish(y, 0, bias_y, epilogue);
}

// An f32 as three bf16 values whose sum it is: each takes the 8 leading bits of what the ones before leave.
enum { SPLIT_THREADS = 256, SPLIT_RUN = 8 };  // elements that a thread splits at a time

// Runs of `rows` rows of `width` elements, `ld` apart, to three planes of rows that are whole runs. Gives whether a value
// is infinite, no number, or rounds to infinity.
DEVICE_FUNCTION int split_rows(GLOBAL const f32* RESTRICT from, GLOBAL u16* RESTRICT planes, int rows, int width, i32 ld) {
  const int runs = (width - 1) / SPLIT_RUN + 1;
  const i64 plane = (i64)rows * runs * SPLIT_RUN;
  const int whole = ld % 4 == 0;
  int is_special = 0;
  for (i64 at = (i64)BLOCK_X * SPLIT_THREADS + THREAD_X; at < (i64)rows * runs; at += (i64)GRID_X * SPLIT_THREADS) {
    const int first = (int)(at % runs) * SPLIT_RUN;
    GLOBAL const f32* run = from + at / runs * ld + first;
    const int left = width - first;
    f32 x[SPLIT_RUN];
    UNROLL
    for (int i = 0; i < 2; ++i) {
      if (whole && left >= 4 * (i + 1)) {
        const u32x4 v = LOAD_16(run + 4 * i);
        x[4 * i] = BITS_TO_F32(v.x);
        x[4 * i + 1] = BITS_TO_F32(v.y);
        x[4 * i + 2] = BITS_TO_F32(v.z);
        x[4 * i + 3] = BITS_TO_F32(v.w);
      } else {
        UNROLL
        for (int j = 4 * i; j < 4 * i + 4; ++j) x[j] = BITS_TO_F32(LOAD_4_IF(j < left, run + j));
      }
    }
    UNROLL
    for (int i = 0; i < SPLIT_RUN; ++i) is_special |= (F32_TO_BITS(x[i]) & 0x7fffffffu) >= 0x7f7f8000u;
    UNROLL
    for (int p = 0; p < 3; ++p) {
      u32 word[4];
      UNROLL
      for (int i = 0; i < 4; ++i) {
        word[i] = F32X2_TO_BF16X2(x[2 * i], x[2 * i + 1]);
        x[2 * i] -= BITS_TO_F32(word[i] << 16);
        x[2 * i + 1] -= BITS_TO_F32(word[i] & 0xffff0000u);
      }
      STORE_16(planes + p * plane + at * SPLIT_RUN, U32X4(word[0], word[1], word[2], word[3]));
    }
  }
  return is_special;
}

KERNEL(SPLIT_THREADS, 1, 1) matmul_split(
    GLOBAL const f32* RESTRICT a, GLOBAL u16* RESTRICT planes_a,  // [m][lda] -> [3][m][whole runs]
    GLOBAL const f32* RESTRICT b, GLOBAL u16* RESTRICT planes_b,  // [k][ldb] -> [3][k][whole runs]
    GLOBAL u32* special, i32 m, i32 n, i32 k, i32 lda, i32 ldb) {
  DEPENDENT_LAUNCH();
  const int is_special = BLOCK_Y == 0 ? split_rows(a, planes_a, m, k, lda)
                                      : split_rows(b, planes_b, k, n, ldb);
  if (is_special) special[0] = 1;
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_wgmma(
    TENSOR_MAP_PARAM(map_a), TENSOR_MAP_PARAM(map_b),
    GLOBAL f32* c,  // [m][ldc]
    GLOBAL const f32* a, GLOBAL const f32* b, GLOBAL u32* special,  // special: is a value infinite or no number; who has read it
    i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, f32 alpha, f32 beta) {
//= matmul/wgmma.cu, "const epilogue_t epilogue = {alpha, beta, 0};" to "}" (3)
//= convolution/f32_split.cu, "DEPENDENT_WAIT();  // for the planes" to "const int next = col + 1 < cols;"
        f32 x = 0, y = 0;
        for (int kk = 0; kk < k; ++kk) {
          const f32 factor = a[(i64)row * lda + kk];
          x = FMA(factor, b[(i64)kk * ldb + col], x);
          y = FMA(factor, b[(i64)kk * ldb + col + next], y);
        }
        store_pair(c, row, col, rows, cols, ldc, x, y, epilogue);
      }
    }
//= convolution/f32_split.cu, "return;" to "const int col0 = (tile_col * CLUSTER_N + rank_n)"
//= matmul/wgmma.cu, "for (int step = work.first; step < work.end; ++s" to "const int k0 = step * TILE_K;"
          TENSOR_LOAD_3D(to_a, map_a, k0, row0, 0, there);
          UNROLL
          for (int i = 0; i < TILE_N / 64; ++i) {
            TENSOR_LOAD_3D(to_b + i * PART_B, map_b, col0 + i * 64, k0, 0, there);
          }
          TENSOR_LOAD_3D(to_a + 1 * PLANE_A, map_a, k0, row0, 1, there);
          UNROLL
          for (int i = 0; i < TILE_N / 64; ++i) {
            TENSOR_LOAD_3D(to_b + 1 * PLANE_B + i * PART_B, map_b, col0 + i * 64, k0, 1, there);
          }
          TENSOR_LOAD_3D(to_a + 2 * PLANE_A, map_a, k0, row0, 2, there);
          UNROLL
          for (int i = 0; i < TILE_N / 64; ++i) {
            TENSOR_LOAD_3D(to_b + 2 * PLANE_B + i * PART_B, map_b, col0 + i * 64, k0, 2, there);
          }
//= convolution/f32_split.cu, "if (++stage == STAGES) {" to "const u64 first_a = WGMMA_DESCRIPTOR(base + grou"
//= matmul/wgmma.cu, "const u64 first_b = WGMMA_DESCRIPTOR(base + BYTE" to "const int col0 = (tile_col * CLUSTER_N + rank_n)"
//= convolution/f32_split.cu, "UNROLL" (7) to "for (int p = 0; p < PARTS; ++p) {" (2)
            multiply(chunk[p], a + (0 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 2 * (PLANE_B / 16) + kk * 128, kk != 0);
          }
        }
//= convolution/f32_split.cu, "UNROLL" (9) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (2 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 0 * (PLANE_B / 16) + kk * 128, 1);
          }
        }
//= convolution/f32_split.cu, "UNROLL" (9) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (1 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 1 * (PLANE_B / 16) + kk * 128, 1);
          }
        }
//= convolution/f32_split.cu, "UNROLL" (9) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (0 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 1 * (PLANE_B / 16) + kk * 128, 1);
          }
        }
//= convolution/f32_split.cu, "UNROLL" (9) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (1 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 0 * (PLANE_B / 16) + kk * 128, 1);
          }
        }
//= convolution/f32_split.cu, "UNROLL" (9) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(chunk[p], a + (0 * PLANE_A + p * PART_A) / 16 + kk * 2, b + 0 * (PLANE_B / 16) + kk * 128, 1);
          }
        }
//= convolution/f32_split.cu, "WGMMA_COMMIT();" to "}" (9)
