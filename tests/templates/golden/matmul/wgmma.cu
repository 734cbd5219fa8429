// sm_90a: m=1024 n=1024 k=1024 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=1024 ldb=1024 ldc=1024 batch=1 batched=false stride_a=1048576 stride_b=1048576 stride_c=1048576
// wgmma:tile_m=128,tile_n=128,swapped=false,consumers=2,stages=4,cluster_m=1,cluster_n=1,cluster_k=1,schedule=tiles,ping_pong=false,register_split=true,blocks_per_unit=1,store=registers,raster=8,raster_along=m

// matmul, wgmma: warpgroups multiply tiles in shared memory with the matrix units, while one thread copies the next.
//
//                                   TILE_N                 shared memory, STAGES times:
//                              +-------------+               tile_a  TILE_M x TILE_K   +-- full: the copies are there
//                       TILE_K |   tile_b    |               tile_b  TILE_N x TILE_K   +-- empty: all have read it
//                              +-------------+
//           TILE_K             +-------------+             copying thread:  wait(empty), copy both tiles -> full
//          +------+            | consumer 0  |             consumers:       wait(full), multiply, arrive(empty)
//   TILE_M |tile_a|            |- - - - - - -|
//          |      |            | consumer 1  |             for i < k:  C[r][c] += op(A)[r][i] * op(B)[i][c]
//          +------+            +-------------+
//                                     C
//
//   global memory -> (bulk tensor copies) shared memory -> (matrix units) registers -> C
//
// Limit attacked: the rate of the matrix units; copies, waiting and storing are hidden behind them.

enum {
  TILE_M = 128,
  TILE_N = 128,
//= convolution/wgmma.cu, "TILE_K = 64," to "PART_A = 64 * ROW,  // bytes from 64 rows of til"
  PART_B = TILE_K * 128,
//= convolution/wgmma.cu, "BYTES_A = TILE_M * ROW," to "asm volatile("
      "{ .reg .pred p; setp.ne.b32 p, %66, 0;"
      " wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"
      " { %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63 }, %64, %65, p, 1, 1, 0, 1; }"
      :
//= convolution/f32_split.cu, ""+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])," to ""+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27"
      "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
      "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
      "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
      "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
      "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
      "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
      "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
      "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
      "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(keep));
}

// What an element of C is made from, beside its sum over k.
typedef struct {
  f32 alpha, beta;
  GLOBAL const f16_t* bias;  // none
} epilogue_t;

// The element of C from its sum x and from c, what it was.
DEVICE_FUNCTION f32 finish(f32 x, f32 c, f32 bias, epilogue_t epilogue) {
  const f32 alpha = epilogue.alpha;
  const f32 beta = epilogue.beta;
  return alpha * x;
}

//= convolution/f32_split.cu, "// The values of bias for two neighbouring colum" to "}"

// Two neighbouring columns of a row of the product to C, as far as they lie inside.
DEVICE_FUNCTION void store_pair(GLOBAL f16_t* c, int row, int col, int rows, int cols, i32 ldc, f32 x, f32 y,
                                epilogue_t epilogue) {
  if (row >= rows) return;
  GLOBAL f16_t* to = c + (i64)row * ldc + col;
  const int next = 1;
  f32 bias_x, bias_y;
  bias_pair(epilogue, row, col, rows, cols, &bias_x, &bias_y);
  if (col + 1 < cols && ldc % 2 == 0) {
    STORE_4(to, F32X2_TO_F16X2(finish(x, 0, bias_x, epilogue), finish(y, 0, bias_y, epilogue)));
    return;
  }
  if (col < cols) *to = F32_TO_F16(finish(x, 0, bias_x, epilogue));
  if (col + 1 < cols) to[next] = F32_TO_F16(finish(y, 0, bias_y, epilogue));
}

// Tensor maps want rows that begin at multiples of 16 bytes: operands of other strides are copied to rows that do.
enum { ALIGN_THREADS = 256, ALIGN_RUN = 16 / 2 };  // elements that a thread copies

