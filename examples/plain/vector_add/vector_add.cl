// c[i] = a[i] + b[i]: the first kernel of every course, with macros for its parameters.
#define BLOCK_SIZE 256
#define ITEMS 1  // elements per thread

__kernel void vector_add(__global const float* a, __global const float* b, __global float* c,
                         int n) {
  int first = get_group_id(0) * (BLOCK_SIZE * ITEMS) + get_local_id(0);
  for (int item = 0; item < ITEMS; ++item) {
    int i = first + item * BLOCK_SIZE;
    if (i < n) c[i] = a[i] + b[i];
  }
}
