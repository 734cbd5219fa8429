// The database: one durable commit a trial, and the lookup that a launcher makes once a problem.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "bench/workbench.hpp"
#include "core/json.hpp"
#include "core/scratch_folder.hpp"
#include "db/store.hpp"
#include "lookup/lookup.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

const Workbench& workbench_of(const std::string& kernel) {
  for (const Workbench& workbench : workbenches()) {
    if (workbench.spec.name == kernel) return workbench;
  }
  throw std::logic_error("no workbench for " + kernel);
}

SessionKey key_for(const Workbench& workbench, const Problem& problem) {
  SessionKey key;
  key.kernel = workbench.spec.name;
  key.spec_hash = content_hash(workbench.spec);
  key.problem = problem.text();
  key.device = identity_of(workbench_device());
  key.driver = workbench_device().driver;
  key.compiler = workbench_device().compiler;
  key.strategy = "random";
  return key;
}

/// Includes the fsync: a trial that append() returned from survives SIGKILL.
void append_trial(benchmark::State& state) {
  const ScratchFolder folder;
  const Workbench& workbench = workbench_of("matmul");
  Store store(folder.path() / "bench.db", Store::Mode::write);
  SessionRecord record;
  record.key = key_for(workbench, workbench.problem);
  record.device_info = workbench_device();
  record.problem_json = to_json(workbench.problem).dump();
  record.started_at = "2026-11-21T00:00:00Z";
  const SessionId session = store.begin_session(record);

  Trial trial;
  trial.config = workbench.config;
  trial.time_ns = 1e6;
  trial.samples.ns.assign(20, 1e6);
  std::int64_t sequence = 0;
  for (auto _ : state) {
    trial.config.values.front().second = ++sequence;  // a session holds each config once
    store.append(session, sequence, trial);
  }
}
BENCHMARK(append_trial)->Unit(benchmark::kMicrosecond);

/// 100 rows of one kernel, none of them exact: all distances are computed.
void lookup_among_100(benchmark::State& state) {
  const Workbench& workbench = workbench_of("matmul");
  std::vector<BestRecord> rows;
  for (int i = 0; i < 100; ++i) {
    const std::string size = std::to_string(64 + 32 * i);
    const Problem problem =
        Problem::parse(workbench.spec, "m=" + size + " n=" + size + " k=" + size);
    BestRecord row;
    row.key = key_for(workbench, problem);
    row.device_info = workbench_device();
    row.problem_json = to_json(problem).dump();
    row.config = workbench.config;
    row.template_hash =
        template_hash(workbench.spec, *workbench.spec.find_variant(workbench.config.variant));
    row.time_ns = 1e6;
    row.verdict = Verdict::better;
    rows.push_back(std::move(row));
  }
  const Problem asked = Problem::parse(workbench.spec, "m=1000 n=1000 k=1000");
  for (auto _ : state)
    benchmark::DoNotOptimize(lookup({workbench.spec, asked, workbench_device()}, rows));
}
BENCHMARK(lookup_among_100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kiln
