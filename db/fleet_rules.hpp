// What may become of a job: the rules of leases and of the outbox, without a server and a clock.
//
// db/fleet.cpp reads a row under its lock, asks a rule, and stores what the rule made of the row.
// tests/db/fleet_simulation_test.cpp drives the same rules through crashes and lost messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln {

/// The columns of a job that the rules know.
struct JobRow {
  std::string state = "waiting";  ///< as FleetJobState::state
  std::int64_t epoch = 0;         ///< number of the newest lease
  std::int64_t deaths = 0;        ///< leases that ended without their worker
  std::int64_t lives = 1;
  double lease_left = 0;  ///< seconds by the server's clock; negative: the lease has ended
  std::string worker;
  std::string reason;
};

// Each rule returns the event for the log. Where it is empty and nothing else is said, the row is
// as before.

/// A lease that ended costs the job a life; without any left it is set aside.
[[nodiscard]] std::string_view end_lease(JobRow& job);
/// A waiting job gets a new lease for `seconds`.
[[nodiscard]] std::string_view grant_lease(JobRow& job, const std::string& worker, double seconds);
/// Renews lease `epoch`; returns whether it is the newest one. No event.
[[nodiscard]] bool renew_lease(JobRow& job, std::int64_t epoch, double seconds);
/// A new lease for the worker of lease `epoch`, which ended while the server was away, if nobody
/// took the job since. The life that it cost comes back.
[[nodiscard]] std::string_view take_back(JobRow& job, std::int64_t epoch, const std::string& worker,
                                         double seconds);
[[nodiscard]] std::string_view give_back(JobRow& job, std::int64_t epoch,
                                         const std::string& reason);
/// "late": another result came first. Not bound to a lease.
[[nodiscard]] std::string_view finish_job(JobRow& job, const std::string& worker);
/// "late": the lease is no longer the newest one, or the job has ended.
[[nodiscard]] std::string_view fail_job(JobRow& job, std::int64_t epoch, const std::string& worker,
                                        const std::string& reason);
/// Ends lease `epoch` of a dead worker now; returns whether it was the newest one. No event.
[[nodiscard]] bool bury_lease(JobRow& job, std::int64_t epoch);

/// What becomes of the outbox file that a dead worker left.
enum class Recovery {
  drop,     ///< nothing was measured: end the lease, remove the file
  deliver,  ///< its session is finished
  keep,     ///< end the lease; the session goes on when the job is leased here again
  store,    ///< the job has ended without it: store its trials, remove the file
};
/// `job_state`: of the server; empty: it has no such job.
[[nodiscard]] Recovery recovery_of(bool has_session, bool is_finished, std::string_view job_state);

}  // namespace kiln
