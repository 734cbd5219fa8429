// Expressions: what one constraint costs, by name and by slot.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "core/expression.hpp"

namespace kiln {
namespace {

// A constraint as matmul has it: arithmetic, a comparison and a conjunction.
constexpr const char* kRule =
    "tile_m * tile_k * sizeof(f32) + pad <= device.max_shared_bytes and tile_m % threads == 0";

void parse_rule(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Expression::parse(kRule));
}
BENCHMARK(parse_rule);

Scope rule_scope() {
  Scope scope;
  scope.set("tile_m", std::int64_t{128});
  scope.set("tile_k", std::int64_t{16});
  scope.set("pad", std::int64_t{64});
  scope.set("threads", std::int64_t{32});
  scope.set("device.max_shared_bytes", std::int64_t{49152});
  return scope;
}

/// As in launch plans: names are looked up.
void evaluate_by_scope(benchmark::State& state) {
  const Expression rule = Expression::parse(kRule);
  const Scope scope = rule_scope();
  for (auto _ : state) benchmark::DoNotOptimize(rule.evaluate_bool(scope));
}
BENCHMARK(evaluate_by_scope);

/// As in search: names were looked up before.
void evaluate_by_slots(benchmark::State& state) {
  const Expression rule = Expression::parse(kRule);
  const Scope scope = rule_scope();
  std::vector<const Value*> slots;
  for (const std::string& name : rule.names()) slots.push_back(scope.find(name));
  for (auto _ : state) benchmark::DoNotOptimize(rule.evaluate(slots));
}
BENCHMARK(evaluate_by_slots);

/// As in search before all tunables have a value.
void evaluate_partly_known(benchmark::State& state) {
  const Expression rule = Expression::parse(kRule);
  const Scope scope = rule_scope();
  std::vector<const Value*> slots;
  for (const std::string& name : rule.names())
    slots.push_back(name == "threads" ? nullptr : scope.find(name));
  for (auto _ : state) benchmark::DoNotOptimize(rule.evaluate(slots));
}
BENCHMARK(evaluate_partly_known);

}  // namespace
}  // namespace kiln
