// sm_90a, gfx90a, opencl: n=1000000 dtype=u8 bins=256 distribution=uniform
// global_atomic:block_size=256

// histogram, variant global_atomic: every sample is counted in device memory by its own atomic.
//
//   in:      | x0 | x1 | x2 | x3 | ...          thread i of the grid takes sample i
//               \   |     \   /
//   counts:  | 0 | 1 | 2 | ... | 255 |       samples that share a bin queue at its counter
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: atomics in the last-level cache; a constant input puts all of them in one queue.

typedef u8 element_t;

KERNEL(256, 1, 1) histogram_global_atomic(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts) {
  const i64 i = (i64)BLOCK_X * 256 + THREAD_X;
  if (i < n) {
    ATOMIC_ADD_U32(counts + in[i], 1u);
  }
}
