// gfx90a: n=1000 rows=1000 dtype=f32 op=sum exclusive=false deterministic=no
  const int in_warp = THREAD_X % 64;
  const int in_warp = THREAD_X % 64;
