// BLOCK
__kernel void twice(__global const float* x, __global float* y, int n) {
  const int i = get_global_id(0);
  if (i < n) y[i] = 2 * x[i];
}
