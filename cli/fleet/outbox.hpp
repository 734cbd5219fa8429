// Outbox: the folder where a worker tunes, a database a job. What the server has not got yet stays
// there, whatever happens to the worker or to the server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/fleet.hpp"
#include "db/store.hpp"

namespace kiln::cli {

class Outbox {
 public:
  /// Creates the folder ROOT/IDENTITY. `root` empty: kiln/outbox in the user's data folder. Throws
  /// DatabaseError.
  Outbox(const std::filesystem::path& root, const std::string& identity);

  [[nodiscard]] std::filesystem::path file_of(std::int64_t job) const;
  /// The jobs that have a file.
  [[nodiscard]] std::vector<std::int64_t> jobs() const;
  /// Removes the files of a job: closes `store`, which has its database, and keeps the writer's
  /// lock until they are gone. Without a store it takes the lock; if another worker has it, the
  /// files stay.
  void remove(std::int64_t job, std::optional<Store>& store) const;
  /// Notes beside the file of the job, whose writer calls this, under which lease it is written.
  void note_lease(const FleetLease& lease) const;
  /// "host:/folder"
  [[nodiscard]] std::string name() const;

  /// Stores what the file holds with the server and removes it: marks the job done if its session
  /// has a best, else failed. False: another result came first.
  bool deliver(Fleet& fleet, const FleetLease& lease, const FleetWorker& worker,
               std::optional<Store>& store) const;

  /// Takes up the files of workers that died: delivers finished sessions and ends the leases of
  /// unfinished ones, which go on when their job is leased here again. A file in use is left alone.
  /// Returns how many were delivered.
  std::size_t recover(Fleet& fleet, const FleetWorker& worker) const;

 private:
  bool recover_job(Fleet& fleet, std::int64_t job, const FleetWorker& worker) const;
  /// The lease that note_lease() noted; epoch 0, which no lease has, if it noted none.
  [[nodiscard]] FleetLease noted_lease(std::int64_t job) const;
  [[nodiscard]] std::filesystem::path lease_file(std::int64_t job) const;

  std::filesystem::path folder_;
};

}  // namespace kiln::cli
