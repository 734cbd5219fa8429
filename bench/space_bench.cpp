// Spaces: listing every legal config of each built-in kernel.
// SPDX-License-Identifier: Apache-2.0
#include "bench/workbench.hpp"
#include "search/space.hpp"

namespace kiln {
namespace {

void build(benchmark::State& state, const Workbench& workbench) {
  std::size_t size = 0;
  for (auto _ : state)
    size = Space::build(workbench.spec, workbench.problem, workbench_device()).size();
  state.counters["configs"] = static_cast<double>(size);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

}  // namespace

void register_space_benchmarks() { register_for_each_kernel("build_space", build); }

}  // namespace kiln
