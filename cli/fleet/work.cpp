// `kiln fleet work`: tunes jobs of the server on the devices of this host until none is left.
// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <thread>

#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/device_choice.hpp"
#include "cli/fleet/command.hpp"
#include "cli/fleet/job_text.hpp"
#include "cli/fleet/worker.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "core/started_thread.hpp"

namespace kiln::cli {
namespace {

/// The kernels built in and those of the folders that the operator names; no other one is run.
std::map<std::string, KernelSpec> allowed_specs(const KernelLibrary& library) {
  std::map<std::string, KernelSpec> specs;
  for (const std::string& name : library.names()) {
    KernelSpec spec = library.load(name);
    if (spec.command) continue;  // programs choose their own devices
    const std::string key = spec_key(spec.name, content_hash(spec));
    specs.emplace(key, std::move(spec));
  }
  return specs;
}

std::size_t fleet_compile_slots(std::size_t asked, std::size_t devices) {
  if (asked > 0) return asked;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return cores > 2 * devices ? cores - devices : cores;
}

ExitCode run_fleet_work(const WorkFlags& options) {
  std::map<std::string, KernelSpec> specs = allowed_specs(options.common.library());
  std::vector<const KernelSpec*> pointers;
  for (const auto& [key, spec] : specs) pointers.push_back(&spec);
  const std::vector<DeviceInfo> devices = choose_devices(pointers, options.device);
  Fleet fleet(options.common.database);
  const Outbox outbox(options.outbox, fleet.identity());
  FleetWork work{fleet,
                 outbox,
                 options,
                 std::move(specs),
                 StatusArea(devices.size()),
                 CompileSlots(fleet_compile_slots(options.search.compile_workers, devices.size()),
                              devices.size())};
  (void)stop_on_signals();  // before the first thread
  std::deque<FleetDevice> running;
  for (const DeviceInfo& device : devices) running.emplace_back(work, device, running.size());
  const std::size_t recovered = outbox.recover(fleet, running.front().worker());
  std::deque<std::jthread> threads;
  try {
    for (FleetDevice& device : running)
      threads.push_back(started_thread([&device] { device.run(); }));
  } catch (const Error&) {
    work.note_error(std::current_exception());
    work.stop = true;
  }
  threads.clear();

  print_shown("{} done, {} failed, {} returned", counted(work.done, "job"), work.failed.load(),
              work.returned.load());
  if (recovered > 0)
    print_shown("; {} of an earlier worker delivered",
                counted(static_cast<std::int64_t>(recovered), "result"));
  print_shown("\n");
  if (work.error && !stop_on_signals()) std::rethrow_exception(work.error);
  if (stop_on_signals()) return interrupted_exit_code();
  return work.failed > 0 ? ExitCode::failed : ExitCode::ok;
}

void add_lease_options(CLI::App& command, WorkFlags& options) {
  constexpr double kLongestLease = 86400;
  add_value(command, "--lease", options.lease_seconds, "NUMBER",
            "Seconds that a lease lasts without a renewal; four renewals are tried in them")
      ->check(positive_number(kLongestLease))
      ->capture_default_str();
  add_value(command, "--poll", options.poll_seconds, "NUMBER",
            "Seconds between two looks for a job")
      ->check(positive_number(kLongestLease))
      ->capture_default_str();
  command.add_flag("--stay", options.stay, "Wait for further jobs when none is left");
}

void add_host_options(CLI::App& command, WorkFlags& options) {
  options.search.patience = 3600;
  add_value(command, "--patience", options.search.patience, "COUNT",
            "Seconds that the server, the device or room on the disk may be missing")
      ->check(whole_number(0))
      ->capture_default_str();
  add_value(command, "--compile-workers", options.search.compile_workers, "COUNT",
            "Compiler processes (default: one a core, less one a device)")
      ->check(whole_number(1, 1024));
  command.add_flag("--quiet", options.search.quiet, "Print warnings only, no progress");
}

}  // namespace

void add_fleet_work(CLI::App& fleet, Work& work) {
  auto options = std::make_shared<WorkFlags>();
  CLI::App* command =
      fleet.add_subcommand("work", "Tune jobs on the devices of this host until none is left");
  add_server_option(*command, options->common);
  add_value(*command, "--device", options->device, "NAME",
            "all, a backend, or devices as `kiln devices` names them, with commas between")
      ->capture_default_str();
  add_value(*command, "--outbox", options->outbox, "DIR",
            "Folder for what the server has not got yet (default: kiln/outbox in the user's\n"
            "data folder)");
  add_lease_options(*command, *options);
  add_host_options(*command, *options);
  add_kernel_path_option(*command, options->common);
  command->footer(
      "Runs only the kernels built in and those under --kernel-path: a job names its kernel and\n"
      "the hash of its spec, and no text of the server is compiled. SIGTERM ends each session "
      "after\n"
      "its trial, stores it and returns the lease.");
  command->callback([options, &work] { work = [options] { return run_fleet_work(*options); }; });
}

}  // namespace kiln::cli
