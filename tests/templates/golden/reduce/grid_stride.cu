// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// grid_stride:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,streaming=false,finish=tree

// reduce, variant grid_stride: a few persistent blocks walk over the vector with wide loads; one atomic per block.
//
//   in:    | tile 0 | tile 1 | ... | tile G-1 | tile G | tile G+1 | ... | tail |      G blocks in the grid
//   block:     0        1               G-1        0         1             all
//   tile:  4 rows of 256 threads x 4 elements (16 bytes): a thread has 4 loads in flight
//   load u of thread t in a tile starts at element  tile * 4096 + u * 1024 + t * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: bytes in flight. Memory of latency L and bandwidth B is full only while L * B bytes are asked for.

typedef f32 element_t;  // as stored
typedef f32 acc_t;  // terms and partial results
typedef f32 result_t;

// combine(identity(), a) == a
DEVICE_FUNCTION acc_t identity(void) { return 0.0f; }
DEVICE_FUNCTION acc_t combine(acc_t a, acc_t b) { return a + b; }

// The term of element i, on its own, which lies at in[at].
DEVICE_FUNCTION acc_t value_at(GLOBAL const element_t* RESTRICT in, i64 n, i64 at, i64 i) {
  const acc_t x = in[at];
  return x;
}

// First step: out[0] holds the identity before any block adds to it.
KERNEL(1, 1, 1) reduce_begin(GLOBAL result_t* out) { out[0] = identity(); }

// out[0] = combine(out[0], value), whoever else does the same.
DEVICE_FUNCTION void add_to_result(GLOBAL result_t* out, acc_t value) {
  ATOMIC_ADD_F32(out, value);
}

typedef u32x4 load_t;  // elements: 4

DEVICE_FUNCTION void unpack(load_t words, acc_t* x) {
//= arg_reduce/key.cu, "x[0] = BITS_TO_F32(words.x);" to "}"

// Combines the 4 terms from element i on into `sum`.
DEVICE_FUNCTION acc_t fold(acc_t sum, load_t a, i64 i, i64 n) {
  acc_t x[4];
  unpack(a, x);
  UNROLL
  for (int e = 0; e < 4; ++e) {
    sum = combine(sum, x[e]);
  }
  return sum;
}

// Combines the terms that fall to this thread, of block `part` of `parts`.
DEVICE_FUNCTION acc_t thread_combine(GLOBAL const element_t* RESTRICT in, i64 n, int part, int parts) {
  acc_t sum0 = identity();

  // ---- whole tiles: device memory -> registers; loads of 16 bytes in flight: 4
  const i64 tiles = n / 4096;
  NO_UNROLL
  for (i64 tile = part; tile < tiles; tile += parts) {
    const i64 i = tile * 4096 + THREAD_X * 4;
    const load_t a0 = LOAD_16(in + i);
    const load_t a1 = LOAD_16(in + i + 1024);
    const load_t a2 = LOAD_16(in + i + 2048);
    const load_t a3 = LOAD_16(in + i + 3072);
    sum0 = fold(sum0, a0, i, n);
    sum0 = fold(sum0, a1, i + 1024, n);
    sum0 = fold(sum0, a2, i + 2048, n);
    sum0 = fold(sum0, a3, i + 3072, n);
  }

  // ---- the last n % 4096 elements, one by one, dealt over all parts
  const i64 rest = tiles * 4096 + (i64)part * 256 + THREAD_X;
  NO_UNROLL
  for (i64 i = rest; i < n; i += (i64)parts * 256) {
    sum0 = combine(sum0, value_at(in, n, i, i));
  }
  return sum0;
}

// Combines one value of each of the 256 threads; thread 0 gets the result.
DEVICE_FUNCTION acc_t block_combine(acc_t value, SHARED_PTR acc_t* scratch) {
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  for (int reach = 128; reach > 0; reach /= 2) {
    if (THREAD_X < reach) scratch[THREAD_X] = combine(scratch[THREAD_X], scratch[THREAD_X + reach]);
//= normalize/naive.cu, "BARRIER();  // this round is written before the " to "}" (2)

KERNEL(256, 1, 1) reduce_grid_stride(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];

  const acc_t value = block_combine(thread_combine(in, n, BLOCK_X, GRID_X), scratch);
  if (THREAD_X == 0) add_to_result(out, value);
}
