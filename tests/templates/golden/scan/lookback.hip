// gfx90a: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
//   row r:   | tile 0 | tile 1 | ... | tile T-1 |      block r * T + t; a tile is 4 runs of 64 threads x 4 loads
//   load u of thread t starts at element  tile * 4096 + t / 64 * 1024 + u * 256 + t % 64 * 4
// Loads the elements of a row from place `at` on: 4 vectors of 4, 256 elements apart. Places outside of
  const i64 at1 = at + 256;
  const i64 at2 = at + 512;
  const i64 at3 = at + 768;
    const i64 at_u = at + 512;
    const i64 at_u = at + 768;
// The scan of one value of each of 64 neighbouring threads, inclusive. All threads of the block call it.
  const int in_warp = THREAD_X % 64;
  for (int delta = 1; delta < 64; delta *= 2) {
    if (in_warp % 64 >= delta) value = combine(other, value);
// A value of another thread of the 64: of the one before (the identity for the first), of the last one.
  const int lane = THREAD_X % 64;
  const int in_warp = THREAD_X % 64;
  *last = SHUFFLE(value, in_warp - lane + 63);
// Scans each vector of x in place, and sets before[u] to what stands before vector u in the run of the 64 threads.
// The scan of one value of each of the 4 groups of 64 threads: what stands before this thread's group, and
  const int lane = THREAD_X % 64;
  const int group = THREAD_X / 64;
  acc_t all = lane < 4 ? scratch[lane] : identity();
  for (int delta = 1; delta < 4; delta *= 2) {
  *total = SHUFFLE(all, 3);
  return tile * 4096 - shift + (THREAD_X / 64) * 1024 + THREAD_X % 64 * 4;
  for (i64 near = at - 1;; near -= 64) {
    for (int delta = 1; delta < 64; delta *= 2) {
      if (!ends && THREAD_X + delta < 64) {
  SHARED acc_t scratch[64];
    if (THREAD_X < 64) {
