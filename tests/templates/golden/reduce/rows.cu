// sm_90a, gfx90a, opencl: n=1000 results=1000 dtype=f32 op=sum map=x source=array axis=last
// rows:block_size=256,lanes=32,load_bytes=16,unroll=1,rows_per_thread=1,blocks_per_unit=0,streaming=false,finish=tree

// reduce, variant rows: 32 threads share a row, a block holds 8 rows at a time, a thread 1 of them.
//
//          n terms
//   row r      | lane 0 | lane 1 | ... | lane 31 | lane 0 | ...     a lane takes 4 elements (16 bytes) at a time
//   row r + 1  | lane 32 | ...                              the next 32 threads
//   term of lane l, load k:  k * 128 + l * 4
//
// Replaces: for (r = 0; r < results; ++r) out[r] = combine of map(in[r][i]) over i < n
// Limit: the sectors of which `each` uses one element; rows shorter than a block is wide leave no thread idle.

//= reduce/relay.cu, "typedef f32 element_t;  // as stored" to "}" (4)

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
