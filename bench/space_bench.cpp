// Spaces: building that of each built-in kernel, those that a file describes, and sampling one of
// more than 10^12 combinations.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>
#include <utility>

#include "bench/workbench.hpp"
#include "core/constraint_text.hpp"
#include "core/errors.hpp"
#include "interchange/described_space.hpp"
#include "search/space.hpp"

namespace kiln {
namespace {

void build(benchmark::State& state, const Workbench& workbench) {
  std::size_t size = 0;
  for (auto _ : state)
    size = Space::build({workbench.spec, workbench.problem, workbench_device()}).size();
  state.counters["configs"] = static_cast<double>(size);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void build_described(benchmark::State& state, const Variant& variant) {
  const Space space = Space::build(variant);
  for (auto _ : state) benchmark::DoNotOptimize(Space::build(variant).size());
  state.counters["configs"] = static_cast<double>(space.size());
  state.counters["bytes"] = static_cast<double>(space.report().bytes());
}

void build_all_described(benchmark::State& state, const std::string& text,
                         const std::string& path) {
  for (auto _ : state) {
    for (const DescribedSpace& space : read_described_spaces(text, path)) {
      benchmark::DoNotOptimize(Space::build(space.variant).size());
    }
  }
}

Tunable tunable(const std::string& name, const std::vector<std::int64_t>& values) {
  Tunable made;
  made.name = name;
  for (const std::int64_t value : values) made.values.emplace_back(value);
  made.fallback = made.values.front();
  return made;
}

// A matrix product with everything tunable: eighteen tunables, twelve constraints.
Variant large_variant() {
  const std::vector<std::int64_t> powers = {1, 2, 4, 8, 16, 32, 64, 128};
  const std::vector<std::int64_t> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  Variant variant;
  variant.name = "large";
  for (const char* const name : {"tile_m", "tile_n", "tile_k", "warp_m", "warp_n", "unroll"}) {
    variant.tunables.push_back(tunable(name, powers));
  }
  for (const char* const name : {"vector_a", "vector_b"}) {
    variant.tunables.push_back(tunable(name, {1, 2, 4, 8}));
  }
  for (const char* const name : {"stages", "split", "swizzle", "groups"}) {
    variant.tunables.push_back(tunable(name, eight));
  }
  for (const char* const name : {"pad_a", "pad_b", "cache_a", "cache_b"}) {
    variant.tunables.push_back(tunable(name, {0, 1, 2, 4}));
  }
  variant.tunables.push_back(tunable("threads", {32, 64, 128, 256, 512}));
  variant.tunables.push_back(tunable("blocks", {1, 2, 3, 4}));
  for (const char* const rule :
       {"tile_m % warp_m == 0", "tile_n % warp_n == 0", "tile_k % vector_a == 0",
        "tile_k % vector_b == 0", "32 <= (tile_m // warp_m) * (tile_n // warp_n) <= 1024",
        "stages * tile_k * ((tile_m + pad_a) + (tile_n + pad_b)) * 4 <= 102400",
        "tile_k % unroll == 0", "split == 1 or stages > 1", "cache_a == 1 or pad_a == 0",
        "cache_b == 1 or pad_b == 0", "blocks * threads <= 1024", "swizzle == 1 or groups < 4"}) {
    variant.constraints.push_back({Expression::parse(rule), ""});
  }
  return variant;
}

void build_large(benchmark::State& state) {
  const Variant variant = large_variant();
  std::size_t size = 0;
  for (auto _ : state) size = Space::build(variant).size();
  state.counters["configs"] = static_cast<double>(size);
}

void sample_large(benchmark::State& state) {
  constexpr int kSamples = 10'000;
  const Space space = Space::build(large_variant());
  Random random(1);
  for (auto _ : state) {
    for (int i = 0; i < kSamples; ++i) {
      benchmark::DoNotOptimize(space.at(*space.sample(random)).values.size());
    }
  }
  state.counters["combinations"] =
      static_cast<double>(space.report().variants.front().combinations);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw InputError(path + ": cannot be read; expected a T1 file or a list of spaces");
  return text.str();
}

}  // namespace

void register_space_benchmarks() {
  register_for_each_kernel("build_space", build);
  benchmark::RegisterBenchmark("build_large_space", build_large);
  benchmark::RegisterBenchmark("sample_large_space", sample_large);
}

void register_described_space_benchmarks(const std::string& path) {
  std::string text = read_file(path);
  for (DescribedSpace& space : read_described_spaces(text, path)) {
    benchmark::RegisterBenchmark(("build_described/" + space.name).c_str(),
                                 [variant = std::move(space.variant)](benchmark::State& state) {
                                   build_described(state, variant);
                                 });
  }
  benchmark::RegisterBenchmark("read_and_build_described",
                               [text = std::move(text), path](benchmark::State& state) {
                                 build_all_described(state, text, path);
                               });
}

}  // namespace kiln
