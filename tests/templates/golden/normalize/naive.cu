// sm_90a, gfx90a, opencl: rows=100 cols=4096 dtype=bf16 out=bf16 op=softmax weight=false bias=false residual=false deterministic=no
// naive:block_size=128

// normalize, variant naive: a block walks along each row element by element.
//
// Replaces: for each row: passes for what it is normalized by, and one that writes softmax
// Limit: none is attacked. In f64; it stands in for the CPU loop where that would take too long.

typedef bf16_t element_t;
typedef bf16_t result_t;
typedef f64 acc_t;

DEVICE_FUNCTION acc_t block_sum(acc_t value, SHARED_PTR acc_t* scratch) {
  BARRIER();  // scratch is free
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  for (int reach = 64; reach > 0; reach /= 2) {
    if (THREAD_X < reach) scratch[THREAD_X] = scratch[THREAD_X] + scratch[THREAD_X + reach];
    BARRIER();  // this round is written before the next reads it
  }
  return scratch[0];
}

DEVICE_FUNCTION acc_t block_max(acc_t value, SHARED_PTR acc_t* scratch) {
//= normalize/naive.cu, "BARRIER();  // scratch is free" to "for (int reach = 64; reach > 0; reach /= 2) {"
    if (THREAD_X < reach) scratch[THREAD_X] = MAX(scratch[THREAD_X], scratch[THREAD_X + reach]);
//= normalize/naive.cu, "BARRIER();  // this round is written before the " to "}" (2)

KERNEL(128, 1, 1) normalize_naive(
    GLOBAL const element_t* RESTRICT in,  // [rows][cols]
    i64 rows, i64 cols,
    GLOBAL result_t* RESTRICT out) {
  SHARED acc_t scratch[128];

  const i64 row = (i64)BLOCK_X * cols;
  acc_t shift = 0, total = 0;
  shift = (acc_t)-F32_INFINITY;
  for (i64 c = THREAD_X; c < cols; c += 128) shift = MAX(shift, (acc_t)BF16_TO_F32(in[row + c]));
  shift = block_max(shift, scratch);
  for (i64 c = THREAD_X; c < cols; c += 128) total += exp((acc_t)BF16_TO_F32(in[row + c]) - shift);
  total = block_sum(total, scratch);
  const acc_t factor = 1 / total;
  for (i64 c = THREAD_X; c < cols; c += 128) {
    acc_t y = (acc_t)BF16_TO_F32(in[row + c]) - shift;
    y = exp(y) * factor;
    out[row + c] = F32_TO_BF16((f32)y);
  }
}
