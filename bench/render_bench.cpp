// Rendering: a Renderer once a kernel, a Source once a config.
// SPDX-License-Identifier: Apache-2.0
#include "bench/workbench.hpp"
#include "templates/renderer.hpp"

namespace kiln {
namespace {

void make_renderer(benchmark::State& state, const Workbench& workbench) {
  for (auto _ : state) benchmark::DoNotOptimize(Renderer(workbench.spec));
}

void render_default(benchmark::State& state, const Workbench& workbench) {
  const Renderer renderer(workbench.spec);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        renderer.render({workbench.spec, workbench.problem, workbench_device()}, workbench.config));
  }
}

}  // namespace

void register_render_benchmarks() {
  register_for_each_kernel("make_renderer", make_renderer);
  register_for_each_kernel("render_default", render_default);
}

}  // namespace kiln
