// The outbox of a fleet's workers: several workers of a host share one, and none takes from
// another.
// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/outbox.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/writer_lock.hpp"
#include "tests/db/store_places.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using test::PostgresServer;
using test::some_session;
using test::some_trial;

TEST(Outbox, RemovesTheFilesOfAJobOnlyForTheirWriter) {
  const test::ScratchFolder folder;
  const Outbox outbox(folder / "out", "id");
  const fs::path file = outbox.file_of(7);
  std::optional<Store> writer;
  writer.emplace(file, Store::Mode::write);
  const SessionId session = writer->begin_session(some_session("n=1"));
  writer->append(session, 1, some_trial(1));
  std::optional<Store> none;
  outbox.remove(7, none);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_THROW(const WriterLock second(file), DatabaseBusyError);
  writer->append(session, 2, some_trial(2));
  EXPECT_EQ(Store(file, Store::Mode::read).trials(session).size(), 2U);

  outbox.remove(7, writer);
  EXPECT_FALSE(writer);
  EXPECT_TRUE(fs::is_empty(file.parent_path()));
}

TEST(Outbox, StaysInItsFolderWhateverTheServerCallsItself) {
  const test::ScratchFolder folder;
  for (const std::string& name :
       {std::string("../../evil"), std::string("/evil"), std::string(".."), std::string(),
        std::string("a/b"), std::string(300, 'x')}) {
    const fs::path file = Outbox(folder / "out", name).file_of(1);
    EXPECT_EQ(file.parent_path().parent_path(), fs::absolute(folder / "out")) << name;
    EXPECT_NE(file.parent_path().filename(), "..") << name;
  }
  EXPECT_EQ(Outbox(folder / "out", "id").file_of(1), fs::absolute(folder / "out/id/job-1.db"));
}

class FleetOutbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::missing().empty())
      KILN_SKIP_UNLESS_REQUIRED("postgres", PostgresServer::missing());
    url_ = PostgresServer::shared().new_database();
    Fleet::init(url_);
  }

  /// As a worker leaves it that was stopped, or died, after a trial.
  void interrupt(const Outbox& outbox, const FleetLease& lease) const {
    Store store(outbox.file_of(lease.job), Store::Mode::write);
    outbox.note_lease(lease);
    const SessionId session = store.begin_session(some_session("n=1"));
    store.append(session, 1, some_trial(1));
    store.finish(session, SessionState::interrupted, 1, std::nullopt);
  }

  test::ScratchFolder folder_;
  std::string url_;
};

TEST_F(FleetOutbox, AWorkerThatStartsEndsTheLeaseOfADeadOneAndNoOther) {
  const Outbox outbox(folder_ / "out", "id");
  const FleetOffer offer = {{"scale aa"}, {""}};
  const FleetWorker first = {"host:1", "cuda:0", outbox.name()};
  const FleetWorker second = {"host:2", "cuda:1", outbox.name()};
  Fleet fleet(url_);
  fleet.submit("plan", {FleetJob{"scale", "aa", "n=1", "", "{}", 1.0}}, 3);
  const FleetLease dead = *fleet.lease(first, offer, 600);
  interrupt(outbox, dead);
  EXPECT_EQ(outbox.recover(fleet, second), 0U);
  EXPECT_EQ(fleet.state_of(dead.job), "waiting");

  // Leased anew; its worker has not yet opened the file when another one starts.
  FleetLease live = *fleet.lease(first, offer, 600);
  EXPECT_EQ(outbox.recover(fleet, second), 0U);
  EXPECT_EQ(fleet.renew(live, first, 1, 600), LeaseState::held);
}

}  // namespace
}  // namespace kiln::cli
