// sm_90a, gfx90a, opencl: n=1000 results=1000 dtype=f32 op=min
// rows:block_size=256,lanes=32,load_bytes=16,unroll=1,rows_per_thread=1,blocks_per_unit=0,streaming=false,test=load,finish=tree

// arg_reduce, variant rows: 32 threads share a row, a block holds 8 rows at a time, a thread 1 of them.
//
//          n elements
//   row r      | head | lane 0 | lane 1 | ... | lane 31 | lane 0 | ... | tail |     a lane takes 4 elements (16 bytes) at a time
//   row r + 1  | head | lane 32 | ...                                       the next 32 threads
//   load k of lane l starts at element  head + k * 128 + l * 4
//
// Replaces: for each row r: best = 0; for (i = 1; i < n; ++i) if (in[r][i] is better than in[r][best]) best = i;
// Limit: whole blocks, and their barriers, on rows that are shorter than a block is wide. Rows are read in memory order.

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

typedef u32x4 load_t;  // elements: 4

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

// Combines one element of each of the 32 threads of a team; its first thread gets the result. All threads of the block call it.
DEVICE_FUNCTION best_t team_combine(best_t best, SHARED_PTR value_t* values, SHARED_PTR i64* places) {
  best_t other;
  const int lane = THREAD_X % 32;
  values[THREAD_X] = best.value;
  places[THREAD_X] = best.at;
  BARRIER();  // every thread's element is in shared memory
  for (int reach = 16; reach > 0; reach /= 2) {
    if (lane < reach) {
      other.value = values[THREAD_X + reach];
      other.at = places[THREAD_X + reach];
      best = combine(best, other);
      values[THREAD_X] = best.value;
      places[THREAD_X] = best.at;
    }
    BARRIER();  // this round is written, and read, before the next
  }
  return best;
}

// The best of the elements of a row that fall to this lane; the first `head` (fewer than 4) come before a whole vector.
DEVICE_FUNCTION best_t lane_scan(GLOBAL const element_t* RESTRICT row, i64 n, int head, int lane) {
  best_t best = nothing();
  const i64 end = n - (n - head) % 4;  // of the last whole vector
  i64 i = head + lane * 4;
  NO_UNROLL
  for (; i < end; i += 128) {
    const load_t a = LOAD_16(row + i);
    if (!is_beaten(best.value, a)) best = adopt(best, a, i);
  }
  // What no whole vector holds: fewer than 4 elements at either end.
  for (i64 r = lane; r < head + n - end; r += 32) {
    best = combine(best, element_at(row, r < head ? r : end + r - head));
  }
  return best;
}

// Elements of a row before its first whole vector, where the row begins at element `first` of the matrix.
DEVICE_FUNCTION int head_of(i64 first, i64 n) {
  return (int)MIN(n, (i64)(3 - (first + 3) % 4));
}

KERNEL(256, 1, 1) arg_reduce_rows(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results, GLOBAL i64* index, GLOBAL element_t* value) {
  SHARED value_t scratch_values[256];
  SHARED i64 scratch_places[256];
  const int lane = THREAD_X % 32;
  const int group = THREAD_X / 32;

  NO_UNROLL
  for (i64 first = (i64)BLOCK_X * 8; first < results; first += (i64)GRID_X * 8) {
    // ---- this thread's rows, device memory -> registers; past the last row it repeats that
    const i64 row0 = first + 0 + group;
    const i64 at0 = MIN(row0, results - 1) * n;
    best_t best0;
    best0 = lane_scan(in + at0, n, head_of(at0, n), lane);

    // ---- registers -> index, value
    best0 = team_combine(best0, scratch_values, scratch_places);
    if (lane == 0 && row0 < results) {
      index[row0] = best0.at;
      value[row0] = best0.value;
    }
  }
}
