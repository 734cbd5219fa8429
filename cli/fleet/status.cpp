// `kiln fleet status`: what is done, what runs where, what failed and why, how long it may take.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/fleet/command.hpp"
#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/units.hpp"
#include "core/json.hpp"
#include "db/fleet.hpp"

namespace kiln::cli {
namespace {

constexpr std::array kJobStates = {"waiting", "leased", "done", "failed", "aside", "cancelled"};

struct FleetStatusFlags {
  CommonOptions common;
  std::int64_t plan = 0;
};

struct FleetStatus {
  std::vector<FleetJobState> jobs;
  std::map<std::string, std::int64_t> counts;  ///< by state
  std::optional<double> seconds_left;          ///< at the pace so far; empty: nothing runs
};

/// What is left at the mean length of the done jobs, by as many devices as work now.
std::optional<double> seconds_left(const FleetStatus& status) {
  const auto count = [&](const char* state) {
    const auto found = status.counts.find(state);
    return found == status.counts.end() ? std::int64_t{0} : found->second;
  };
  if (count("done") == 0 || count("leased") == 0) return std::nullopt;
  double done_seconds = 0;
  double running_seconds = 0;
  for (const FleetJobState& job : status.jobs) {
    if (job.state == "done") done_seconds += job.seconds;
    if (job.state == "leased") running_seconds += job.seconds;
  }
  const double mean = done_seconds / static_cast<double>(count("done"));
  const double work = mean * static_cast<double>(count("waiting") + count("leased"));
  return std::max(0.0, work - running_seconds) / static_cast<double>(count("leased"));
}

FleetStatus read_status(const FleetStatusFlags& options) {
  FleetStatus status;
  status.jobs = Fleet(options.common.database).jobs(options.plan);
  for (const FleetJobState& job : status.jobs) ++status.counts[job.state];
  status.seconds_left = seconds_left(status);
  return status;
}

Json job_json(const FleetJobState& job) {
  Json json = {{"job", job.job},         {"plan", job.plan},       {"kernel", job.kernel},
               {"problem", job.problem}, {"device", job.device},   {"state", job.state},
               {"worker", job.worker},   {"place", job.place},     {"trials", job.trials},
               {"deaths", job.deaths},   {"seconds", job.seconds}, {"reason", job.reason}};
  if (job.state == "leased") json["lease_left_s"] = job.lease_left;
  // A row may come from another program.
  if (Json result = Json::parse(job.result, nullptr, false); result.is_object())
    json["result"] = std::move(result);
  return json;
}

Json status_json(const FleetStatus& status) {
  Json counts = Json::object();
  for (const char* state : kJobStates) {
    const auto found = status.counts.find(state);
    counts[state] = found == status.counts.end() ? 0 : found->second;
  }
  Json jobs = Json::array();
  for (const FleetJobState& job : status.jobs) jobs.push_back(job_json(job));
  return {{"jobs", std::move(jobs)},
          {"counts", std::move(counts)},
          {"seconds_left", status.seconds_left ? Json(*status.seconds_left) : Json()}};
}

/// Jobs that run, and those that need somebody; the others are a number.
std::string status_table(const FleetStatus& status, const Screen& screen) {
  Table table({{"job", Table::Align::right},
               {"kernel"},
               {"problem"},
               {"state"},
               {"where"},
               {"trials", Table::Align::right},
               {"seconds", Table::Align::right}});
  for (const FleetJobState& job : status.jobs) {
    const bool is_shown = job.state == "leased" || job.state == "failed" || job.state == "aside";
    if (!is_shown) continue;
    std::vector<std::string> notes;
    if (!job.reason.empty()) notes.push_back(first_line(job.reason));
    table.add_row({std::to_string(job.job), job.kernel, job.problem, job.state,
                   fmt::format("{} {}", job.worker, job.place), std::to_string(job.trials),
                   fmt::format("{:.0f}", job.seconds)},
                  std::move(notes));
  }
  return table.empty() ? "" : table.text(screen.width) + '\n';
}

ExitCode run_fleet_status(const FleetStatusFlags& options) {
  const FleetStatus status = read_status(options);
  if (options.common.json) {
    print_shown("{}", json_output(status_json(status)));
    return ExitCode::ok;
  }
  print_shown("{}", status_table(status, screen_of(STDOUT_FILENO)));
  print_shown("{}:", counted(static_cast<std::int64_t>(status.jobs.size()), "job"));
  bool is_first = true;
  for (const char* state : kJobStates) {
    const auto found = status.counts.find(state);
    if (found == status.counts.end()) continue;
    print_shown("{} {} {}", is_first ? "" : ",", found->second, state);
    is_first = false;
  }
  print_shown("{}\n", is_first ? " none" : "");
  if (status.seconds_left)
    print_shown("about {:.0f} s left at the pace so far\n", *status.seconds_left);
  return ExitCode::ok;
}

}  // namespace

void add_fleet_status(CLI::App& fleet, Work& work) {
  auto options = std::make_shared<FleetStatusFlags>();
  CLI::App* command =
      fleet.add_subcommand("status", "What is done, what runs where, what failed and why");
  add_server_option(*command, options->common);
  add_plan_option(*command, options->plan);
  add_json_option(*command, options->common);
  command->callback([options, &work] { work = [options] { return run_fleet_status(*options); }; });
}

}  // namespace kiln::cli
