// opencl: n=1000 rows=1000 dtype=f32 op=sum exclusive=false deterministic=no
//   dtype      = f32     type of the elements; integers wrap
//   op         = sum     how elements are combined; a NaN makes every later minimum or maximum NaN
//   exclusive  = false   true: element i of a row is not part of result i, and result 0 is the identity of op (min: the largest value, max: the smallest)
//   block_size = 256     threads per block
//   lanes      = 8       threads that share a row
//   load_bytes = 16      bytes per load and store of one thread
//   unroll     = 1       independent loads in flight per thread
//   streaming  = false   loads and stores carry an evict-first hint
//   per_load   = 4       load_bytes // sizeof(dtype)
//   exchange   = shared  'shuffle' if device.warp_size > 1 else 'shared'
//   acc_dtype  = f32     dtype
//   rows_block = 32      block_size // lanes
    scratch[THREAD_X] = value;
    BARRIER();  // every value is in scratch
    if (THREAD_X % 8 >= delta) value = combine(scratch[THREAD_X - delta], value);
    BARRIER();  // they are read before the next round overwrites them
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  const acc_t other = lane == 0 ? value : scratch[THREAD_X - 1];
  *last = scratch[THREAD_X - lane + 7];
  BARRIER();  // they are read before they are overwritten
