// sm_90a, gfx90a, opencl: n=1000000 results=1 dtype=f32 op=sum map=x source=array axis=last
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant tree: a tree in shared memory, one atomic per block: attacks the queue at the one address
//
//   dtype            = f32    type of the elements; f16 and bf16 are accumulated in f32, i32 wraps at 32 bits
//   op               = sum    how terms are combined; dot sums the products of two vectors
//   map              = x      the term of element i: x is in[i] (dot: in[i] * other[i]; source index: i itself)
//   source           = array  array: terms come from `in`; index: nothing is read and x is i, e.g. to integrate a formula
//   out_dtype        = f32
//   block_size       = 256    threads per block
//   items_per_thread = 4      elements that each thread combines before the tree
//   acc_dtype        = f32    out_dtype
//   tile             = 1024   block_size * items_per_thread
//

// reduce, variant tree: a block combines its elements in shared memory and adds one result to out[0].
//
//   in:       | tile of block 0: 256 threads x 4 items | tile of block 1 | ...
//   item k of thread t in block b is element  b * 1024 + k * 256 + t
//   shared:   s0  s1  s2  s3  s4  s5  s6  s7
//             s0+s4 s1+s5 s2+s6 s3+s7             half of the threads in each round
//             (s0+s4)+(s2+s6) ...                 log2(256) rounds, a barrier after each
//
// Replaces: acc = identity; for (i = 0; i < n; ++i) acc = combine(acc, in[i]);
// Limit: barriers and idle threads in the rounds; the loads of a thread are narrow and few.

//= reduce/grid_stride.cu, "typedef f32 element_t;  // as stored" to "}" (2)

//= reduce/grid_stride.cu, "// Combines one value of each of the 256 threads" to "}" (2)

KERNEL(256, 1, 1) reduce_tree(
    GLOBAL const element_t* RESTRICT in, i64 n, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];

  // ---- device memory -> registers
  const i64 first = (i64)BLOCK_X * 1024 + THREAD_X;
  acc_t value = identity();
  UNROLL
  for (int item = 0; item < 4; ++item) {
    const i64 i = first + item * 256;
    if (i < n) value = combine(value, value_at(in, n, i, i));
  }

  // ---- registers -> shared memory -> out[0]
  value = block_combine(value, scratch);
  if (THREAD_X == 0) add_to_result(out, value);
}
