// sm_90a, gfx90a, opencl on a CPU: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// gate:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,streaming=false,finish=tree,guard=false

// reduce, variant gate: one launch. Block 0 clears the result and then opens a gate for each other block; behind its gate a
// block adds its partial result to the result by one atomic.
//
//   in:      | tile 0 | tile 1 | ... | tile G-1 | tile G | ... | tail |      G + 1 blocks in the grid
//   block:       1        2               G          1            all but 0
//   gates:   | 1 | 1 | ... |    (workspace: block 0 sets them, each other block sets its own back to 0 for the next run)
//   load u of thread t in a tile starts at element  tile * 4096 + u * 1024 + t * 4
//
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: the last block's wait. An atomic that nobody waits for costs nothing at the end of a kernel, but somebody has to
// clear the result first: that is done while the input is under way, instead of in a launch of its own.
// Takes for granted: block 0 starts before all others are through, as blocks start in the order of their index; and an atomic
// that is sent after a gate was seen open meets the result that was cleared and fenced before the gate was opened.

//= reduce/atomic.cu, "typedef f32 element_t;  // as stored" to "}"

//= reduce/grid_stride.cu, "// out[0] = combine(out[0], value), whoever else" to "}" (9)

KERNEL(256, 1, 1) reduce_gate(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL volatile u32* gates, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];

  if (BLOCK_X == 0) {
    // ---- clear out[0], then open the gates
    if (THREAD_X == 0) out[0] = identity();
    GLOBAL_FENCE();
    BARRIER();  // the result is cleared before any gate opens
    GLOBAL_FENCE();
    for (int g = THREAD_X; g < GRID_X - 1; g += 256) gates[g] = 1u;
  } else {
    const acc_t value = block_combine(thread_combine(in, n, BLOCK_X - 1, GRID_X - 1), scratch);
    if (THREAD_X == 0) {
      while (gates[BLOCK_X - 1] == 0u) {
      }
      gates[BLOCK_X - 1] = 0u;
      add_to_result(out, value);
    }
  }
}
