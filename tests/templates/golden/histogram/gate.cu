// sm_90a, gfx90a, opencl on a CPU: n=1000000 dtype=u8 bins=256 distribution=uniform
// gate:block_size=256,load_bytes=16,unroll=2,blocks_per_unit=1,streaming=false,copies=1,interleaved=false,pad=0,pairs=false,guard=false

// histogram, variant gate: one launch. Block 0 clears the counts and then opens a gate for each other block; behind its gate a block
// adds its counters to the counts.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |    G + 1 blocks; a tile is 8192 samples
//   block:       1        2               G          1            all but 0
//   gates:   | 1 | 1 | ... |    (workspace: block 0 sets them, each other block sets its own back to 0 for the next run)
//   shared:  copy 0: | bin 0 | bin 1 | ... | bin 255 | pad |
//            copy 1: | bin 0 | ...                                    thread t counts in copy t % 1
//   counts:  += sum over the copies, one atomic per bin and block
//
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: the launch. Small inputs are counted in less time than it takes to launch a step that clears the counts before.
// Takes for granted: block 0 starts before all others are through, as blocks start in the order of their index; and an atomic
// that is sent after a gate was seen open meets the counts that were cleared and fenced before the gate was opened.

//= histogram/shared.cu, "typedef u8 element_t;" to "TALLY((int)((word) >> 24))"

KERNEL(256, 1, 1) histogram_gate(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL volatile u32* gates, GLOBAL u32* counts DYNAMIC_SHARED_PARAM(u32, slots)) {
  DYNAMIC_SHARED(u32, slots);  // [1 copies][256]
  SHARED_PTR u32* mine = slots + THREAD_X % 1 * 256;

  if (BLOCK_X == 0) {
    // ---- clear the counts, then open the gates
    for (int bin = THREAD_X; bin < 256; bin += 256) counts[bin] = 0u;
    GLOBAL_FENCE();
    BARRIER();  // every count is cleared before any gate opens
    GLOBAL_FENCE();
    for (int g = THREAD_X; g < GRID_X - 1; g += 256) gates[g] = 1u;
    return;
  }

//= histogram/shared.cu, "// ---- zero -> counters" to "NO_UNROLL"
  for (i64 tile = (BLOCK_X - 1); tile < tiles; tile += (GRID_X - 1)) {
//= histogram/shared.cu, "GLOBAL const element_t* from = in + tile * 8192 " to "// ---- the last n % 8192 samples, one by one, d"
  const i64 rest = tiles * 8192 + (i64)(BLOCK_X - 1) * 256 + THREAD_X;
  NO_UNROLL
  for (i64 i = rest; i < n; i += (i64)(GRID_X - 1) * 256) {
    TALLY(in[i]);
  }
  END_RUN();
  if (THREAD_X == 0) {
    while (gates[BLOCK_X - 1] == 0u) {
    }
    gates[BLOCK_X - 1] = 0u;  // shut again, for the next run
  }
  BARRIER();  // every sample of the block is counted and its gate is open

//= histogram/shared.cu, "// ---- counters -> device memory; bins past the" to "}" (2)
