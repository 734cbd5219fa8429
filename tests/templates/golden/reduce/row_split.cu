// sm_90a, gfx90a, opencl: n=1000 results=1000 dtype=f32 op=sum map=x source=array axis=last
// row_split:block_size=256,load_bytes=16,unroll=4,accumulators=1,blocks_per_unit=4,streaming=false,finish=tree

// reduce, variant row_split: several blocks share a row; the last of them to finish combines their results. For few long rows.
//
//   row r:     | tile 0 | tile 1 | ... | tile S-1 | tile S | ... | tail |      S blocks a row: block r * S + s
//   partials:  | r0 s0 | r0 s1 | ... | r1 s0 | ...                             (workspace), a ticket counter for each row
//   load u of thread t in a tile starts at term  tile * 4096 + u * 1024 + t * 4
//
// Replaces: for (r = 0; r < results; ++r) out[r] = combine of map(in[r][i]) over i < n
// Limit: idle compute units, where there are fewer rows than the device has room for blocks. One launch, the same bits
// on every run.

//= reduce/relay.cu, "typedef f32 element_t;  // as stored" to "}" (9)

KERNEL(256, 1, 1) reduce_row_split(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL volatile acc_t* partials, GLOBAL u32* tickets, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];
//= arg_reduce/ticket.cu, "SHARED u32 drawn[1];" to "const i64 row = BLOCK_X / share;"
  const int part = BLOCK_X % share;
  acc_t value = identity();
  if (row * n % 4 == 0) {
    value = thread_combine(in + row * n, n, part, share);
  } else {  // the row begins in the middle of a vector: element by element
    UNROLL_N(4)
    for (i64 i = (i64)part * 256 + THREAD_X; i < n; i += (i64)share * 256) {
      value = combine(value, value_at(in, n, row * n + i, i));
    }
  }
  value = block_combine(value, scratch);

  // ---- registers -> partials, then a ticket of the row
  if (THREAD_X == 0) {
    if (share == 1) {
      out[row] = value;
      drawn[0] = (u32)share;
    } else {
      partials[BLOCK_X] = value;
      GLOBAL_FENCE();  // the partial result is seen before the ticket is
      drawn[0] = ATOMIC_ADD_U32(tickets + row, 1u);
    }
  }
  BARRIER();  // every thread knows the ticket; scratch is free again

  // ---- the last block of the row: partials -> out
  if (drawn[0] == (u32)share - 1u) {
    GLOBAL_FENCE();
    value = identity();
    for (int p = THREAD_X; p < share; p += 256) value = combine(value, partials[row * share + p]);
    value = block_combine(value, scratch);
    if (THREAD_X == 0) {
      out[row] = value;
      tickets[row] = 0;  // for the next run
    }
  }
}