// Run `at` of `rows` rows of `width` elements, `ld` apart, to rows that are whole runs.
DEVICE_FUNCTION void align_run(GLOBAL const u16* RESTRICT from, GLOBAL u16* RESTRICT to, i64 at, int rows, int width, i32 ld) {
  const int runs = (width - 1) / ALIGN_RUN + 1;
  const i64 row = at / runs;
  if (row >= rows) return;
  const int first = (int)(at % runs) * ALIGN_RUN;
  const i64 element = row * ld + first;
  const int shift = (int)(element % 2);  // the run begins in the middle of a 32-bit word
  const int left = width - first;        // elements of the row from the run's first on
  GLOBAL const u16* words = from + element - shift;
  u32 word[5];
  UNROLL
  for (int i = 0; i < 5; ++i) word[i] = LOAD_4_IF(2 * i - shift + 1 < left, words + 2 * i);
  // The last word of an odd run holds one element more than the row: alone it is read as a half.
  UNROLL
  for (int i = 0; i < 5; ++i) {
    if (2 * i - shift + 1 == left) word[i] = LOAD_2_IF(1, words + 2 * i);
  }
  u32 out[4];
  UNROLL
  for (int i = 0; i < 4; ++i) out[i] = shift == 0 ? word[i] : word[i] >> 16 | word[i + 1] << 16;
  STORE_16(to + at * ALIGN_RUN, U32X4(out[0], out[1], out[2], out[3]));
}

KERNEL(ALIGN_THREADS, 1, 1) matmul_align(
    GLOBAL const u16* RESTRICT a, GLOBAL u16* RESTRICT aligned_a,  // [m][lda] -> [m][whole runs]
    GLOBAL const u16* RESTRICT b, GLOBAL u16* RESTRICT aligned_b,  // [k][ldb] -> [k][whole runs]
    i32 m, i32 n, i32 k, i32 lda, i32 ldb) {
  DEPENDENT_LAUNCH();
  const i64 at = (i64)BLOCK_X * ALIGN_THREADS + THREAD_X;
  if (BLOCK_Y == 0) {
    if (lda % ALIGN_RUN != 0) align_run(a, aligned_a, at, m, k, lda);
  } else {
    if (ldb % ALIGN_RUN != 0) align_run(b, aligned_b, at, k, n, ldb);
  }
}

KERNEL_MIN_BLOCKS(THREADS, 1, 1, 1) matmul_wgmma(
    TENSOR_MAP_PARAM(map_a), TENSOR_MAP_PARAM(map_b),
    GLOBAL f16_t* c,  // [m][ldc]
    i32 m, i32 n, i32 k, i32 ldc, f32 alpha, f32 beta) {
  const epilogue_t epilogue = {alpha, beta, 0};
//= convolution/wgmma.cu, "ALIGNED_SHARED(u8, shared);" to "const int col0 = (tile_col * CLUSTER_N + rank_n)"
//= convolution/f32_split.cu, "for (int step = work.first; step < work.end; ++s" to "MBARRIER_WAIT(empty + 8 * stage, parity);"
          MBARRIER_EXPECT(there, STAGE);
          const int k0 = step * TILE_K;
          TENSOR_LOAD_2D(to_a, map_a, k0, row0, there);
          UNROLL
          for (int i = 0; i < TILE_N / 64; ++i) {
            TENSOR_LOAD_2D(to_b + i * PART_B, map_b, col0 + i * 64, k0, there);
          }
//= convolution/wgmma.cu, "if (++stage == STAGES) {" to "const u64 first_a = WGMMA_DESCRIPTOR(base + grou"
    const u64 first_b = WGMMA_DESCRIPTOR(base + BYTES_A, PART_B, 1024, 128);
//= convolution/wgmma.cu, "int stage = 0;" (2) to "for (int p = 0; p < PARTS; ++p) {"
            multiply(sum[p], a + p * (PART_A / 16) + kk * 2, b + kk * 128, (i | kk) != 0);
          }
        }
//= convolution/wgmma.cu, "WGMMA_COMMIT();" to "}" (9)
