// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=min
// key:block_size=256,load_bytes=16,unroll=4,blocks_per_unit=4,streaming=false,test=load,finish=tree,ending=ticket

// arg_reduce, variant key: value and index in one 64-bit word, so that one atomic maximum a block decides between blocks.
//
//   key:     | value, as an unsigned number that grows the better it is | 2^32 - 1 - index |      32 bits each
//   row r:   | head | tile 0 | tile 1 | ... | tail |      S blocks a row: block r * S + s; as many as there are tiles, or fewer
//   keys:    | r0 | r1 | ...                               (workspace: the largest key so far; 0 is below every key)
//   load u of thread t in a tile starts at element  head + tile * 4096 + u * 1024 + t * 4
//
// Replaces: best = 0; for (i = 1; i < n; ++i) if (in[r][i] is better than in[r][best]) best = i;
// Limit: the way through memory of what each block found, and the second launch: whoever draws the last ticket writes the result.
// The maximum is the same in any order: the same answer on every run.

//= arg_reduce/ticket.cu, "typedef f32 element_t;  // as stored" to "}" (13)

// Larger for the better element; of equal values for the smaller index. Never 0: what is not at index 0 beats the worst value.
DEVICE_FUNCTION u64 key_of(best_t best) {
  const u32 bits = best.value == 0.0f ? 0u : F32_TO_BITS(best.value);  // one zero, not two
  const u32 rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  const u32 rank = best.value != best.value ? 0xffffffffu : ~rising;  // NaN wins
  return (u64)rank << 32 | (0xffffffffu - (u32)best.at);
}

// The result of a row from its largest key.
DEVICE_FUNCTION void write_result(GLOBAL const element_t* RESTRICT row, u64 key, GLOBAL i64* index, GLOBAL element_t* value) {
  const i64 at = (i64)(0xffffffffu - (u32)key);
  const u32 rank = (u32)(key >> 32);
  const u32 rising = ~rank;
  *index = at;
  const value_t found = BITS_TO_F32(rising >> 31 ? rising & 0x7fffffffu : ~rising);
  *value = found == 0.0f ? row[at] : found;  // the key does not know which zero
}

// The largest key of the 256 threads of the block, for its first thread.
DEVICE_FUNCTION u64 block_largest(u64 key, SHARED_PTR u64* keys) {
  keys[THREAD_X] = key;
  BARRIER();  // every thread's key is in shared memory
  for (int reach = 128; reach > 0; reach /= 2) {
    if (THREAD_X < reach) {
      key = MAX(key, keys[THREAD_X + reach]);
      keys[THREAD_X] = key;
    }
    BARRIER();  // this round is written, and read, before the next
  }
  return key;
}

KERNEL(256, 1, 1) arg_reduce_key(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL u64* keys, GLOBAL u32* tickets, GLOBAL i64* index, GLOBAL element_t* value) {
  SHARED u64 scratch[256];

  const int share = (int)(GRID_X / results);  // blocks a row
  const i64 row = BLOCK_X / share;
  const best_t best = thread_scan(in + row * n, n, head_of(row * n, n), BLOCK_X % share, share);
  const u64 key = block_largest(key_of(best), scratch);
  if (THREAD_X != 0) return;

  // ---- registers -> the row's key; a block on its own is done
  if (share == 1) {
    write_result(in + row * n, key, index + row, value + row);
    return;
  }
  ATOMIC_MAX_U64(keys + row, key);
  GLOBAL_FENCE();  // the key is seen before the ticket is
  if (ATOMIC_ADD_U32(tickets + row, 1u) == (u32)share - 1u) {
    GLOBAL_FENCE();
    write_result(in + row * n, ATOMIC_MAX_U64(keys + row, (u64)0), index + row, value + row);
    keys[row] = 0;  // for the next run: nobody else looks at them any more
    tickets[row] = 0;
  }
}
