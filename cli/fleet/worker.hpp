// The work of `kiln fleet work`: a thread a device leases jobs, tunes each in the outbox and
// delivers it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/fleet/lease_keeper.hpp"
#include "cli/fleet/outbox.hpp"
#include "cli/progress.hpp"
#include "cli/search_options.hpp"
#include "cli/status_area.hpp"
#include "core/device.hpp"
#include "core/spec.hpp"
#include "db/fleet.hpp"
#include "db/store.hpp"
#include "tuner/workers/compile_slots.hpp"

namespace kiln::cli {

struct WorkFlags {
  CommonOptions common;
  SearchOptions search;  ///< of this host: patience, compilers, quiet
  std::string device = "all";
  std::filesystem::path outbox;
  double lease_seconds = 120;
  double poll_seconds = 5;
  bool stay = false;  ///< wait for jobs when none is left
};

/// What all devices of a worker share.
struct FleetWork {
  Fleet& fleet;
  const Outbox& outbox;
  const WorkFlags& options;
  std::map<std::string, KernelSpec> specs;  ///< by spec_key(): what the operator allows
  StatusArea area;
  CompileSlots slots;
  std::atomic<std::int64_t> done = 0;      ///< jobs
  std::atomic<std::int64_t> failed = 0;    ///< jobs
  std::atomic<std::int64_t> returned = 0;  ///< leases
  std::mutex mutex = {};                   ///< of `error`
  std::exception_ptr error = {};           ///< the first that ended a device's work
  std::atomic<bool> stop = false;          ///< ends the work of all devices

  void note_error(std::exception_ptr first) {
    const std::scoped_lock lock(mutex);
    if (!error) error = std::move(first);
  }
};

/// One device of the worker; run() is called in a thread of its own.
class FleetDevice {
 public:
  FleetDevice(FleetWork& work, DeviceInfo device, std::size_t row);

  /// Until no job is left, a signal comes or the server stays away. Throws nothing: an error that
  /// ends the work is noted there.
  void run() noexcept;

  [[nodiscard]] const FleetWorker& worker() const { return worker_; }

 private:
  enum class Ending { answered, interrupted, failed };
  struct Attempt {
    Ending ending = Ending::answered;
    std::string reason;  ///< of a failure, or of a return
  };

  void work_off();
  void run_job(const FleetLease& lease);
  /// Opens the job's file as `store`.
  [[nodiscard]] Attempt tune_job(const FleetLease& lease, LeaseKeeper& keeper,
                                 std::optional<Store>& store);
  [[nodiscard]] TuneOptions options_of(const SearchOptions& search, const LeaseKeeper& keeper);
  /// Delivers, or keeps, what `store` holds; empty: the job's file was not opened.
  void end_job(const FleetLease& lease, const Attempt& attempt, std::optional<Store>& store);
  /// Calls `ask` again while the server is away and nothing stops the worker. Throws the last error
  /// after the patience is over.
  void patiently(const std::function<void()>& ask);
  void pause(double seconds) const;
  void warn(const std::string& message);

  FleetWork& work_;
  DeviceInfo device_;
  std::size_t row_;
  FleetWorker worker_;
  FleetOffer offer_;
};

}  // namespace kiln::cli
