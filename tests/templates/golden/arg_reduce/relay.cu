// sm_90a, gfx90a, opencl on a CPU: n=1000000 results=1 dtype=f32 op=min
// relay:block_size=256,load_bytes=16,unroll=4,blocks_per_unit=4,streaming=false,test=load,finish=tree

// arg_reduce, variant relay: one launch. Each block posts value and index in one 64-bit word that is never 0; the last block of a
// row waits for the posts and takes the largest.
//
//   key:     | value, as an unsigned number that grows the better it is | 2^32 - 1 - index |      32 bits each
//   row r:   | head | tile 0 | tile 1 | ... | tail |      S blocks a row: block r * S + s
//   posts:   | r0 s0 | r0 s1 | ... | r1 s0 | ...          (workspace: a key each; 0 until it is there, and again after the run)
//   block r * S + S - 1: thread t waits for post t, t + 256, ... of its row
//   load u of thread t in a tile starts at element  head + tile * 4096 + u * 1024 + t * 4
//
// Replaces: best = 0; for (i = 1; i < n; ++i) if (in[r][i] is better than in[r][best]) best = i;
// Limit: the way through memory. A ticket costs a fence, an atomic and a read of the results, one after the other; a
// post is seen as soon as it is written.
// Takes for granted: blocks start in the order of their index, so that all others run or have run when the last waits.

//= arg_reduce/key.cu, "typedef f32 element_t;  // as stored" to "}" (18)

KERNEL(256, 1, 1) arg_reduce_relay(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL volatile u64* posts, GLOBAL i64* index, GLOBAL element_t* value) {
//= arg_reduce/key.cu, "SHARED u64 scratch[256];" to "const i64 row = BLOCK_X / share;"
  const int last = share - 1;
  const best_t best = thread_scan(in + row * n, n, head_of(row * n, n), BLOCK_X % share, share);
  u64 key = block_largest(key_of(best), scratch);
  if (BLOCK_X % share != last) {
    if (THREAD_X == 0) posts[BLOCK_X] = key;
  } else {
    // ---- the last block of the row: posts and its own key -> index, value
    if (THREAD_X != 0) key = 0;
    for (int p = THREAD_X; p < last; p += 256) {
      u64 post = posts[row * share + p];
      while (post == 0) post = posts[row * share + p];
      posts[row * share + p] = 0;  // for the next run
      key = MAX(key, post);
    }
    key = block_largest(key, scratch);
    if (THREAD_X == 0) write_result(in + row * n, key, index + row, value + row);
  }
}
