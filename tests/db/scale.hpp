// A small kernel for the tests of db/, lookup/ and wisdom/: its spec, and bests of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "spec/parse_spec.hpp"
#include "tests/db/scratch.hpp"

namespace kiln::test {

inline constexpr const char* kScaleSpec = R"toml(
name = "scale"
summary = "out[i] = 2 * source[i * stride]"
problem.n = { type = "int", min = 1 }
problem.dtype = { type = "dtype", values = ["f32", "f64"], default = "f32", specialize = true }
problem.stride = { type = "int", default = 1, weight = 0 }
arguments = [
  { name = "source", access = "read", shape = ["n * stride"], dtype = "dtype" },
  { name = "out", access = "write", shape = ["n"], dtype = "dtype" },
]

[verify.formulas]
out = "2 * source"

[[variants]]
name = "vector"
summary = "one load of several elements"
template = "vector.inja"
tunables.block_size = { values = [64, 128, 256, 512, 1024], default = 64 }
[[variants.constraints]]
require = "block_size <= n"
because = "a block must have work"
[[variants.constraints]]
require = "block_size <= device.max_threads_per_block"
because = "the device runs no larger block"
[[variants.steps]]
entry = "scale"
grid = ["ceil_div(n, block_size)"]
block = ["block_size"]
arguments = ["source", "out"]
)toml";

inline KernelSpec scale_spec() {
  KernelSpec spec = parse_spec(kScaleSpec, "scale/spec.toml");
  spec.files["vector.inja"] = "the template";
  return spec;
}

/// A best for the problem ("n=4096"), as a session on `device` would publish it.
inline BestRecord scale_best(const KernelSpec& spec, const std::string& problem_text,
                             std::int64_t block_size, const DeviceInfo& device = some_device()) {
  const Problem problem = Problem::parse(spec, problem_text);
  BestRecord best = some_best(block_size);
  best.key = some_session(problem.text()).key;
  best.key.device = identity_of(device);
  best.key.driver = device.driver;
  best.key.compiler = device.compiler;
  best.device_info = device;
  best.problem_json = to_json(problem).dump();
  best.template_hash = template_hash(spec, spec.variants[0]);
  best.published_at = "2026-01-02T03:04:05Z";
  return best;
}

}  // namespace kiln::test
