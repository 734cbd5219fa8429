// A spec small enough to read in a test: y = a * x, with one variant and whatever template the test
// gives.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/config.hpp"
#include "core/setting.hpp"
#include "core/spec.hpp"
#include "spec/parse_spec.hpp"
#include "templates/renderer.hpp"
#include "tests/support/error_of.hpp"

namespace kiln::test {

inline constexpr const char* kScaleSpec = R"spec(
name = "scale"
summary = "y[i] = factor * x[i]"

[problem.n]
type = "int"
doc = "elements"

[problem.dtype]
type = "dtype"
doc = "element type"
values = ["f32", "f16", "f64", "u8"]
default = "f32"
specialize = true

[problem.map]
type = "formula"
variables = ["x"]
default = "x"
specialize = true

[derived]
twice_n = "2 * n"
bits = "8 * sizeof(dtype)"

[[arguments]]
name = "x"
access = "read"
dtype = "dtype"
shape = ["n"]

[[arguments]]
name = "y"
access = "write"
dtype = "dtype"
shape = ["n"]

[[arguments]]
name = "n"
access = "scalar"
dtype = "i64"
value = "n"

[[arguments]]
name = "factor"
access = "scalar"
dtype = "f32"
example = 2.0

[verify.formulas]
y = "factor * x"

[[variants]]
name = "strided"
summary = "each thread walks in strides of the grid"
template = "strided.inja"
[variants.tunables.block]
values = [64, 128, 256]
default = 128
doc = "threads per block"
[variants.tunables.unroll]
values = [1, 2, 4]
default = 2
doc = "elements in flight per thread"
[variants.tunables.depth]
values = [2, 3]
default = 2
doc = "stages, where there is an unrolled loop"
when = "unroll > 1"
[variants.tunables.blocks_per_unit]
values = [1, 2, 4]
default = 2
doc = "blocks per compute unit"
[variants.derived]
tile = "block * unroll"
tiles = "ceil_div(n, tile)"
stages = "depth if unroll > 1 else 1"
[[variants.steps]]
entry = "scale_strided"
grid = ["blocks_per_unit * device.compute_units"]
block = ["block"]
arguments = ["x", "y", "n", "factor"]
[variants.compiler_options]
cuda = "--use_fast_math -lineinfo"
)spec";

/// Uses every part of the language once, and reads like a kernel.
inline constexpr const char* kScaleTemplate = R"text({# y = factor * x, {{ not rendered }} #}
// scale, strided: thread t of the grid takes elements t, t + stride, ...

{% include "convert.inja" %}


KERNEL({{ block }}, 1, 1) scale_strided(
    GLOBAL const {{ ctype(dtype) }}* RESTRICT x, GLOBAL {{ ctype(dtype) }}* RESTRICT y, i64 n, f32 factor) {
  const i64 stride = (i64)GRID_X * {{ tile }};
  for (i64 i = (i64)BLOCK_X * {{ tile }} + THREAD_X; i < n; i += stride) {
    ## for u in range(unroll)
    ## if u == 0
    store_scaled(y, i, x, factor);
    ## else
    if (i + {{ u * block }} < n) store_scaled(y, i + {{ u * block }}, x, factor);
    ## endif
    ## endfor

  }
}
)text";

inline constexpr const char* kConvertTemplate = R"text(// Element i, scaled in {{ real(dtype) }}.
DEVICE_FUNCTION void store_scaled(GLOBAL {{ ctype(dtype) }}* y, i64 i, GLOBAL const {{ ctype(dtype) }}* x, f32 factor) {
  const {{ real(dtype) }} value = {{ load(dtype, "x[i]") }};
  y[i] = {{ store(dtype, "factor * value") }};
}
)text";

/// The spec with `text` as its template.
inline KernelSpec scale_spec(const std::string& text = kScaleTemplate) {
  KernelSpec spec = parse_spec(kScaleSpec, "scale/spec.toml");
  spec.files["strided.inja"] = text;
  spec.files["convert.inja"] = kConvertTemplate;
  return spec;
}

inline const char* architecture_for(const std::string& backend) {
  return backend == "cuda" ? "sm_80" : backend == "hip" ? "gfx90a" : "opencl";
}

inline Source render(const KernelSpec& spec, const std::string& config = "strided",
                     const std::string& problem = "n=1000", const std::string& backend = "cuda") {
  Problem asked = Problem::parse(spec, problem);
  DeviceInfo device = device_for_architecture(backend, architecture_for(backend));
  return Renderer(spec).render({spec, asked, device}, Setting(spec, asked, device).parse(config));
}

/// What the template text alone gives: the rendered source without head and words, for `problem`.
inline std::string body_of(const std::string& text, const std::string& config = "strided",
                           const std::string& problem = "n=1000") {
  KernelSpec spec = scale_spec(text + "\nKERNEL(1, 1, 1) scale_strided(void) {}\n");
  Source source = render(spec, config, problem);
  std::string body;
  std::string rest = source.text;
  for (const std::string& origin : source.origins) {
    std::size_t end = rest.find('\n');
    if (!origin.empty()) body += rest.substr(0, end) + "\n";
    rest = rest.substr(end + 1);
  }
  return body.substr(0, body.rfind("KERNEL(1"));
}

/// The message of the InputError that the template text raises, from its line on: "1:4: ..."; ""
/// when it renders.
inline std::string error_in(const std::string& text, const std::string& config = "strided",
                            const std::string& problem = "n=1000") {
  const std::string file = "scale/strided.inja:";
  std::string message = test::error_of<InputError>([&] { return body_of(text, config, problem); });
  return message.starts_with(file) ? message.substr(file.size()) : message;
}

}  // namespace kiln::test
