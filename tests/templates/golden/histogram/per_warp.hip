// gfx90a: n=1000000 dtype=u8 bins=256 distribution=uniform
// histogram, variant per_warp: 64 threads share a copy of the histogram in shared memory.
//   shared:  threads 0 ... 63: | bin 0 | bin 1 | ... | bin 255 | pad |
//            the next 64: | bin 0 | ...               4 copies per block
//   counter of bin b for thread t:  (t / 64) * 256 + b
  DYNAMIC_SHARED(u32, slots);  // [4 copies][256]
  SHARED_PTR u32* mine = slots + THREAD_X / 64 * 256;
  for (int slot = THREAD_X; slot < 1024; slot += 256) slots[slot] = 0u;
    for (int copy = 0; copy < 4; ++copy) total += slots[copy * 256 + bin];
