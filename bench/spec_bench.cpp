// Specs: reading the text of each built-in kernel, as a launcher does it (`read_spec`) and with
// everything checked, as for a user's spec (`parse_spec`).
// SPDX-License-Identifier: Apache-2.0
#include "bench/workbench.hpp"
#include "spec/parse_spec.hpp"

namespace kiln {
namespace {

void parse_as(benchmark::State& state, const Workbench& workbench, SpecOrigin origin) {
  for (auto _ : state)
    benchmark::DoNotOptimize(parse_spec(workbench.spec.text, workbench.spec.path, origin));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(workbench.spec.text.size()));
}

void read(benchmark::State& state, const Workbench& workbench) {
  parse_as(state, workbench, SpecOrigin::built_in);
}

void parse(benchmark::State& state, const Workbench& workbench) {
  parse_as(state, workbench, SpecOrigin::user);
}

}  // namespace

void register_spec_benchmarks() {
  register_for_each_kernel("read_spec", read);
  register_for_each_kernel("parse_spec", parse);
}

}  // namespace kiln
