// sm_90a, gfx90a, opencl: m=4 n=4096 k=4096 dtype=f16 out=f16 precision=highest trans_a=false trans_b=false epilogue='alpha * x + beta * c' bias_along=n beta_zero=true lda=4096 ldb=4096 ldc=4096 batch=1 batched=false stride_a=16384 stride_b=16777216 stride_c=16384
// skinny:few=m,rows=1,load_vector=1,team=32,teams=4,steps_ahead=2

// matmul, skinny: C has few rows or few columns, so each element of the large operand X is used 1 times at most.
//
//   C[i][r] = sum over kk of Y[i][kk] * X[r][kk]        X = op(B) transposed: n rows;   Y = op(A): few rows
//
//   X lies across k:   kk     | v v | v v | v v |           a thread keeps LOAD rows r; the 32 threads of a team share them,
//                      kk + 1 | v v | v v | v v |           and each takes every 32th kk; then the team adds up.
//
// Limit attacked: the bandwidth of memory. X is read once, in wide loads, many under way.

enum {
  FEW = 1,          // rows of Y that are multiplied at a time
  ROWS_X = 1,     // rows of X that a thread keeps
  TEAM = 32,         // threads that share them
  TEAMS = 4,       // in a block
  THREADS = TEAM * TEAMS,
  LOAD = 1,  // elements in a load
  WORDS = 1,       // 32-bit words that hold them
  STEPS = 2,
};

typedef u16 element_t;  // bits of an element

DEVICE_FUNCTION f32 value_of(const u32* words, int i) {
  return F16_TO_F32((u16)words[i]);
}

// LOAD elements; zeros where `yes` is 0.
DEVICE_FUNCTION void load_run(int yes, GLOBAL const element_t* from, u32* words) {
  words[0] = LOAD_2_IF(yes, from);
}

//= matmul/wgmma.cu, "// What an element of C is made from, beside its" to "}" (2)

KERNEL(THREADS, 1, 1) matmul_skinny(
    GLOBAL const element_t* RESTRICT a, GLOBAL const element_t* RESTRICT b, GLOBAL f16_t* RESTRICT c,
    i32 m, i32 n, i32 k, i32 lda, i32 ldb, i32 ldc, f32 alpha, f32 beta) {
  SHARED f32 parts[TEAMS][32][FEW * ROWS_X];  // sums of the threads (or warps) of a team
  GLOBAL const element_t* x = b;
  GLOBAL const element_t* y = a;
  const i64 ldx = ldb;
  const i64 ldy = lda;
  const int count_x = n;
  const int count_y = m;
  const int team = THREAD_X % TEAMS;  // neighbouring threads read neighbouring rows
  const int member = THREAD_X / TEAMS;
  const int blocks_x = (count_x - 1) / (TEAMS * ROWS_X) + 1;
  const int row0_x = BLOCK_X % blocks_x * (TEAMS * ROWS_X);  // of the block
  const int row_x = row0_x + team * ROWS_X;
  const int row_y = BLOCK_X / blocks_x * FEW;

  f32 sum[FEW][ROWS_X];
  UNROLL
  for (int i = 0; i < FEW; ++i) {
    UNROLL
    for (int r = 0; r < ROWS_X; ++r) sum[i][r] = 0;
  }

  NO_UNROLL
  for (int k0 = member; k0 < k; k0 += TEAM * STEPS) {
    u32 held_x[STEPS][WORDS];
    UNROLL
    for (int s = 0; s < STEPS; ++s) {
      const int kk = k0 + s * TEAM;
      load_run(kk < k && row_x < count_x, x + kk * ldx + row_x, held_x[s]);
    }
    UNROLL
    for (int s = 0; s < STEPS; ++s) {
      const int kk = k0 + s * TEAM;
      UNROLL
      for (int i = 0; i < FEW; ++i) {
        u32 bits = 0;
        if (kk < k && row_y + i < count_y) bits = y[(row_y + i) * ldy + kk];
        const f32 factor = F16_TO_F32((u16)bits);
        UNROLL
        for (int r = 0; r < ROWS_X; ++r) sum[i][r] = FMA(factor, value_of(held_x[s], r), sum[i][r]);
      }
    }
  }

  // Sums of threads -> sums of the team, always in the same order.
  const int part = member;
  const int keeps = 1;
  if (keeps) {
    UNROLL
    for (int i = 0; i < FEW; ++i) {
      UNROLL
      for (int r = 0; r < ROWS_X; ++r) parts[team][part][i * ROWS_X + r] = sum[i][r];
    }
  }
  BARRIER();  // the sums are there
  const epilogue_t epilogue = {alpha, beta, 0};
  for (int at = THREAD_X; at < TEAMS * FEW * ROWS_X; at += THREADS) {
    const int owner = at / ROWS_X % TEAMS;
    const int i = at / (ROWS_X * TEAMS);
    const int r = at % ROWS_X;
    const int to_x = row0_x + owner * ROWS_X + r;
    const int to_y = row_y + i;
    if (to_x >= count_x || to_y >= count_y) continue;
    f32 whole = 0;
    for (int p = 0; p < 32; ++p) whole += parts[owner][p][i * ROWS_X + r];
    GLOBAL f16_t* to = c + (i64)to_y * ldc + to_x;
    *to = F32_TO_F16(finish(whole, 0, 0, epilogue));
  }
}
