// kiln_bench: what Kiln itself costs on the host. docs/benchmarks.md says what each figure means.
//
//   kiln_bench [--spaces=FILE] [options of Google Benchmark]
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>

#include "bench/workbench.hpp"
#include "core/errors.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr std::string_view kSpaces = "--spaces=";
  std::string spaces;
  if (argc > 1 && std::string_view(argv[1]).starts_with(kSpaces)) {
    spaces = argv[1] + kSpaces.size();
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  kiln::register_spec_benchmarks();
  kiln::register_space_benchmarks();
  try {
    if (!spaces.empty()) kiln::register_described_space_benchmarks(spaces);
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "kiln_bench: %s\n", error.what());
    return 3;
  }
  kiln::register_render_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
