// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant two_pass: partial results through a workspace, no atomics: the same bits on every run
//
//   dtype        = f32    type of the elements; f16 and bf16 are accumulated in f32, i32 wraps at 32 bits
//   op           = sum    how terms are combined; dot sums the products of two vectors
//   map          = x      the term of element i: x is in[i] (dot: in[i] * other[i]; source index: i itself)
//   source       = array  array: terms come from `in`; index: nothing is read and x is i, e.g. to integrate a formula
//   out_dtype    = f32
//   block_size   = 256    threads per block, in both passes
//   load_bytes   = 16     bytes per load of one thread
//   unroll       = 4      independent loads in flight per thread
//   accumulators = 1      independent partial results per thread
//   streaming    = false  loads carry an evict-first hint: nothing is read twice
//   finish       = tree   how a block combines its threads: in shared memory, or by exchange within warps
//   acc_dtype    = f32    out_dtype
//   per_load     = 4      load_bytes // sizeof(dtype)
//   tile         = 4096   block_size * per_load * unroll
//

// reduce, variants two_pass and wide (the same in f64): the first pass leaves one partial result per block, the second combines those.
//
//   in:        | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |      G blocks in the grid
//   block:         0        1               G-1        0            all        (first pass)
//   partials:  | p0 | p1 | ... | p(G-1) |                                      (workspace)
//   out:       one block: thread t combines p(t), p(t + 256), ...; then the block's tree
//   load u of thread t in a tile starts at element  tile * 4096 + u * 1024 + t * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: no atomics, so the order of combining is fixed and so are the bits of the result; costs a second launch.

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

typedef u32x4 load_t;  // elements in one load: 4

DEVICE_FUNCTION void unpack(load_t words, acc_t* x) {
  x[0] = BITS_TO_F32(words.x);
  x[1] = BITS_TO_F32(words.y);
  x[2] = BITS_TO_F32(words.z);
  x[3] = BITS_TO_F32(words.w);
}

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
    BARRIER();  // this round is written before the next reads it
  }
  return scratch[0];
}

KERNEL(256, 1, 1) reduce_partials(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL acc_t* partials, GLOBAL i32* written) {
  SHARED acc_t scratch[256];

  const acc_t value = block_combine(thread_combine(in, n, BLOCK_X, GRID_X), scratch);
  if (THREAD_X == 0) {
    partials[BLOCK_X] = value;
    if (BLOCK_X == 0) written[0] = GRID_X;  // how many there are, for the second pass
  }
}

// Second pass, one block.
KERNEL(256, 1, 1) reduce_finish(
    GLOBAL const acc_t* RESTRICT partials, GLOBAL const i32* RESTRICT written, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];

  const int count = written[0];
  acc_t value = identity();
  for (int p = THREAD_X; p < count; p += 256) value = combine(value, partials[p]);
  value = block_combine(value, scratch);
  if (THREAD_X == 0) out[0] = (result_t)value;
}
