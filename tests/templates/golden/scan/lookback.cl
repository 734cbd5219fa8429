// opencl on a CPU: n=1000000 rows=1 dtype=f32 op=sum exclusive=false deterministic=no
//   row r:   | tile 0 | tile 1 | ... | tile T-1 |      block r * T + t; a tile is 256 runs of 1 threads x 4 loads
//   load u of thread t starts at element  tile * 4096 + t / 1 * 16 + u * 4 + t % 1 * 4
// Loads the elements of a row from place `at` on: 4 vectors of 4, 4 elements apart. Places outside of
  const i64 at1 = at + 4;
  const i64 at2 = at + 8;
  const i64 at3 = at + 12;
    const i64 at_u = at + 4;
    const i64 at_u = at + 8;
    const i64 at_u = at + 12;
// The scan of one value of each of 1 neighbouring threads, inclusive. All threads of the block call it.
// A value of another thread of the 1: of the one before (the identity for the first), of the last one.
  *before = identity();
  *last = value;
// Scans each vector of x in place, and sets before[u] to what stands before vector u in the run of the 1 threads.
// The scan of one value of each of the 256 groups of 1 threads: what stands before this thread's group, and
  for (int delta = 1; delta < 256; delta *= 2) {
    scratch[THREAD_X] = value;
    BARRIER();  // every value is in scratch
    if (THREAD_X >= delta) value = combine(scratch[THREAD_X - delta], value);
    BARRIER();  // they are read before the next round overwrites them
  scratch[THREAD_X] = value;
  BARRIER();  // every running result is in scratch
  const acc_t before = THREAD_X == 0 ? identity() : scratch[THREAD_X - 1];
  *total = scratch[255];
  return before;
  return tile * 4096 - shift + (THREAD_X / 1) * 16 + THREAD_X % 1 * 4;
// The result of all tiles from `first` to before `at`, for thread 0.
  for (i64 near = at - 1;; --near) {
    acc_t value;
    int mark = look(posts, near, &value);
    while (mark == 0) mark = look(posts, near, &value);
    sum = combine(value, sum);
    if (mark == 2) return sum;  // tile `first` at the latest
  SHARED acc_t scratch[256];
    if (THREAD_X == 0) {
