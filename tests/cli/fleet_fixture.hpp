// What tests of a fleet share: a server with a fleet, plans of a small kernel, and workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln_program.hpp"
#include "tests/support/postgres_server.hpp"

namespace kiln::cli {

/// A fleet whose server starts when the test asks for it.
class LateFleetFixture : public TuningTest {
 protected:
  static constexpr const char* kKernel = KILN_SOURCE_DIR "/tests/cli/kernels/scale";

  void TearDown() override;

  /// Skips the test where there is no PostgreSQL.
  void start_server();

  /// Submits a plan of the problems n=100, n=101, ...; `budget` is a line of its defaults.
  void submit(int problems, const std::string& budget, const Words& more = {},
              const Environment& environment = {}) const;
  /// Worker `index` has an outbox of its own, as a host has.
  [[nodiscard]] Words work(std::size_t index, const Words& more = {}) const;
  void start_worker(std::size_t index, const Words& more = {});

  [[nodiscard]] Json status() const;
  /// How many jobs have this state; -1: the server does not answer.
  [[nodiscard]] std::int64_t count(const std::string& state) const;
  [[nodiscard]] bool wait_for(const std::string& state, std::int64_t jobs,
                              std::chrono::seconds longest = std::chrono::seconds(120)) const;
  /// By job: how often each event of the log of leases occurred.
  [[nodiscard]] std::map<std::int64_t, std::map<std::string, int>> lease_log() const;
  /// Expects that every problem has one best, and every lease one end.
  void expect_each_once(int problems) const;

  std::unique_ptr<test::PostgresServer> server_;
  std::string url_;
  std::vector<std::unique_ptr<RunningKiln>> workers_;
};

/// With a server from the start.
class FleetFixture : public LateFleetFixture {
 protected:
  void SetUp() override;
};

}  // namespace kiln::cli
