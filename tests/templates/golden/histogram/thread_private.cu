// sm_90a, gfx90a, opencl: n=1000000 dtype=u8 bins=256 distribution=uniform
// histogram: counts[b] = how many of n samples fall into bin b: bytes by value, f32 and i32 into even bins
// Variant thread_private: byte counters of each thread's own, no atomics at all: attacks their cost where they are slow
//
//   dtype           = u8     type of the samples
//   bins            = 256    bins; 256 for u8, where a sample is its own bin
//   block_size      = 64     threads per block
//   load_bytes      = 16     bytes per load of one thread
//   unroll          = 2      independent loads in flight per thread
//   streaming       = false  loads carry an evict-first hint: nothing is read twice
//   per_load        = 16     load_bytes // sizeof(dtype)
//   tile            = 2048   block_size * per_load * unroll
//   per_thread      = 32     per_load * unroll
//   tiles_per_flush = 7      255 // per_thread
//   rows            = 64     ceil_div(bins, 4)
//   parts           = 1      max(1, block_size // rows)
//   width           = 64     ceil_div(block_size, parts)
//   after_tile      = true
//   fours           = false
//   gated           = false
//   refill          = false
//

// histogram, variant thread_private: each thread counts in bytes of its own; nothing is atomic until they are added up.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |    G blocks; a tile is 2048 samples
//   block:       0        1               G-1        0            all
//   bytes:   row 0 (bins 0-3): | thread 0 | thread 1 | ... | thread 63 |    a word of 4 byte counters each:
//            row 1 (bins 4-7): | thread 0 | ...                         thread t keeps to bank t % 32
//   totals:  += bytes over all threads, every 7 tiles (224 <= 255 samples a thread)
//   counter of bin b for thread t:  byte b % 4 of word (b / 4) * 64 + t
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: atomics. What it pays instead: 16384 bytes of shared memory, and the flushes.

STATIC_ASSERT(224 <= 255, "a byte counter must not overflow before it is flushed");

typedef u8 element_t;

// Counts one sample in this thread's bytes.
DEVICE_FUNCTION void tally(SHARED_PTR u8* mine, i32 bin) {
  ++mine[(bin >> 2) * 256 + (bin & 3)];
}

// bytes -> totals, and the bytes to zero. 1 threads share a row, 64 words each; two sums of 16 bits stand in
// one register: 64 * 255 does not overflow them.
DEVICE_FUNCTION void flush(SHARED_PTR u32* words, SHARED_PTR u32* totals) {
  BARRIER();  // every thread's samples are counted
  for (int job = THREAD_X; job < 64; job += 64) {
    const int row = job % 64;
    const int first = job / 64 * 64;
    u32 even = 0u;  // bytes 0 and 2
    u32 odd = 0u;   // bytes 1 and 3
    for (int k = 0; k < 64; ++k) {
      const int column = first + (k + row) % 64;  // each thread starts at another bank
      if (column < 64) {
        const u32 word = words[row * 64 + column];
        words[row * 64 + column] = 0u;
        even += word & 0x00ff00ffu;
        odd += word >> 8 & 0x00ff00ffu;
      }
    }
    SHARED_COUNT_U32(totals + row * 4, even & 0xffffu);
    SHARED_COUNT_U32(totals + row * 4 + 1, odd & 0xffffu);
    SHARED_COUNT_U32(totals + row * 4 + 2, even >> 16);
    SHARED_COUNT_U32(totals + row * 4 + 3, odd >> 16);
  }
  BARRIER();  // the bytes are zero, the totals complete
}
#define TALLY(bin) tally(mine, bin)
#define AFTER_TILE()                      \
  if (++unflushed == 7) { \
    flush(words, totals);                 \
    unflushed = 0;                        \
  }

// The samples in one 32-bit word of the input.
#define TALLY_WORD(word)              \
  TALLY((int)((word) & 255u));        \
  TALLY((int)((word) >> 8 & 255u));   \
  TALLY((int)((word) >> 16 & 255u));  \
  TALLY((int)((word) >> 24))

KERNEL(64, 1, 1) histogram_thread_private(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts DYNAMIC_SHARED_PARAM(u32, words)) {
  DYNAMIC_SHARED(u32, words);  // [64 rows of 4 bins][64 threads]
  SHARED u32 totals[256];
  SHARED_PTR u8* mine = (SHARED_PTR u8*)(words + THREAD_X);
  int unflushed = 0;  // tiles

  // ---- zero -> counters
  for (int slot = THREAD_X; slot < 4096; slot += 64) words[slot] = 0u;
  for (int bin = THREAD_X; bin < 256; bin += 64) totals[bin] = 0u;
  BARRIER();  // every counter is zero before the first sample

  #define TALLY_LOAD(v) \
    TALLY_WORD(v.x);    \
    TALLY_WORD(v.y);    \
    TALLY_WORD(v.z);    \
    TALLY_WORD(v.w)
  // ---- whole tiles: device memory -> registers (2 loads of 16 bytes in flight) -> counters
  const i64 tiles = n / 2048;
  NO_UNROLL
  for (i64 tile = BLOCK_X; tile < tiles; tile += GRID_X) {
    GLOBAL const element_t* from = in + tile * 2048 + THREAD_X * 16;
    const u32x4 v0 = LOAD_16(from);
    const u32x4 v1 = LOAD_16(from + 1024);
    TALLY_LOAD(v0);
    TALLY_LOAD(v1);
    AFTER_TILE();
  }

  // ---- the last n % 2048 samples, one by one, dealt over the whole grid
  const i64 rest = tiles * 2048 + (i64)BLOCK_X * 64 + THREAD_X;
  NO_UNROLL
  for (i64 i = rest; i < n; i += (i64)GRID_X * 64) {
    TALLY(in[i]);
  }
  flush(words, totals);

  // ---- totals -> device memory
  for (int bin = THREAD_X; bin < 256; bin += 64) {
    if (totals[bin] != 0u) ATOMIC_ADD_U32(counts + bin, totals[bin]);
  }
}
