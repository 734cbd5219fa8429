// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant two_pass: partial results through a workspace, no atomics: the same bits on every run
//
//= reduce/grid_stride.cu, "//   dtype        = f32    type of the elements;" to "//   out_dtype    = f32"
//   block_size   = 256    threads per block, in both passes
//   load_bytes   = 16     bytes per load of one thread
//   unroll       = 4      independent loads in flight per thread
//   accumulators = 1      independent partial results per thread
//= reduce/grid_stride.cu, "//   streaming    = false  loads carry an evict-" to "//" (5)

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

//= reduce/grid_stride.cu, "typedef f32 element_t;  // as stored" to "}"

typedef u32x4 load_t;  // elements in one load: 4

DEVICE_FUNCTION void unpack(load_t words, acc_t* x) {
//= arg_reduce/rows.cu, "x[0] = BITS_TO_F32(words.x);" to "}"

//= reduce/grid_stride.cu, "// Combines the 4 terms from element i on into `" to "}" (7)

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
