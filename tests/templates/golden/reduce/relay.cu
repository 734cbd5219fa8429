// sm_90a, gfx90a, opencl on a CPU: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// relay:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,streaming=false,finish=tree

// reduce, variant relay: one launch. Each block posts its partial result and a mark in one 64-bit word; the last block waits for
// the marks and combines the results in the order of the blocks.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |      G blocks in the grid
//   block:       0        1               G-1        0            all
//   posts:   | 1 : p0 | 1 : p1 | ... |                                        (workspace: mark and value in one word)
//   block G-1: thread t waits for post t, t + 256, ..., and sets each back to 0 for the next run
//   load u of thread t in a tile starts at element  tile * 4096 + u * 1024 + t * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: the way through memory. A ticket costs a fence, an atomic and a read of the results, one after the other; a
// post that carries its own mark is seen as soon as it is written. The same bits on every run.
// Takes for granted: blocks start in the order of their index, so that all others run or have run when the last waits.

//= reduce/ticket.cu, "typedef f32 element_t;  // as stored" to "}" (9)

KERNEL(256, 1, 1) reduce_relay(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL volatile u64* posts, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];

  acc_t value = block_combine(thread_combine(in, n, BLOCK_X, GRID_X), scratch);
  const int last = GRID_X - 1;
  if (BLOCK_X != last) {
    if (THREAD_X == 0) posts[BLOCK_X] = (u64)1 << 32 | F32_TO_BITS(value);
  } else {
    // ---- the last block: posts and its own value -> out[0]
    BARRIER();  // scratch is free again
    if (THREAD_X != 0) value = identity();
    for (int p = THREAD_X; p < last; p += 256) {
      u64 post = posts[p];
      while (post >> 32 == 0) post = posts[p];
      posts[p] = 0;
      value = combine(BITS_TO_F32((u32)post), value);
    }
    value = block_combine(value, scratch);
    if (THREAD_X == 0) out[0] = value;
  }
}
