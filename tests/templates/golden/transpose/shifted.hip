// gfx90a: rows=4 cols=1024 batch=1 dtype=f32
    const u32 load_rows = (u32)MAX(load_to - loaded_from, 0);  // one comparison a load: two cost scalar registers
      held[i] = LOAD_4_IF((u32)(r - loaded_from) < load_rows, from + (i64)(i * IN_ROWS) * cols);
