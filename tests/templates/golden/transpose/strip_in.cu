// sm_90a, gfx90a, opencl: rows=1024 cols=4 batch=1 dtype=f32
// strip_in:span=32,threads=256,lanes=32,batch_loads=4

// transpose, strip_in: where one side of the matrix is short, a block moves whole lines of it. What it reads is then one
// unbroken run of memory, whatever the sizes are.
//
//         cols                      rows
//      +------+               +----+----+----+      the strip: SPAN rows of `in`, all columns: one run of memory
// rows |      |               |    | ## |    |
//      +------+   ==>   cols  |    | ## |    |      for r < SPAN, c < cols:
//      |######| <- strip      +----+----+----+        strip[r][c] = in[row0 + r][c]      read as one run
//      +------+                                       out[c][row0 + r] = strip[r][c]     SPAN neighbours at a time
//      |      |
//      +------+
//
// Lines of the strip are kept an odd number of elements apart, so that SPAN neighbours lie in different banks.
// Limit attacked: the rows of a short side are shorter than the tile of the other variants is wide, and start anywhere
// in a sector: there most of a warp idles or asks for sectors that its neighbours ask for again.

enum {
  SPAN = 32,        // lines of the strip
  THREADS = 256,
  LANES = 32,      // threads that walk along the long side together
  GROUPS = THREADS / LANES,
  BATCH = 4,  // accesses of a thread under way at a time
  VECTOR = 4,      // elements in 16 bytes
};

typedef u32 element_t;

// A run of `count` elements of global memory and the lines of the strip, `width` long each.
DEVICE_FUNCTION void move_run(GLOBAL const element_t* RESTRICT run, SHARED_PTR element_t* strip, i64 start, int count, int width, int pitch) {
  int done = 0;
  if (pitch == width && start % VECTOR == 0) {  // both sides are unbroken: 16 bytes at a time
    const int vectors = count / VECTOR;
    int v = THREAD_X;
    for (; v + (BATCH - 1) * THREADS < vectors; v += BATCH * THREADS) {
      u32x4 held[BATCH];
      UNROLL
      for (int i = 0; i < BATCH; ++i) held[i] = LOAD_16(run + (v + i * THREADS) * VECTOR);
      UNROLL
      for (int i = 0; i < BATCH; ++i) SHARED_STORE_16(strip + (v + i * THREADS) * VECTOR, held[i]);
    }
    for (; v < vectors; v += THREADS) SHARED_STORE_16(strip + v * VECTOR, LOAD_16(run + v * VECTOR));
    done = vectors * VECTOR;
  }
  // Element by element; line and position follow the index without dividing again.
  int line = (done + THREAD_X) / width;
  int at = (done + THREAD_X) % width;
  const int lines_on = THREADS / width;
  const int on = THREADS % width;
  UNROLL_N(4)
  for (int i = done + THREAD_X; i < count; i += THREADS) {
    strip[line * pitch + at] = run[i];
    line += lines_on;
    at += on;
    if (at >= width) {
      at -= width;
      ++line;
    }
  }
}

KERNEL(256, 1, 1) transpose_strip(
    GLOBAL const element_t* RESTRICT in,  // [batch][rows][cols]
    GLOBAL element_t* RESTRICT out,       // [batch][cols][rows]
    i32 rows, i32 cols, i32 batch DYNAMIC_SHARED_PARAM(element_t, strip)) {
  DYNAMIC_SHARED(element_t, strip);  // [SPAN][pitch]
  const int pitch = cols | 1;
  const i64 first = (i64)BLOCK_X * SPAN;  // of the rows
  const int lines = (int)MIN((i64)SPAN, rows - first);
  const int lane = THREAD_X % LANES;
  const int group = THREAD_X / LANES;

  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    const i64 start = (b * rows + first) * cols;  // of the run
    move_run(in + start, strip, start, lines * cols, cols, pitch);
    BARRIER();  // the whole strip is there before anyone reads across its lines

    GLOBAL element_t* to = out + b * cols * rows + first;
    for (int r = lane; r < lines; r += LANES) {
      UNROLL_N(4)
      for (int c = group; c < cols; c += GROUPS) to[(i64)c * rows + r] = strip[r * pitch + c];
    }
    BARRIER();  // everyone has read the strip before the next matrix overwrites it
  }
}
