// Fleet: problems of plans as rows of a PostgreSQL server, and the leases of the workers that tune
// them. docs/fleet.md states the rules.
//
// A job is one problem. A worker leases it for a while by the server's clock and renews the lease
// while it works. A lease that ends returns the job. Results are whole sessions, merged by content:
// delivering one twice changes nothing, and the first result of a job counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// A problem to tune, as it is submitted.
struct FleetJob {
  std::string kernel;     ///< name of the spec
  std::string spec_hash;  ///< content_hash() of the spec; a worker needs a spec with equal content
  std::string problem;    ///< Problem::text()
  std::string device;     ///< first parts of an identity, "cuda/nvidia"; empty: any device
  std::string settings;   ///< SearchSettings as JSON
  double weight = 0;      ///< jobs of more weight are leased first
};

/// One device of a worker process.
struct FleetWorker {
  std::string name;    ///< "host:pid"
  std::string device;  ///< "cuda:3": equal cards are told apart
  std::string outbox;  ///< "host:/folder"
};

struct FleetLease {
  std::int64_t job = 0;
  std::int64_t epoch = 0;  ///< number of this lease of the job
  FleetJob work;
};

/// What a worker can run.
struct FleetOffer {
  std::vector<std::string> specs;    ///< "NAME HASH" of the kernels that its operator allows
  std::vector<std::string> devices;  ///< every beginning of the device's identity, and ""
};

/// The answer to a worker that renews its lease.
enum class LeaseState {
  held,
  taken_back,  ///< it had ended, nobody else had the job: it is leased again, with a new epoch
  lost,        ///< another worker has the job, or it is done, cancelled or set aside
};

struct FleetJobState {
  std::int64_t job = 0;
  std::string plan;
  std::string kernel;
  std::string problem;
  std::string device;
  std::string state;  ///< waiting, leased, done, failed, cancelled, aside
  std::string worker;
  std::string place;  ///< the worker's device
  std::string reason;
  std::string result;  ///< JSON; empty: none
  std::int64_t trials = 0;
  std::int64_t deaths = 0;
  double seconds = 0;     ///< since the lease began; how long the last one took
  double lease_left = 0;  ///< seconds
};

class Fleet {
 public:
  /// Creates missing tables of sessions and of the fleet, and the roles kiln_submit and kiln_work
  /// with their rights. The caller's role must be allowed to do so. Throws as Store.
  static void init(const std::filesystem::path& url);

  /// Connects. Throws as Store; DatabaseError if the server has no fleet. A connection that is lost
  /// is made anew by the next call. Several threads may call; one call runs at a time.
  explicit Fleet(const std::filesystem::path& url);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// A text that no other fleet has.
  [[nodiscard]] std::string identity();

  /// Stores a plan with its jobs, all or none; returns its number. `lives`: a job is set aside once
  /// this many of its leases ended without their worker.
  std::int64_t submit(const std::string& plan, const std::vector<FleetJob>& jobs, int lives);
  /// Cancels the unfinished jobs of a plan; 0: of every plan. Returns their number. This and the
  /// next two functions throw InputError if there is no such plan.
  std::int64_t cancel(std::int64_t plan);
  /// Failed, cancelled and set aside jobs wait again, with all their lives. Returns how many.
  std::int64_t retry(std::int64_t plan);
  [[nodiscard]] std::vector<FleetJobState> jobs(std::int64_t plan);

  /// Ends expired leases, then leases the waiting job of most weight for `seconds`. nullopt: no job
  /// waits.
  [[nodiscard]] std::optional<FleetLease> lease(const FleetWorker& worker, const FleetOffer& offer,
                                                double seconds);
  /// Returns whether jobs for this worker wait, or are leased and may come back.
  [[nodiscard]] bool has_work(const FleetOffer& offer);
  /// Renews the lease for `seconds` from now. Writes a new epoch into `lease` if it is taken back.
  [[nodiscard]] LeaseState renew(FleetLease& lease, const FleetWorker& worker, std::int64_t trials,
                                 double seconds);
  /// Returns the lease: the job waits again at once and loses no life. Stores its trials from
  /// `file`.
  void give_back(const FleetLease& lease, const FleetWorker& worker,
                 const std::filesystem::path& file, const std::string& reason);
  /// Stores the sessions of `file` and marks the job done, in one transaction. False: another
  /// result came first, and nothing was stored. Not bound to a lease: a worker may be late.
  [[nodiscard]] bool finish(std::int64_t job, const FleetWorker& worker,
                            const std::filesystem::path& file, const std::string& result);
  /// Marks the job failed if the lease is still its newest one: another worker's job is not ours to
  /// end. What `file` holds is stored in any case; empty: no file.
  void fail(const FleetLease& lease, const FleetWorker& worker, const std::filesystem::path& file,
            const std::string& reason);
  /// Ends the lease of a dead worker at once, if it is still the job's newest one: the caller holds
  /// the lock on its outbox file.
  void bury(const FleetLease& lease);
  /// Empty: there is no such job.
  [[nodiscard]] std::string state_of(std::int64_t job);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
