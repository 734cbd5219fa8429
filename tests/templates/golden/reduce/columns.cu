// sm_90a, gfx90a, opencl: n=1000 results=1000 dtype=f32 op=sum map=x source=array axis=first
// columns:block_size=256,width=32,load_bytes=16,unroll=4,blocks_per_unit=4,streaming=false

// reduce, variant columns: a block walks down 128 neighbouring columns, 8 rows at a time.
//
//            results
//        | c0 | c1 | ...                 thread (x, y): 4 columns (16 bytes) from x * 4 on, rows y, y + 8, ...
//     n  |  ^ 32 threads wide            block s * G + g: columns of group g, every S-th step of rows
//        |  | 8 rows tall
//   partials:  [S][results]              (workspace), a ticket counter for each group of columns
//
// Replaces: for (r = 0; r < results; ++r) out[r] = combine of map(in[i][r]) over i < n
// Limit: threads that a thread per column would leave idle, and its narrow loads. One launch, the same bits on every run.

//= reduce/relay.cu, "typedef f32 element_t;  // as stored" to "}" (4)

KERNEL(256, 1, 1) reduce_columns(
//= reduce/row_split.cu, "GLOBAL const element_t* RESTRICT in, i64 n, i64 " to "SHARED u32 drawn[1];"

  const int groups = (int)((results - 1) / 128 + 1);
  const int share = GRID_X / groups;  // blocks a group of columns
  const int group = BLOCK_X % groups;
  const int part = BLOCK_X / groups;
  const int x = THREAD_X % 32;
  const int y = THREAD_X / 32;
  const i64 column0 = (i64)group * 128;
  const int aligned = results % 4 == 0;  // each row begins with a whole vector

  // ---- device memory -> registers
  acc_t sum[4];
  UNROLL
  for (int e = 0; e < 4; ++e) sum[e] = identity();
  if (aligned) {
    const i64 column = column0 + x * 4;
    if (column < results) {
      UNROLL_N(4)
      for (i64 i = (i64)part * 8 + y; i < n; i += (i64)share * 8) {
        acc_t a[4];
        unpack(LOAD_16(in + i * results + column), a);
        UNROLL
        for (int e = 0; e < 4; ++e) {
          sum[e] = combine(sum[e], a[e]);
        }
      }
    }
  } else {  // element by element, neighbouring threads at neighbouring columns
    UNROLL
    for (int e = 0; e < 4; ++e) {
      const i64 column = column0 + e * 32 + x;
      if (column < results) {
        UNROLL_N(4)
        for (i64 i = (i64)part * 8 + y; i < n; i += (i64)share * 8) {
          sum[e] = combine(sum[e], value_at(in, n, i * results + column, i));
        }
      }
    }
  }

  // ---- down the block: the 8 values of each column meet in its first row of threads
  UNROLL
  for (int e = 0; e < 4; ++e) {
    scratch[THREAD_X] = sum[e];
    BARRIER();  // every value is in scratch
    for (int reach = 4; reach > 0; reach /= 2) {
      if (y < reach) scratch[THREAD_X] = combine(scratch[THREAD_X], scratch[THREAD_X + reach * 32]);
      BARRIER();  // this round is written before the next reads it
    }
    const i64 column = column0 + (aligned ? x * 4 + e : e * 32 + x);
    if (y == 0 && column < results) {
      if (share == 1) {
        out[column] = scratch[x];
      } else {
        partials[part * results + column] = scratch[x];
      }
    }
    BARRIER();  // scratch is read before the next element overwrites it
  }
  if (share == 1) return;

  // ---- a ticket; the last block of the group: partials -> out
  GLOBAL_FENCE();  // the partial results are seen before the ticket is
  BARRIER();
  if (THREAD_X == 0) drawn[0] = ATOMIC_ADD_U32(tickets + group, 1u);
  BARRIER();  // every thread knows the ticket
  if (drawn[0] == (u32)share - 1u) {
    GLOBAL_FENCE();
    for (int c = THREAD_X; c < 128 && column0 + c < results; c += 256) {
      acc_t value = identity();
      for (int s = 0; s < share; ++s) value = combine(value, partials[s * results + column0 + c]);
      out[column0 + c] = value;
    }
    if (THREAD_X == 0) tickets[group] = 0;  // for the next run
  }
}
