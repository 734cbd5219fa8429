// A small but complete spec that the tests of core and search share, and a way to break it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "core/config.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln::test {

/// Transposes a matrix: two variants, a conditional tunable, every kind of problem field.
inline const char* const kTransposeSpec = R"toml(name = "transpose"
summary = "out[c, r] = f(in[r, c])"

[problem.rows]
type = "int"
min = 1
[problem.cols]
type = "int"
min = 1
max = 1000000
default = "rows"
[problem.dtype]
type = "dtype"
values = ["u8", "f16", "f32", "f64"]
default = "f32"
specialize = true
[problem.order]
type = "string"
values = ["row", "column"]
default = "row"
[problem.scale]
type = "float"
default = 1
weight = 0.5
[problem.in_place]
type = "bool"
default = false
[problem.map]
type = "formula"
variables = ["x"]
default = "x"

[[problem_rules]]
require = "not in_place or rows == cols"
because = "only square matrices can be transposed in place"

[derived]
bytes_per_element = "sizeof(dtype)"
matrix_bytes = "rows * cols * bytes_per_element"

[[arguments]]
name = "in"
access = "read"
dtype = "dtype"
shape = ["rows", "cols"]
fill = "'ramp' if dtype == u8 else uniform"
fill_verify = "integers"
[[arguments]]
name = "out"
access = "write"
dtype = "dtype"
shape = ["cols", "rows"]
[[arguments]]
name = "mask"
access = "read"
dtype = "u8"
shape = ["rows"]
when = "order == 'column'"
[[arguments]]
name = "row_count"
access = "scalar"
dtype = "i32"
value = "rows"
[[arguments]]
name = "alpha"
access = "scalar"
dtype = "f32"
example = "scale"

[verify]
reference = "transpose"
device_reference = "naive:block_x=64"
exact = "dtype == u8"

[cost]
bytes = "2 * matrix_bytes"
flops = "0"

[[variants]]
name = "tile"
summary = "global memory in whole lines"
template = "tile.inja"
requires = "device.max_threads_per_block >= 256"
[variants.tunables.tile_rows]
values = [16, 32, 64, 128]
default = 32
[variants.tunables.tile_cols]
values = [16, 32, 64, 128]
default = 32
[variants.tunables.padded]
values = [false, true]
default = true
[variants.tunables.pad]
values = [1, 2, 4]
default = 1
when = "padded"
[variants.derived]
tile_bytes = "tile_rows * (tile_cols + (pad if padded else 0)) * bytes_per_element"
[[variants.constraints]]
require = "tile_bytes <= device.max_shared_bytes"
because = "the tile must fit in shared memory"
[[variants.constraints]]
require = "pad < 4 or tile_rows > 16"
because = "wide padding is for large tiles"
[[variants.workspace]]
name = "flags"
dtype = "u32"
count = "ceil_div(rows, tile_rows)"
[[variants.steps]]
clear = "flags"
[[variants.steps]]
entry = "transpose_tile"
grid = ["ceil_div(cols, tile_cols)", "ceil_div(rows, tile_rows)"]
block = ["tile_cols", 8]
shared_bytes = "tile_bytes"
arguments = ["in", "out", "mask", "flags", "row_count", "alpha"]

[[variants]]
name = "naive"
template = "naive.inja"
[variants.tunables.block_x]
values = [32, 64]
default = 32
[variants.compiler_options]
cuda = "--use_fast_math"
[[variants.steps]]
entry = "transpose_naive"
grid = ["ceil_div(cols, block_x)", "rows"]
block = ["block_x"]
arguments = ["in", "out", "row_count", "alpha"]
)toml";

/// kTransposeSpec with the first occurrence of `from` replaced.
inline std::string with(const std::string& from, const std::string& to) {
  std::string text = kTransposeSpec;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the example spec has no '" + from + "'");
  return text.replace(at, from.size(), to);
}

inline KernelSpec example_spec() { return parse_spec(kTransposeSpec, "spec.toml"); }

/// What parse_spec says about `text`; empty when it accepts it.
inline std::string spec_error(const std::string& text) {
  return test::error_of<InputError>([&] { return parse_spec(text, "spec.toml"); });
}

}  // namespace kiln::test
