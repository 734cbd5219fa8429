// sm_90a, gfx90a, opencl: n=1000 results=1000 dtype=f32 op=sum map=x source=array axis=last
// reduce: out[r] = op over i of map(in[r, i]): sum, min, max or dot of a vector, of the rows of a matrix or of its columns
// Variant rows: some threads for each row, many rows a block: attacks the sectors of which a thread per row uses one element
//
//   dtype           = f32    type of the elements; f16 and bf16 are accumulated in f32, i32 wraps at 32 bits
//   op              = sum    how terms are combined; dot sums the products of two vectors
//   map             = x      the term of element i: x is in[i] (dot: in[i] * other[i]; source index: i itself)
//   source          = array  array: terms come from `in`; index: nothing is read and x is i, e.g. to integrate a formula
//   out_dtype       = f32
//   block_size      = 256    threads per block
//   lanes           = 32     threads that share a row
//   load_bytes      = 16     bytes per load of one thread
//   unroll          = 1      independent loads of a row in flight per thread
//   rows_per_thread = 1      rows that a thread works on at the same time: bytes in flight where rows are short
//   streaming       = false  loads carry an evict-first hint: nothing is read twice
//   finish          = tree   how threads combine their values: in shared memory, or by exchange within warps
//   acc_dtype       = f32    out_dtype
//   per_load        = 4      load_bytes // sizeof(dtype)
//   rows_block      = 8      block_size // lanes
//   rows_tile       = 8      rows_block * rows_per_thread
//

// reduce, variant rows: 32 threads share a row, a block holds 8 rows at a time, a thread 1 of them.
//
//          n terms
//   row r      | lane 0 | lane 1 | ... | lane 31 | lane 0 | ...     a lane takes 4 elements (16 bytes) at a time
//   row r + 1  | lane 32 | ...                              the next 32 threads
//   term of lane l, load k:  k * 128 + l * 4
//
// Replaces: for (r = 0; r < results; ++r) out[r] = combine of map(in[r][i]) over i < n
// Limit: the sectors of which `each` uses one element; rows shorter than a block is wide leave no thread idle.

//= reduce/grid_stride.cu, "typedef f32 element_t;  // as stored" to "}"

typedef u32x4 load_t;  // elements: 4

DEVICE_FUNCTION void unpack(load_t words, acc_t* x) {
//= arg_reduce/rows.cu, "x[0] = BITS_TO_F32(words.x);" to "}"

//= reduce/grid_stride.cu, "// Combines the 4 terms from element i on into `" to "}" (2)

// Combines one value of each of the 32 lanes of a row; lane 0 gets the result.
DEVICE_FUNCTION acc_t lanes_combine(acc_t value, SHARED_PTR acc_t* scratch) {
  const int lane = THREAD_X % 32;
  scratch[THREAD_X] = value;
  BARRIER();  // every value is in scratch
  for (int reach = 16; reach > 0; reach /= 2) {
    if (lane < reach) scratch[THREAD_X] = combine(scratch[THREAD_X], scratch[THREAD_X + reach]);
    BARRIER();  // this round is written before the next reads it
  }
  value = scratch[THREAD_X - lane];
  BARRIER();  // and read before the next row overwrites it
  return value;
}

KERNEL(256, 1, 1) reduce_rows(
    GLOBAL const element_t* RESTRICT in, i64 n, i64 results, GLOBAL result_t* out) {
  SHARED acc_t scratch[256];
//= arg_reduce/rows.cu, "const int lane = THREAD_X % 32;" (2) to "for (i64 first = (i64)BLOCK_X * 8; first < resul"
    // ---- this thread's rows; past the last one it repeats that
    const i64 row0 = first + 0 + group;
    const i64 at0 = MIN(row0, results - 1) * n;
    acc_t sum0 = identity();

    // ---- device memory -> registers
    if (n % 4 == 0) {
      i64 i = lane * 4;
      NO_UNROLL
      for (; i < n; i += 128) {
        const load_t a0 = LOAD_16(in + at0 + i);
        sum0 = fold(sum0, a0, i, n);
      }
    } else {  // rows begin anywhere in a vector: element by element
      UNROLL_N(1)
      for (i64 i = lane; i < n; i += 32) {
        sum0 = combine(sum0, value_at(in, n, at0 + i, i));
      }
    }

    // ---- registers -> out
    sum0 = lanes_combine(sum0, scratch);
    if (lane == 0 && row0 < results) out[row0] = sum0;
  }
}
