// SPDX-License-Identifier: Apache-2.0
#include "shown_sessions.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/metrics.hpp"
#include "db/evidence.hpp"
#include "db/store.hpp"
#include "templates/library.hpp"
#include "tests/db/scratch.hpp"

namespace kiln::cli {
namespace {

Trial ok_trial(Config config, double time_ns) {
  Trial trial;
  trial.config = std::move(config);
  trial.time_ns = time_ns;
  trial.samples.ns = {time_ns * 0.99, time_ns, time_ns * 1.02, time_ns * 1.01};
  trial.registers = 40;
  trial.cost.compile_ns = 120'000'000;
  return trial;
}

Trial failed_trial(Config config, Outcome outcome, const std::string& message) {
  Trial trial;
  trial.config = std::move(config);
  trial.outcome = outcome;
  trial.message = message;
  return trial;
}

Config tile(std::int64_t rows, std::int64_t cols, std::int64_t threads) {
  return {"tile",
          {{"tile_rows", rows},
           {"tile_cols", cols},
           {"threads", threads},
           {"pad", std::int64_t{1}},
           {"raster", std::string("rows")}}};
}

Config long_config(std::int64_t tile_m) {
  return {"register",
          {{"tile_m", tile_m},
           {"tile_n", std::int64_t{256}},
           {"tile_k", std::int64_t{8}},
           {"micro_m", std::int64_t{16}},
           {"micro_n", std::int64_t{8}},
           {"lanes_m", std::int64_t{2}},
           {"load_vector", std::int64_t{4}},
           {"layout", std::string("plain")},
           {"buffers", std::int64_t{2}},
           {"unroll_k", std::int64_t{8}},
           {"blocks_per_unit", std::int64_t{1}},
           {"raster", std::int64_t{8}}}};
}

/// Twenty rounds around `time_ns`: the same small waves for each finalist.
std::vector<double> rounds(double time_ns) {
  std::vector<double> ns;
  for (int round = 0; round < 20; ++round)
    ns.push_back(time_ns * (1 + 0.004 * ((round * 7) % 5 - 2)));
  return ns;
}

Finalist finalist(const Config& config, std::int64_t sequence, double time_ns) {
  return {config.text(), sequence, rounds(time_ns), time_ns, std::nullopt, {}};
}

SessionRecord session(const KernelSpec& spec, const std::string& problem_text) {
  const Problem problem = Problem::parse(spec, problem_text);
  SessionRecord record = test::some_session(problem.text());
  record.key.kernel = spec.name;
  record.key.spec_hash = content_hash(spec);
  record.key.strategy = "auto";
  record.key.seed = 1;
  record.problem_json = to_json(problem).dump();
  record.budget = "seconds=60";
  record.space_size = 3412;
  record.started_at = "2026-11-26T06:50:58Z";
  return record;
}

BestRecord best_of(const SessionRecord& record, SessionId id, const KernelSpec& spec,
                   const Config& config) {
  BestRecord best;
  best.session = id;
  best.key = record.key;
  best.device_info = record.device_info;
  best.problem_json = record.problem_json;
  best.config = config;
  best.template_hash = template_hash(spec, *spec.find_variant(config.variant));
  best.verdict = Verdict::better;
  best.published_at = "2026-11-26T06:52:01Z";
  return best;
}

/// Where the time of an invented search of a minute went.
TimeUse some_time_use() {
  TimeUse use;
  use.search = 60;
  use.prepare = 1.5;
  use.device = 48;
  use.verify = 12;
  use.measure = 30;
  use.compile = 100;
  use.compile_workers = 3;
  use.gpu_runs = 20;
  use.gpu_plain = 40;
  return use;
}

void write_transpose(Store& store) {
  const KernelSpec spec = KernelLibrary().load("transpose");
  const SessionRecord record = session(spec, "rows=4096,cols=4096");
  const SessionId id = store.begin_session(record);
  std::int64_t sequence = 0;
  const auto add = [&](const Trial& trial) { store.append(id, ++sequence, trial); };
  add(ok_trial(tile(32, 32, 256), 75'000));
  for (const std::int64_t rows : {16, 32, 64, 128}) {
    for (const std::int64_t cols : {16, 64, 128}) {
      for (const std::int64_t threads : {64, 512}) {
        const double off_square = std::abs(std::log2(static_cast<double>(rows) / 64)) +
                                  std::abs(std::log2(static_cast<double>(cols) / 64));
        add(ok_trial(tile(rows, cols, threads),
                     36'000 * (1 + off_square / 2) + (threads == 64 ? 1500 : 0)));
      }
    }
  }
  for (const std::int64_t bytes : {4, 8, 16}) {
    add(failed_trial({"vector", {{"vector_bytes", bytes}}}, Outcome::launch_error,
                     "entry transpose_vectr not found in the compiled module"));
  }
  BestRecord best = best_of(record, id, spec, tile(64, 64, 512));
  best.time_ns = 36'100;
  best.default_time_ns = 74'800;
  best.naive_time_ns = 210'000;
  best.bytes = 134'217'728;
  best.trials = sequence;
  best.failures = 3;
  Evidence evidence;
  evidence.finalists = {finalist(tile(32, 32, 256), 1, 74'800),
                        finalist(tile(64, 64, 64), 16, 37'400),
                        finalist(tile(64, 64, 512), 17, 36'100)};
  evidence.time_use = some_time_use();
  best.evidence = to_text(evidence);
  store.finish(id, SessionState::finished, 61.5, best);
}

void write_matmul(Store& store) {
  const KernelSpec spec = KernelLibrary().load("matmul");
  const SessionRecord record = session(spec, "m=4096,n=4096,k=4096");
  const SessionId id = store.begin_session(record);
  store.append(id, 1,
               failed_trial(long_config(64), Outcome::compile_error,
                            "line 12: identifier \"tile_q\" is undefined\nand a log"));
  store.append(id, 2, ok_trial(long_config(128), 2.9e6));
  BestRecord best = best_of(record, id, spec, long_config(128));
  best.time_ns = 2.8e6;
  best.bytes = 201'326'592;
  best.flops = 137'438'953'472;
  best.trials = 2;
  best.failures = 1;
  Evidence evidence;
  evidence.finalists = {finalist(long_config(128), 2, 2.8e6)};
  best.evidence = to_text(evidence);
  store.finish(id, SessionState::finished, 60.2, best);
}

void write_interrupted(Store& store) {
  const KernelSpec spec = KernelLibrary().load("transpose");
  const SessionId id = store.begin_session(session(spec, "rows=512,cols=512"));
  store.append(id, 1, ok_trial(tile(32, 32, 256), 5'000));
  store.append(id, 2, ok_trial(tile(16, 32, 256), 4'000));
  store.finish(id, SessionState::interrupted, 3.5, std::nullopt);
}

}  // namespace

void write_shown_sessions(const std::filesystem::path& database) {
  Store store(database, Store::Mode::write);
  write_transpose(store);
  write_matmul(store);
  write_interrupted(store);
}

}  // namespace kiln::cli
