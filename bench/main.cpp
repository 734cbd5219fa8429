// kiln_bench: what Kiln itself costs on the host. docs/benchmarks.md says what each figure means.
// SPDX-License-Identifier: Apache-2.0
#include "bench/workbench.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  kiln::register_spec_benchmarks();
  kiln::register_space_benchmarks();
  kiln::register_render_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
