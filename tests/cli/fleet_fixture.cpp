// SPDX-License-Identifier: Apache-2.0
#include "fleet_fixture.hpp"

#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "tests/backends/required.hpp"

namespace kiln::cli {

using namespace std::chrono_literals;
using test::PostgresServer;

void FleetFixture::SetUp() {
  LateFleetFixture::SetUp();
  if (!IsSkipped()) start_server();
}

void LateFleetFixture::start_server() {
  if (!PostgresServer::missing().empty())
    KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
  server_ = std::make_unique<PostgresServer>();
  url_ = server_->new_database();
  ASSERT_EQ(kiln(fmt::format("fleet init --db {}", url_)).exit_code, 0);
}

void LateFleetFixture::TearDown() {
  workers_.clear();
  server_.reset();
}

void LateFleetFixture::submit(int problems, const std::string& budget, const Words& more,
                              const Environment& environment) const {
  std::string text = "name = \"small\"\n[defaults]\n" + budget + "\n[[kernels]]\nkernel = \"" +
                     kKernel + "\"\nproblems = [";
  for (int i = 0; i < problems; ++i) text += fmt::format("\"n={}\", ", 100 + i);
  write("small.plan.toml", text + "]\n");
  Words words =
      Words(fmt::format("fleet submit small.plan.toml --db {} --warm-cache", url_)) + more;
  const Output output = kiln(words, environment);
  ASSERT_EQ(output.exit_code, 0) << output.err;
}

Words LateFleetFixture::work(std::size_t index, const Words& more) const {
  return Words({"fleet", "work", "--db", url_, "--device", "opencl", "--outbox",
                fmt::format("outbox{}", index), "--kernel-path", kKernel, "--poll", "0.2",
                "--compile-workers", "1"}) +
         more;
}

void LateFleetFixture::start_worker(std::size_t index, const Words& more) {
  if (workers_.size() <= index) workers_.resize(index + 1);
  workers_[index] = std::make_unique<RunningKiln>(folder_, work(index, more));
}

Json LateFleetFixture::status() const {
  const Output output = kiln(fmt::format("fleet status --db {} --json", url_));
  return output.exit_code == 0 ? Json::parse(output.out) : Json();
}

std::int64_t LateFleetFixture::count(const std::string& state) const {
  const Json now = status();
  return now.is_null() ? -1 : now["counts"][state].get<std::int64_t>();
}

bool LateFleetFixture::wait_for(const std::string& state, std::int64_t jobs,
                                std::chrono::seconds longest) const {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (std::chrono::steady_clock::now() < until) {
    if (count(state) >= jobs) return true;
    std::this_thread::sleep_for(100ms);
  }
  return false;
}

std::map<std::int64_t, std::map<std::string, int>> LateFleetFixture::lease_log() const {
  std::map<std::int64_t, std::map<std::string, int>> log;
  std::istringstream stream(
      server_->rows(PostgresServer::database_of(url_),
                    "SELECT job, replace(event, ' ', '_') FROM kiln.lease_log ORDER BY id"));
  std::int64_t job = 0;
  for (std::string event; stream >> job >> event;) ++log[job][event];
  return log;
}

void LateFleetFixture::expect_each_once(int problems) const {
  const Store store(url_, Store::Mode::read);
  std::map<std::string, int> published;
  for (const SessionRecord& session : store.sessions()) {
    if (store.best_of(session.id)) ++published[session.key.problem];
  }
  EXPECT_EQ(published.size(), static_cast<std::size_t>(problems));
  for (const auto& [problem, times] : published) EXPECT_EQ(times, 1) << problem;
  EXPECT_THAT(store.check(), ::testing::IsEmpty());
  for (auto& [job, events] : lease_log()) {
    std::map<std::string, int> seen = events;
    EXPECT_EQ(seen["done"], 1) << "job " << job;
    const int begun = seen["leased"] + seen["taken_back"];
    EXPECT_GE(begun, 1) << "job " << job;
    EXPECT_LE(seen["ended"] + seen["returned"], begun) << "job " << job;
    EXPECT_EQ(seen["failed"] + seen["set_aside"], 0) << "job " << job;
  }
}

}  // namespace kiln::cli
