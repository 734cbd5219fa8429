// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/device_choice.hpp"
#include "cli/fleet/job_text.hpp"
#include "cli/interrupt.hpp"
#include "core/errors.hpp"
#include "core/problem.hpp"
#include "core/transient_error.hpp"
#include "tuner/session/patience.hpp"

namespace kiln::cli {
namespace {

std::string process_name() {
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}:{}", host.data(), ::getpid());
}

/// The line of a session, which also tells the keeper how far it is.
class FleetLine final : public ProgressLine {
 public:
  FleetLine(const std::string& title, const Budget& budget, Mode mode, FleetWork& work,
            std::size_t row, LeaseKeeper& keeper)
      : ProgressLine(title, budget, mode, work.area, row), keeper_(keeper) {}

  void on_trial(const TrialRecord& record, const SessionProgress& progress) override {
    keeper_.note_trials(progress.trials);
    ProgressLine::on_trial(record, progress);
  }

 private:
  LeaseKeeper& keeper_;
};

}  // namespace

FleetDevice::FleetDevice(FleetWork& work, DeviceInfo device, std::size_t row)
    : work_(work), device_(std::move(device)), row_(row) {
  worker_ = {process_name(), selector_of(device_), work_.outbox.name()};
  for (const auto& [key, spec] : work_.specs) offer_.specs.push_back(key);
  offer_.devices = beginnings_of(identity_of(device_));
}

void FleetDevice::run() noexcept {
  try {
    work_off();
  } catch (...) {
    work_.note_error(std::current_exception());
  }
}

void FleetDevice::work_off() {
  while (!stop_on_signals() && !work_.stop) {
    std::optional<FleetLease> lease;
    bool goes_on = true;
    patiently([&] {
      lease = work_.fleet.lease(worker_, offer_, work_.options.lease_seconds);
      goes_on = lease || work_.options.stay || work_.fleet.has_work(offer_);
    });
    if (!goes_on) return;
    if (lease) {
      run_job(*lease);
    } else {
      pause(work_.options.poll_seconds);
    }
  }
}

void FleetDevice::run_job(const FleetLease& lease) {
  LeaseKeeper keeper(work_.fleet, lease, worker_, work_.options.lease_seconds,
                     [this](const std::string& message) { warn(message); });
  Attempt attempt;
  // Stays open until the job is ended: while its writer's lock is held, another worker of this host
  // does not deliver what it finds in the outbox.
  std::optional<Store> store;
  try {
    attempt = tune_job(lease, keeper, store);
  } catch (const TransientError& error) {  // the device, or the disk, stayed away
    keeper.end();
    end_job(keeper.lease(), {Ending::interrupted, error.reason()}, store);
    throw;
  } catch (const DatabaseError& error) {  // another worker of this host has its file
    attempt = {Ending::interrupted, error.what()};
    warn(error.what());
    pause(work_.options.poll_seconds);
  } catch (const Error& error) {
    attempt = {Ending::failed, error.what()};
  } catch (const std::exception& error) {
    attempt = {Ending::failed, fmt::format("defect of Kiln: {}", error.what())};
  }
  keeper.end();
  end_job(keeper.lease(), attempt, store);
}

TuneOptions FleetDevice::options_of(const SearchOptions& search, const LeaseKeeper& keeper) {
  TuneOptions tune = tune_options(search, search.settings);
  tune.stop = &keeper.stop();
  tune.compile_slots = &work_.slots;
  tune.same_card = true;
  return tune;
}

FleetDevice::Attempt FleetDevice::tune_job(const FleetLease& lease, LeaseKeeper& keeper,
                                           std::optional<Store>& store) {
  const KernelSpec& spec = work_.specs.at(spec_key(lease.work.kernel, lease.work.spec_hash));
  const Problem problem = Problem::parse(spec, lease.work.problem);
  SearchOptions search = work_.options.search;
  read_settings(lease.work.settings, search);
  check_names(search.settings, spec);
  const TuneOptions tune_with = options_of(search, keeper);
  FleetLine line(fmt::format("[job {}] {} {} {}", lease.job, worker_.device, spec.name,
                             problem.short_text(spec)),
                 tune_with.budget,
                 search.quiet ? ProgressLine::Mode::quiet : ProgressLine::suited_mode(), work_,
                 row_, keeper);
  store.emplace(work_.outbox.file_of(lease.job), Store::Mode::write);
  work_.outbox.note_lease(lease);
  const SessionResult result =
      tune_patiently({spec, problem, device_.backend, device_.ordinal, tune_with}, *store, line,
                     patience_of(search));
  if (result.end != SessionEnd::interrupted) return {};
  return {Ending::interrupted, keeper.is_lost() ? "the lease was lost" : "the worker was stopped"};
}

void FleetDevice::end_job(const FleetLease& lease, const Attempt& attempt,
                          std::optional<Store>& store) {
  const std::filesystem::path file = work_.outbox.file_of(lease.job);
  std::error_code error;
  const bool has_file = std::filesystem::exists(file, error);
  const auto deliver = [&] {
    switch (attempt.ending) {
      case Ending::answered:
        if (work_.outbox.deliver(work_.fleet, lease, worker_, store)) ++work_.done;
        return;
      case Ending::failed:
        work_.fleet.fail(lease, worker_, has_file ? file : std::filesystem::path(), attempt.reason);
        if (has_file) work_.outbox.remove(lease.job, store);
        ++work_.failed;
        return;
      case Ending::interrupted:  // the file stays: the job may come back to this host
        work_.fleet.give_back(lease, worker_, has_file ? file : std::filesystem::path(),
                              attempt.reason);
        ++work_.returned;
        return;
    }
  };
  try {
    if (attempt.ending == Ending::interrupted) {
      deliver();  // a worker that has to go does not wait for the server
    } else {
      patiently(deliver);
    }
  } catch (const TransientError& reason) {
    warn(
        fmt::format("{}; the measurements are kept in {}, and the next `kiln fleet work` on this "
                    "host delivers it",
                    reason.what(), file.string()));
    if (attempt.ending != Ending::interrupted) throw;
  }
}

void FleetDevice::patiently(const std::function<void()>& ask) {
  const Patience patience = patience_of(work_.options.search);
  const auto since = std::chrono::steady_clock::now();
  std::chrono::milliseconds wait = patience.first_pause;
  bool is_warned = false;
  while (true) {
    try {
      ask();
      if (is_warned) warn("the server is back");
      return;
    } catch (const TransientError& error) {
      const auto waited = std::chrono::steady_clock::now() - since;
      if (waited >= patience.longest || stop_on_signals()) throw;
      if (!std::exchange(is_warned, true)) {
        warn(fmt::format("{}; waiting, {:.0f} s at most", error.what(),
                         std::chrono::duration<double>(patience.longest).count()));
      }
      pause(std::chrono::duration<double>(wait).count());
      wait = std::min(2 * wait, patience.longest_pause);
    }
  }
}

void FleetDevice::pause(double seconds) const {
  constexpr std::chrono::milliseconds kGlance{50};
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!stop_on_signals() && !work_.stop && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kGlance);
}

void FleetDevice::warn(const std::string& message) {
  work_.area.print(fmt::format("kiln: warning: {}\n", message));
}

}  // namespace kiln::cli
