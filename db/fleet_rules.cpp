// SPDX-License-Identifier: Apache-2.0
#include "db/fleet_rules.hpp"

#include <algorithm>

namespace kiln {
namespace {

bool is_leased(const JobRow& job, std::int64_t epoch) {
  return job.state == "leased" && job.epoch == epoch;
}

void start_lease(JobRow& job, const std::string& worker, double seconds) {
  job.state = "leased";
  ++job.epoch;
  job.worker = worker;
  job.lease_left = seconds;
}

}  // namespace

std::string_view end_lease(JobRow& job) {
  if (job.state != "leased" || job.lease_left >= 0) return "";
  ++job.deaths;
  job.state = job.deaths >= job.lives ? "aside" : "waiting";
  if (job.state == "waiting") return "ended";
  job.reason = "its lease ended " + std::to_string(job.lives) +
               " times without its worker, the last time with " + job.worker;
  return "set aside";
}

std::string_view grant_lease(JobRow& job, const std::string& worker, double seconds) {
  if (job.state != "waiting") return "";
  start_lease(job, worker, seconds);
  return "leased";
}

bool renew_lease(JobRow& job, std::int64_t epoch, double seconds) {
  if (!is_leased(job, epoch)) return false;
  job.lease_left = seconds;
  return true;
}

std::string_view take_back(JobRow& job, std::int64_t epoch, const std::string& worker,
                           double seconds) {
  if (job.state != "waiting" || job.epoch != epoch) return "";
  start_lease(job, worker, seconds);
  job.deaths = std::max<std::int64_t>(job.deaths - 1, 0);
  return "taken back";
}

std::string_view give_back(JobRow& job, std::int64_t epoch, const std::string& reason) {
  if (!is_leased(job, epoch)) return "";
  job.state = "waiting";
  job.reason = reason;
  return "returned";
}

std::string_view finish_job(JobRow& job, const std::string& worker) {
  if (job.state == "done") return "late";
  job.state = "done";
  job.worker = worker;
  job.reason.clear();
  return "done";
}

std::string_view fail_job(JobRow& job, std::int64_t epoch, const std::string& worker,
                          const std::string& reason) {
  if (job.epoch != epoch || (job.state != "leased" && job.state != "waiting")) return "late";
  job.state = "failed";
  job.worker = worker;
  job.reason = reason;
  return "failed";
}

bool bury_lease(JobRow& job, std::int64_t epoch) {
  if (!is_leased(job, epoch)) return false;
  job.lease_left = -1;
  return true;
}

Recovery recovery_of(bool has_session, bool is_finished, std::string_view job_state) {
  if (!has_session) return Recovery::drop;
  if (is_finished) return Recovery::deliver;
  return job_state == "waiting" || job_state == "leased" ? Recovery::keep : Recovery::store;
}

}  // namespace kiln
