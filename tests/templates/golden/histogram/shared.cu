// sm_90a, gfx90a, opencl: n=1000000 dtype=u8 bins=256 distribution=uniform
// histogram: counts[b] = how many of n samples fall into bin b: bytes by value, f32 and i32 into even bins
// Variant shared: copies of the histogram in shared memory, dealt to neighbouring threads: attacks the queues of global atomics
//
//   dtype       = u8       type of the samples
//   block_size  = 256      threads per block
//   load_bytes  = 16       bytes per load of one thread
//   unroll      = 2        independent loads in flight per thread
//   streaming   = false    loads carry an evict-first hint: nothing is read twice
//   copies      = 1        copies per block; threads that differ in thread % copies never meet
//   merge       = none     what a thread counts in registers first: equal samples in a row (sorted input), or one bin that comes up most (skewed)
//   pairs       = false    the counters of two bins are added to device memory by one 64-bit atomic
//   refill      = false    a register is loaded again as soon as it is counted, so that a block alone on its unit waits less for memory
//   per_load    = 16       load_bytes // sizeof(dtype)
//   tile        = 8192     block_size * per_load * unroll
//   held        = 256      min(bins, window_bins)
//   windows     = 1        ceil_div(bins, window_bins)
//   stride      = 256      held + pad
//   dealt_to    = threads  'threads'
//   after_tile  = false    merge == 'favourite'
//   fours       = false
//   gated       = false
//   interleaved = false
//   guard       = false
//   threads     = 256      block_size
//

// histogram, variant shared: each block counts in 1 copies of the histogram in shared memory, then adds them up.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |    G blocks; a tile is 8192 samples
//   block:       0        1               G-1        0            all
//   shared:  copy 0: | bin 0 | bin 1 | ... | bin 255 | pad |
//            copy 1: | bin 0 | ...                                    thread t counts in copy t % 1
//   counts:  += sum over the copies, one atomic per bin and block
//   counter of bin b for thread t:  (t % 1) * 256 + b
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: global atomics become shared ones; now lanes of a warp that share a counter or a bank take turns.

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

KERNEL(256, 1, 1) histogram_shared(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts DYNAMIC_SHARED_PARAM(u32, slots)) {
  DYNAMIC_SHARED(u32, slots);  // [1 copies][256]
  SHARED_PTR u32* mine = slots + THREAD_X % 1 * 256;

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
  for (i64 tile = BLOCK_X; tile < tiles; tile += GRID_X) {
    GLOBAL const element_t* from = in + tile * 8192 + THREAD_X * 16;
    const u32x4 v0 = LOAD_16(from);
    const u32x4 v1 = LOAD_16(from + 4096);
    TALLY_LOAD(v0);
    TALLY_LOAD(v1);
  }

  // ---- the last n % 8192 samples, one by one, dealt over the whole grid
  const i64 rest = tiles * 8192 + (i64)BLOCK_X * 256 + THREAD_X;
  NO_UNROLL
  for (i64 i = rest; i < n; i += (i64)GRID_X * 256) {
    TALLY(in[i]);
  }
  END_RUN();
  BARRIER();  // every sample of the block is counted

  // ---- counters -> device memory; bins past the last stay zero
  for (int bin = THREAD_X; bin < 256; bin += 256) {
    u32 total = 0u;
    for (int copy = 0; copy < 1; ++copy) total += slots[copy * 256 + bin];
    if (total != 0u) ATOMIC_ADD_U32(counts + bin, total);
  }
}
