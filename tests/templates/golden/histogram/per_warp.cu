// sm_90a: n=1000000 dtype=u8 bins=256 distribution=uniform
// per_warp:block_size=256,load_bytes=16,unroll=2,blocks_per_unit=2,streaming=false,warps_per_copy=1,pad=0,window_bins=1024,merge=none,pairs=false

// histogram, variant per_warp: 32 threads share a copy of the histogram in shared memory.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |    G blocks; a tile is 8192 samples
//   block:       0        1               G-1        0            all
//   shared:  threads 0 ... 31: | bin 0 | bin 1 | ... | bin 255 | pad |
//            the next 32: | bin 0 | ...               8 copies per block
//   counts:  += sum over the copies, one atomic per bin and block
//   counter of bin b for thread t:  (t / 32) * 256 + b
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: warps do not meet any more; lanes of one warp still do.

//= histogram/gate.cu, "typedef u8 element_t;" to "TALLY((int)((word) >> 24))"

KERNEL(256, 1, 1) histogram_per_warp(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts DYNAMIC_SHARED_PARAM(u32, slots)) {
  DYNAMIC_SHARED(u32, slots);  // [8 copies][256]
  SHARED_PTR u32* mine = slots + THREAD_X / 32 * 256;

  // ---- zero -> counters
  for (int slot = THREAD_X; slot < 2048; slot += 256) slots[slot] = 0u;
//= histogram/shared.cu, "BARRIER();  // every counter is zero before the " to "u32 total = 0u;"
    for (int copy = 0; copy < 8; ++copy) total += slots[copy * 256 + bin];
    if (total != 0u) ATOMIC_ADD_U32(counts + bin, total);
  }
}
