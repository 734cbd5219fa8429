// gfx90a: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// reduce, variant shuffle: threads of a warp of 64 exchange registers; shared memory holds one value a warp.
//   warp:     lane l takes the value of lane l + 32, then l + 16, ... l + 1: no barrier
//   block:    4 warps leave one value each; the first warp combines those the same way
  for (int delta = 32; delta > 0; delta /= 2) {
  // One result of each of the 4 warps meets in the first warp.
  const int lane = THREAD_X % 64;
  const int warp = THREAD_X / 64;
    value = lane < 4 ? scratch[lane] : identity();
    for (int delta = 32; delta > 0; delta /= 2) {
  SHARED acc_t scratch[64];
