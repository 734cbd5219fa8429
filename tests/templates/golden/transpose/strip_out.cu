// sm_90a, gfx90a, opencl: rows=4 cols=1024 batch=1 dtype=f32
// transpose: out[b, c, r] = in[b, r, c]: dense, row-major, batched
// Variant strip_out: few rows: whole rows of `out` are written as one unbroken run of memory, whatever the sizes
//
//   element     = u32
//   span        = 32   lines of the strip: neighbours along the long side
//   threads     = 256  threads of a block
//   lanes       = 32   threads that walk along the long side together; the others take other lines
//   batch_loads = 4    accesses of a thread under way at a time
//   vector      = 4    16 // element_bytes
//   along       = out  'out'
//

// transpose, strip_out: where one side of the matrix is short, a block moves whole lines of it. What it writes is then one
// unbroken run of memory, whatever the sizes are.
//
//              cols                 rows
//      +----+----+----+           +------+          the strip: SPAN rows of `out`, all columns: one run of memory
//      |    | ## |    |           |      |
// rows |    | ## |    |   ==>     +------+          for c < SPAN, r < rows:
//      +----+----+----+           |######| cols       strip[c][r] = in[r][col0 + c]      SPAN neighbours at a time
//                                 +------+            out[col0 + c][r] = strip[c][r]     written as one run
//                                 |      |
//                                 +------+
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
DEVICE_FUNCTION void move_run(GLOBAL element_t* RESTRICT run, SHARED_PTR element_t* strip, i64 start, int count, int width, int pitch) {
  int done = 0;
  if (pitch == width && start % VECTOR == 0) {  // both sides are unbroken: 16 bytes at a time
    const int vectors = count / VECTOR;
    int v = THREAD_X;
    for (; v + (BATCH - 1) * THREADS < vectors; v += BATCH * THREADS) {
      u32x4 held[BATCH];
      UNROLL
      for (int i = 0; i < BATCH; ++i) held[i] = SHARED_LOAD_16(strip + (v + i * THREADS) * VECTOR);
      UNROLL
      for (int i = 0; i < BATCH; ++i) STORE_16(run + (v + i * THREADS) * VECTOR, held[i]);
    }
    for (; v < vectors; v += THREADS) STORE_16(run + v * VECTOR, SHARED_LOAD_16(strip + v * VECTOR));
    done = vectors * VECTOR;
  }
  // Element by element; line and position follow the index without dividing again.
  int line = (done + THREAD_X) / width;
  int at = (done + THREAD_X) % width;
  const int lines_on = THREADS / width;
  const int on = THREADS % width;
  UNROLL_N(4)
  for (int i = done + THREAD_X; i < count; i += THREADS) {
    run[i] = strip[line * pitch + at];
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
  const int pitch = rows | 1;
  const i64 first = (i64)BLOCK_X * SPAN;  // of the cols
  const int lines = (int)MIN((i64)SPAN, cols - first);
  const int lane = THREAD_X % LANES;
  const int group = THREAD_X / LANES;

  for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {
    const i64 start = (b * cols + first) * rows;  // of the run
    GLOBAL const element_t* from = in + b * rows * cols + first;
    for (int c = lane; c < lines; c += LANES) {
      UNROLL_N(4)
      for (int r = group; r < rows; r += GROUPS) strip[c * pitch + r] = from[(i64)r * cols + c];
    }
    BARRIER();  // the whole strip is there before anyone reads along its lines

    move_run(out + start, strip, start, lines * rows, rows, pitch);
    BARRIER();  // everyone has read the strip before the next matrix overwrites it
  }
}
