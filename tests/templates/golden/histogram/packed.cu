// sm_90a, gfx90a, opencl: n=1000000 dtype=u8 bins=256 distribution=uniform
// packed:block_size=256,load_bytes=16,unroll=2,blocks_per_unit=2,streaming=false,copies=1,window_bins=8192,merge=none,pairs=false,refill=false

// histogram, variant packed: two 16-bit counters in a word of shared memory, so that 256 bins take 512 bytes.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |    G blocks; a tile is 8192 samples
//   block:       0        1               G-1        0            all
//   shared:  | bin 1 : bin 0 | bin 3 : bin 2 | ...                    1 copies, thread t counts in t % 1
//   carry:   the thread whose count brings a half from 32767 to 32768 moves 32768 to device memory
//   counter of bin b for thread t:  half b % 2 of word (t % 1) * 128 + b / 2
//
// Why no half can overflow: after a barrier all carries are done and every half is below 32768. Until the next one the
// block adds at most 24576 + 8192 <= 32768 (tiles, then what is left of the input), so none passes 65535.
//
// Replaces: for (i = 0; i < n; ++i) ++counts[bin_of(in[i])];
// Limit: shared memory. Twice as many bins fit, so large histograms need fewer readings of the input.

STATIC_ASSERT(24576 <= 32768, "tiles between barriers must not overflow a 16-bit counter");

typedef u8 element_t;

// Counts `samples` of one bin, 32768 at most; `counts` points at the first bin of the block's window.
DEVICE_FUNCTION void tally(SHARED_PTR u32* mine, GLOBAL u32* counts, i32 bin, u32 samples) {
  const u32 shift = (u32)(bin & 1) * 16u;
  const u32 before = SHARED_ATOMIC_ADD_U32(mine + (bin >> 1), samples << shift) >> shift & 0xffffu;
  if (before < 0x8000u && before + samples >= 0x8000u) {
    SHARED_ATOMIC_ADD_U32(mine + (bin >> 1), 0u - (0x8000u << shift));
    ATOMIC_ADD_U32(counts + bin, 0x8000u);
  }
}
#define BEGIN_RUN()
#define TALLY(bin) tally(mine, window, bin, 1u)
#define NEXT_TILE()
#define END_RUN()
// All carries are done before more is counted than the counters could hold.
#define AFTER_TILE()                           \
  NEXT_TILE();                                 \
  if (++uncarried == 3) { \
    END_RUN();                                 \
    BARRIER();                                 \
    uncarried = 0;                             \
  }

//= histogram/bank_private.cu, "// The samples in one 32-bit word of the input." to "TALLY((int)((word) >> 24))"

KERNEL(256, 1, 1) histogram_packed(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL u32* counts DYNAMIC_SHARED_PARAM(u32, slots)) {
  DYNAMIC_SHARED(u32, slots);  // [1 copies][128 words]
  SHARED_PTR u32* mine = slots + THREAD_X % 1 * 128;
  GLOBAL u32* window = counts;

  // ---- zero -> counters
  for (int slot = THREAD_X; slot < 128; slot += 256) slots[slot] = 0u;
  BARRIER();  // every counter is zero before the first sample

  int uncarried = 0;  // tiles since the last barrier
//= histogram/bank_private.cu, "BEGIN_RUN();" to "TALLY_LOAD(v1);"
    AFTER_TILE();
  }

//= histogram/per_warp.cu, "// ---- the last n % 8192 samples, one by one, d" to "// ---- counters -> device memory; bins past the"
  for (int word = THREAD_X; word < 128; word += 256) {
    u32 even = 0u;  // bin 2 * word
    u32 odd = 0u;   // the next one
    for (int copy = 0; copy < 1; ++copy) {
      const u32 both = slots[copy * 128 + word];
      even += both & 0xffffu;
      odd += both >> 16;
    }
    if (even != 0u) ATOMIC_ADD_U32(counts + 2 * word, even);
    if (odd != 0u) ATOMIC_ADD_U32(counts + 2 * word + 1, odd);
  }
}
