// sm_90a, gfx90a, opencl on a CPU: n=1000000 results=1 dtype=f32 op=min
// arg_reduce: index[r] = i of the smallest or largest in[r, i], value[r] = that element: of a vector, or of the rows of a matrix
// Variant relay: one launch: blocks post value and index in one word, the last block waits for them; attacks the fence and the ticket
//
//   dtype      = f32    type of the elements
//   op         = min    min or max; of equal elements the one with the smallest index; the first NaN comes before all numbers
//   block_size = 256    threads per block
//   load_bytes = 16     bytes per load of one thread
//   unroll     = 4      independent loads in flight per thread
//   streaming  = false  loads carry an evict-first hint: nothing is read twice
//   test       = load   what one branch compares with the best so far before indices are looked at: nothing, a load, or all loads of a tile
//   finish     = tree   how threads combine what they found: in shared memory, or by exchange within warps
//   per_load   = 4      load_bytes // sizeof(dtype)
//   tile       = 4096   block_size * per_load * unroll
//

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

typedef f32 element_t;  // as stored
typedef f32 value_t;  // as compared
typedef struct {
  value_t value;
  i64 at;  // index in its row
} best_t;

// Whether x wins over y, wherever they are. NaN wins over every number; the two zeros are equal.
DEVICE_FUNCTION int better(value_t x, value_t y) {
  return !(x >= y) && y == y;
}

// Where every thread starts. Element 0 is right where nothing is better than the worst value: all elements are equal then.
DEVICE_FUNCTION best_t nothing(void) {
  best_t best;
  best.value = F32_INFINITY;
  best.at = 0;
  return best;
}

// Of equal values the one with the smaller index.
DEVICE_FUNCTION best_t combine(best_t a, best_t b) {
  const int second = better(b.value, a.value) || (!better(a.value, b.value) && b.at < a.at);
  best_t best;
  best.value = second ? b.value : a.value;
  best.at = second ? b.at : a.at;
  return best;
}

DEVICE_FUNCTION best_t element_at(GLOBAL const element_t* RESTRICT row, i64 i) {
  best_t element;
  element.value = row[i];
  element.at = i;
  return element;
}

typedef u32x4 load_t;  // elements in one load: 4

DEVICE_FUNCTION void unpack(load_t words, value_t* x) {
  x[0] = BITS_TO_F32(words.x);
  x[1] = BITS_TO_F32(words.y);
  x[2] = BITS_TO_F32(words.z);
  x[3] = BITS_TO_F32(words.w);
}

// Elements at, at + 1, ... of one load; all indices before them have been considered, so that equal values change nothing.
DEVICE_FUNCTION best_t adopt(best_t best, load_t words, i64 at) {
  value_t x[4];
  unpack(words, x);
  int winner = -1;
  UNROLL
  for (int e = 0; e < 4; ++e) {
    const int wins = better(x[e], best.value);
    best.value = wins ? x[e] : best.value;
    winner = wins ? e : winner;
  }
  best.at = winner < 0 ? best.at : at + winner;
  return best;
}

// Whether nothing in the load is better than `value`: one comparison an element. A NaN on either side makes it false.
DEVICE_FUNCTION int is_beaten(value_t value, load_t words) {
  value_t x[4];
  unpack(words, x);
  int beaten = 1;
  UNROLL
  for (int e = 0; e < 4; ++e) beaten &= x[e] >= value;
  return beaten;
}

// The best of the elements that fall to this thread, of block `part` of the `parts` that share a row of n elements, of which
// the first `head` (fewer than 4) come before a whole vector.
DEVICE_FUNCTION best_t thread_scan(GLOBAL const element_t* RESTRICT row, i64 n, int head, int part, int parts) {
  best_t best = nothing();

  // ---- whole tiles: device memory -> registers; loads of 16 bytes in flight: 4
  const i64 tiles = (n - head) / 4096;
  NO_UNROLL
  for (i64 tile = part; tile < tiles; tile += parts) {
    const i64 i = head + tile * 4096 + THREAD_X * 4;
    const load_t a0 = LOAD_16(row + i);
    const load_t a1 = LOAD_16(row + i + 1024);
    const load_t a2 = LOAD_16(row + i + 2048);
    const load_t a3 = LOAD_16(row + i + 3072);
    if (!is_beaten(best.value, a0)) best = adopt(best, a0, i);
    if (!is_beaten(best.value, a1)) best = adopt(best, a1, i + 1024);
    if (!is_beaten(best.value, a2)) best = adopt(best, a2, i + 2048);
    if (!is_beaten(best.value, a3)) best = adopt(best, a3, i + 3072);
  }

  // ---- the elements before the first vector and after the last tile, one by one, dealt over all parts
  const i64 rest = n - tiles * 4096;
  NO_UNROLL
  for (i64 r = (i64)part * 256 + THREAD_X; r < rest; r += (i64)parts * 256) {
    best = combine(best, element_at(row, r < head ? r : r + tiles * 4096));
  }
  return best;
}

// Elements of a row before its first whole vector, where the row begins at element `first` of the matrix.
DEVICE_FUNCTION int head_of(i64 first, i64 n) {
  return (int)MIN(n, (i64)(3 - (first + 3) % 4));
}

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

KERNEL(256, 1, 1) arg_reduce_relay(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL volatile u64* posts, GLOBAL i64* index, GLOBAL element_t* value) {
  SHARED u64 scratch[256];

  const int share = (int)(GRID_X / results);  // blocks a row
  const i64 row = BLOCK_X / share;
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
