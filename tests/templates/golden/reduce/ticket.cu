// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// ticket:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,streaming=false,finish=tree

// reduce, variant ticket: one launch. Each block leaves a partial result and draws a ticket; whoever draws the last
// one knows that all others have left theirs, and combines them in the order of the blocks.
//
//   in:        | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |      G blocks in the grid
//   block:         0        1               G-1        0            all
//   partials:  | p0 | p1 | ... | p(G-1) |                                      (workspace)
//   tickets:   0, 1, 2, ... G-1: the block that draws G-1 goes on; thread t takes p(t), p(t + 256), ...
//   load u of thread t in a tile starts at element  tile * 4096 + u * 1024 + t * 4
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: the second launch. The order of combining is fixed, whichever block is last: the same bits on every run.

//= reduce/atomic.cu, "typedef f32 element_t;  // as stored" to "}"

//= reduce/grid_stride.cu, "typedef u32x4 load_t;  // elements: 4" to "}" (8)

KERNEL(256, 1, 1) reduce_ticket(
    GLOBAL const element_t* RESTRICT in, i64 n,
    GLOBAL volatile acc_t* partials, GLOBAL u32* tickets, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];
  SHARED u32 drawn[1];

  acc_t value = block_combine(thread_combine(in, n, BLOCK_X, GRID_X), scratch);

  // ---- registers -> partials, then a ticket; a grid of one block is done and draws none
  if (THREAD_X == 0) {
    if (GRID_X == 1) {
      out[0] = value;
      drawn[0] = (u32)GRID_X;
    } else {
      partials[BLOCK_X] = value;
      GLOBAL_FENCE();  // the partial result is seen before the ticket is
      drawn[0] = ATOMIC_ADD_U32(tickets, 1u);
    }
  }
  BARRIER();  // every thread knows the ticket; scratch is free again

  // ---- the last block: partials -> out[0]. Volatile reads, so that no stale copy in a cache is taken
  if (drawn[0] == (u32)GRID_X - 1u) {
    GLOBAL_FENCE();
    value = identity();
    for (int p = THREAD_X; p < GRID_X; p += 256) value = combine(value, partials[p]);
    value = block_combine(value, scratch);
    if (THREAD_X == 0) {
      out[0] = value;
      tickets[0] = 0;  // for the next run: nobody else looks at it any more
    }
  }
}
