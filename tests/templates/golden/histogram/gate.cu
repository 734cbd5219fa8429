// sm_90a, gfx90a, opencl on a CPU: n=1000000 dtype=u8 bins=256 distribution=uniform
// histogram: counts[b] = how many of n samples fall into bin b: bytes by value, f32 and i32 into even bins
// Variant gate: one launch: block 0 clears the counts and opens a gate for each other block, which then adds to them; attacks the launch that clears
//
//   dtype       = u8       type of the samples
//   bins        = 256      bins; 256 for u8, where a sample is its own bin
//   block_size  = 256      threads per block that count
//   load_bytes  = 16       bytes per load of one thread
//   unroll      = 2        independent loads in flight per thread
//   streaming   = false    loads carry an evict-first hint: nothing is read twice
//   copies      = 1        copies per block; threads that differ in thread % copies never meet
//   interleaved = false    the copies of a bin are neighbours, as in bank_private, where 32 copies are one for each bank; else a copy follows the other
//   pairs       = false    the counters of two bins are added to device memory by one 64-bit atomic
//   guard       = false    a warp more that waits at the gate while the block's samples are counted
//   per_load    = 16       load_bytes // sizeof(dtype)
//   tile        = 8192     block_size * per_load * unroll
//   threads     = 256      block_size + (max(device.warp_size, 1) if guard else 0)
//   held        = 256      bins
//   windows     = 1
//   stride      = 256      held + pad
//   dealt_to    = threads  'threads'
//   merge       = none     'none'
//   after_tile  = false
//   fours       = false
//   refill      = false
//   gated       = true
//

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

typedef u8 element_t;

// Counts `samples` of one bin in this thread's copy.
DEVICE_FUNCTION void tally(SHARED_PTR u32* mine, i32 bin, u32 samples) {
  SHARED_COUNT_U32(mine + bin, samples);
}
#define BEGIN_RUN()
#define TALLY(bin) tally(mine, bin, 1u)
#define NEXT_TILE()
#define END_RUN()

// The samples in one 32-bit word of the input.
#define TALLY_WORD(word)              \
  TALLY((int)((word) & 255u));        \
  TALLY((int)((word) >> 8 & 255u));   \
  TALLY((int)((word) >> 16 & 255u));  \
  TALLY((int)((word) >> 24))

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

  // ---- zero -> counters
  for (int slot = THREAD_X; slot < 256; slot += 256) slots[slot] = 0u;
  BARRIER();  // every counter is zero before the first sample

  BEGIN_RUN();
  #define TALLY_LOAD(v) \
    TALLY_WORD(v.x);    \
    TALLY_WORD(v.y);    \
    TALLY_WORD(v.z);    \
    TALLY_WORD(v.w)
  // ---- whole tiles: device memory -> registers (2 loads of 16 bytes in flight) -> counters
  const i64 tiles = n / 8192;
  NO_UNROLL
  for (i64 tile = (BLOCK_X - 1); tile < tiles; tile += (GRID_X - 1)) {
    GLOBAL const element_t* from = in + tile * 8192 + THREAD_X * 16;
    const u32x4 v0 = LOAD_16(from);
    const u32x4 v1 = LOAD_16(from + 4096);
    TALLY_LOAD(v0);
    TALLY_LOAD(v1);
  }

  // ---- the last n % 8192 samples, one by one, dealt over the whole grid
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

  // ---- counters -> device memory; bins past the last stay zero
  for (int bin = THREAD_X; bin < 256; bin += 256) {
    u32 total = 0u;
    for (int copy = 0; copy < 1; ++copy) total += slots[copy * 256 + bin];
    if (total != 0u) ATOMIC_ADD_U32(counts + bin, total);
  }
}
