// opencl: n=1000 rows=1000 dtype=f32 op=sum exclusive=false deterministic=no
    scratch[THREAD_X] = value;
    BARRIER();  // every value is in scratch
    if (THREAD_X % 8 >= delta) value = combine(scratch[THREAD_X - delta], value);
    BARRIER();  // they are read before the next round overwrites them
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  const acc_t other = lane == 0 ? value : scratch[THREAD_X - 1];
  *last = scratch[THREAD_X - lane + 7];
  BARRIER();  // they are read before they are overwritten
