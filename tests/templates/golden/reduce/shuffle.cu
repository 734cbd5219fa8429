// sm_90a: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant shuffle: exchange within warps or wavefronts: attacks the barriers and shared traffic of the tree
//
//= reduce/tree.cu, "//   dtype            = f32    type of the eleme" to "//   out_dtype        = f32"
//   block_size       = 256    threads per block; whole warps of 32 or 64
//   items_per_thread = 4      elements that each thread combines before the exchange
//   acc_dtype        = f32    out_dtype
//   tile             = 1024   block_size * items_per_thread
//

// reduce, variant shuffle: threads of a warp of 32 exchange registers; shared memory holds one value a warp.
//
//   in:       | tile of block 0: 256 threads x 4 items | tile of block 1 | ...
//   item k of thread t in block b is element  b * 1024 + k * 256 + t
//   warp:     lane l takes the value of lane l + 16, then l + 8, ... l + 1: no barrier
//   block:    8 warps leave one value each; the first warp combines those the same way
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: one barrier instead of log2(256); what is left is the latency of narrow loads.

//= reduce/grid_stride.cu, "typedef f32 element_t;  // as stored" to "}" (2)

// Combines one value of each of the 256 threads; thread 0 gets the result.
DEVICE_FUNCTION acc_t block_combine(acc_t value, SHARED_PTR acc_t* scratch) {
  UNROLL
  for (int delta = 16; delta > 0; delta /= 2) {
    value = combine(value, SHUFFLE_DOWN(value, delta));
  }

  // One result of each of the 8 warps meets in the first warp.
  const int lane = THREAD_X % 32;
  const int warp = THREAD_X / 32;
  if (lane == 0) scratch[warp] = value;
  BARRIER();  // every warp's result is in scratch
  if (warp == 0) {
    value = lane < 8 ? scratch[lane] : identity();
    UNROLL
    for (int delta = 16; delta > 0; delta /= 2) {
      value = combine(value, SHUFFLE_DOWN(value, delta));
    }
  }
  return value;
}

KERNEL(256, 1, 1) reduce_shuffle(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL result_t* out) {
  SHARED acc_t scratch[32];

//= reduce/tree.cu, "// ---- device memory -> registers" to "}"

  // ---- registers -> out[0]
  value = block_combine(value, scratch);
  if (THREAD_X == 0) add_to_result(out, value);
}
