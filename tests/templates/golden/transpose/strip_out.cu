// sm_90a, gfx90a, opencl: rows=4 cols=1024 batch=1 dtype=f32
// strip_out:span=32,threads=256,lanes=32,batch_loads=4

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
//= transpose/strip_in.cu, "// Lines of the strip are kept an odd number of " to "// A run of `count` elements of global memory an"
DEVICE_FUNCTION void move_run(GLOBAL element_t* RESTRICT run, SHARED_PTR element_t* strip, i64 start, int count, int width, int pitch) {
//= transpose/strip_in.cu, "int done = 0;" to "UNROLL"
      for (int i = 0; i < BATCH; ++i) held[i] = SHARED_LOAD_16(strip + (v + i * THREADS) * VECTOR);
      UNROLL
      for (int i = 0; i < BATCH; ++i) STORE_16(run + (v + i * THREADS) * VECTOR, held[i]);
    }
    for (; v < vectors; v += THREADS) STORE_16(run + v * VECTOR, SHARED_LOAD_16(strip + v * VECTOR));
//= transpose/strip_in.cu, "done = vectors * VECTOR;" to "for (int i = done + THREAD_X; i < count; i += TH"
    run[i] = strip[line * pitch + at];
//= transpose/strip_in.cu, "line += lines_on;" to "DYNAMIC_SHARED(element_t, strip);  // [SPAN][pit"
  const int pitch = rows | 1;
  const i64 first = (i64)BLOCK_X * SPAN;  // of the cols
  const int lines = (int)MIN((i64)SPAN, cols - first);
//= transpose/strip_in.cu, "const int lane = THREAD_X % LANES;" to "for (i64 b = BLOCK_Y; b < batch; b += GRID_Y) {"
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
