// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=min
// naive:block_size=256

// arg_reduce, variant naive: blocks walk over a row element by element; a second launch combines what they found.
//
//   block r * S + s: every S-th run of 256 elements of row r      (first pass, S blocks a row)
//   values, places:  | r0 s0 | r0 s1 | ... | r1 s0 | ...                      (workspace)
//   index, value:    block r combines its S elements                         (second pass)
//
// Replaces: best = 0; for (i = 1; i < n; ++i) if (in[r][i] is better than in[r][best]) best = i;
// Limit: none is attacked. It also stands in for the CPU loop where that would take too long.

//= arg_reduce/key.cu, "typedef f32 element_t;  // as stored" to "}" (5)

//= arg_reduce/ticket.cu, "// Combines one element of each of the 256 threa" to "}" (3)

KERNEL(256, 1, 1) arg_reduce_naive(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results,
    GLOBAL value_t* values, GLOBAL i64* places, GLOBAL i32* shares) {
  SHARED value_t scratch_values[256];
  SHARED i64 scratch_places[256];

  const int share = (int)(GRID_X / results);  // blocks a row
  const i64 row = BLOCK_X / share;
  best_t best = nothing();
  for (i64 i = (i64)(BLOCK_X % share) * 256 + THREAD_X; i < n; i += (i64)share * 256) {
    best = combine(best, element_at(in + row * n, i));
  }
  best = team_combine(best, scratch_values, scratch_places);
  if (THREAD_X == 0) {
    values[BLOCK_X] = best.value;
    places[BLOCK_X] = best.at;
    if (BLOCK_X == 0) shares[0] = share;  // for the second pass
  }
}

// Second pass, one block a row.
KERNEL(256, 1, 1) arg_reduce_naive_finish(
    GLOBAL const value_t* RESTRICT values, GLOBAL const i64* RESTRICT places, GLOBAL const i32* RESTRICT shares,
    GLOBAL i64* index, GLOBAL element_t* value) {
  SHARED value_t scratch_values[256];
  SHARED i64 scratch_places[256];

  const int share = shares[0];
  best_t best = nothing();
  for (int p = THREAD_X; p < share; p += 256) {
    best_t found;
    found.value = values[(i64)BLOCK_X * share + p];
    found.at = places[(i64)BLOCK_X * share + p];
    best = combine(best, found);
  }
  best = team_combine(best, scratch_values, scratch_places);
  if (THREAD_X == 0) {
    index[BLOCK_X] = best.at;
    value[BLOCK_X] = best.value;
  }
}
