// sm_90a, gfx90a, opencl: n=1000000 dtype=u8 bins=256 distribution=uniform
// shared:block_size=256,load_bytes=16,unroll=2,blocks_per_unit=2,streaming=false,copies=1,pad=0,window_bins=8192,merge=none,pairs=false,refill=false

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
