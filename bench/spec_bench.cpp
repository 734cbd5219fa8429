// Specs: reading and checking the text of each built-in kernel.
// SPDX-License-Identifier: Apache-2.0
#include "bench/workbench.hpp"

namespace kiln {
namespace {

void parse(benchmark::State& state, const Workbench& workbench) {
  for (auto _ : state)
    benchmark::DoNotOptimize(parse_spec(workbench.spec.text, workbench.spec.path));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(workbench.spec.text.size()));
}

}  // namespace

void register_spec_benchmarks() { register_for_each_kernel("parse_spec", parse); }

}  // namespace kiln
