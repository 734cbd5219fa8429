// SPDX-License-Identifier: Apache-2.0
#include "db/server/server_merge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/hash.hpp"
#include "db/rows.hpp"
#include "db/session_copy.hpp"

namespace kiln {
namespace {

// One merge at a time for a kernel, problem and device: it compares what is there, then adds to it.
void lock_key(sql::Database& target, const DigestKey& key) {
  const std::string hash = hash128_hex(key.kernel + '\n' + key.problem + '\n' + key.device);
  sql::Statement lock(target, "SELECT pg_advisory_xact_lock(1263094863, ?::integer)");
  lock.bind(1, static_cast<std::int64_t>(std::stoll(hash.substr(0, 7), nullptr, 16)));
  (void)lock.step();
}

/// A best to store in a session of the server.
struct AddedBest {
  std::string published_at;
  sql::Database* source = nullptr;
  std::int64_t id = 0;  ///< row id in the source
  SessionId session = 0;
  DigestKey key;
  Timing timing = Timing::eager;
};

/// One merge into a server.
class ServerMerge {
 public:
  ServerMerge(sql::Database& target, MergeReport& report) : target_(target), report_(report) {}

  void run(const std::vector<MergedCopy>& copies) {
    std::set<DigestKey> keys;
    for (const MergedCopy& copy : copies) keys.insert(copy.session->key);
    for (const DigestKey& key : keys) lock_key(target_, key);  // in one order: no deadlock
    for (const DigestKey& key : keys) there_.emplace(key, read_digests(target_, key));
    for (const MergedCopy& copy : copies) add(copy);
    std::sort(bests_.begin(), bests_.end(), [](const AddedBest& a, const AddedBest& b) {
      return std::tie(a.published_at, a.session, a.id) < std::tie(b.published_at, b.session, b.id);
    });
    for (const AddedBest& best : bests_) add_best(best);
  }

 private:
  void add(const MergedCopy& copy) {
    const std::vector<SessionDigest>& there = there_.at(copy.session->key);
    bool is_apart = false;
    const SessionDigest* earlier = nullptr;
    for (const SessionDigest& one : there) {
      if (one.identity != copy.session->identity) continue;
      if (extends(one, *copy.session)) {
        ++report_.repeated;
        return;
      }
      if (!extends(*copy.session, one)) {
        is_apart = true;
      } else if (!extended_.contains(one.id)) {
        earlier = &one;
      }  // else another copy went on from it: this one, counted among the copies, stands alone
    }
    sql::Database& source = copy.source->database();
    if (earlier != nullptr) {
      extended_.insert(earlier->id);
      target_.claim_in_transaction(earlier->id);
      extend_session(source, copy.session->id, target_, earlier->id);
      note_bests(copy, earlier->id);
    } else {
      report_.apart += is_apart ? 1 : 0;
      note_bests(copy, copy_session(source, copy.session->id, target_));
    }
  }

  /// Those that the session of the server lacks.
  void note_bests(const MergedCopy& copy, SessionId to) {
    std::set<std::string> known;
    for (const BestKey& best : read_best_keys(target_, to)) known.insert(best.key);
    sql::Database& source = copy.source->database();
    for (const BestKey& best : read_best_keys(source, copy.session->id)) {
      if (known.contains(best.key)) continue;
      bests_.push_back(
          {best.published_at, &source, best.id, to, copy.session->key, copy.session->timing});
    }
  }

  // A best that is older than one of the server stays behind it.
  void add_best(const AddedBest& best) {
    BestRecord record;
    record.key.kernel = best.key.kernel;
    record.key.problem = best.key.problem;
    record.key.device = best.key.device;
    record.key.timing = best.timing;
    record.published_at = best.published_at;
    record.objective = objective_of(*best.source, best.id);
    copy_best(*best.source, best.id, target_, best.session, id_behind_newer(target_, record));
  }

  sql::Database& target_;
  MergeReport& report_;
  std::map<DigestKey, std::vector<SessionDigest>> there_;
  std::set<SessionId> extended_;  ///< sessions of the server, by this merge
  std::vector<AddedBest> bests_;
};

}  // namespace

void merge_sessions(const std::vector<MergedCopy>& copies, sql::Database& target,
                    MergeReport& report) {
  ServerMerge(target, report).run(copies);
}

MergeReport merge_into_server(const std::vector<std::unique_ptr<MergedSource>>& sources,
                              const std::filesystem::path& url) {
  prepare_place(url, Store::Mode::write);
  return naming(url, [&] {
    const ServerConnection server(url, Store::Mode::write);
    sql::Database& target = server.database();
    MergeReport report;
    report.files = sources.size() + 1;
    const std::vector<MergedCopy> copies = choose_copies(sources, report);
    sql::Transaction transaction(target, sql::Access::write);
    merge_sessions(copies, target, report);
    transaction.commit();
    return report;
  });
}

}  // namespace kiln
