// sm_90a, gfx90a, opencl: n=1000000 dtype=u8 bins=256 distribution=uniform
// bank_private:block_size=256,load_bytes=16,unroll=2,blocks_per_unit=2,streaming=false,lanes=32

// histogram, variant bank_private: 32 interleaved copies, so that neighbouring lanes count in different banks.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |    G blocks; a tile is 8192 samples
//   block:       0        1               G-1        0            all
//   shared:  bin 0: | lane 0 | lane 1 | ... | lane 31 |     (32 banks of 4 bytes: with 32 lanes
//            bin 1: | lane 0 | lane 1 | ...                    lane l always counts in bank l)
//   counts:  += sum over the lanes of a bin, one atomic per bin and block
//   counter of bin b for thread t:  b * 32 + t % 32
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: no two lanes of a warp meet, whatever the samples are: constant input costs the same as uniform.

//= histogram/gate.cu, "typedef u8 element_t;" to "DEVICE_FUNCTION void tally(SHARED_PTR u32* mine,"
  SHARED_COUNT_U32(mine + bin * 32, samples);
}
//= histogram/gate.cu, "#define BEGIN_RUN()" to "TALLY((int)((word) >> 24))"

KERNEL(256, 1, 1) histogram_bank_private(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts DYNAMIC_SHARED_PARAM(u32, slots)) {
  DYNAMIC_SHARED(u32, slots);  // [256 bins][32 copies]
  SHARED_PTR u32* mine = slots + THREAD_X % 32;

  // ---- zero -> counters
  for (int slot = THREAD_X; slot < 8192; slot += 256) slots[slot] = 0u;
//= histogram/per_warp.cu, "BARRIER();  // every counter is zero before the " to "BARRIER();  // every sample of the block is coun"

  // ---- counters -> device memory; bins past the last stay zero. Each thread starts at another copy: no two read one bank
  for (int bin = THREAD_X; bin < 256; bin += 256) {
    u32 total = 0u;
    for (int copy = 0; copy < 32; ++copy) total += slots[bin * 32 + (copy + bin) % 32];
    if (total != 0u) ATOMIC_ADD_U32(counts + bin, total);
  }
}
