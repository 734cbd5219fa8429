// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/lease_keeper.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "core/errors.hpp"
#include "core/started_thread.hpp"

namespace kiln::cli {
namespace {

using LeaseClock = std::chrono::steady_clock;

// So that three renewals may fail before the lease ends.
constexpr double kRenewalsPerLease = 4;
constexpr std::chrono::milliseconds kSignalGlance{100};

}  // namespace

LeaseKeeper::LeaseKeeper(Fleet& fleet, FleetLease lease, const FleetWorker& worker,
                         double lease_seconds, std::function<void(const std::string&)> warn)
    : fleet_(fleet),
      lease_(std::move(lease)),
      worker_(worker),
      lease_seconds_(lease_seconds),
      warn_(std::move(warn)),
      thread_(started_thread([this] { run(); })) {}

LeaseKeeper::~LeaseKeeper() { end(); }

void LeaseKeeper::end() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LeaseKeeper::run() {
  const auto period = std::chrono::duration_cast<LeaseClock::duration>(
      std::chrono::duration<double>(lease_seconds_ / kRenewalsPerLease));
  LeaseClock::time_point next = LeaseClock::now() + period;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kSignalGlance, [this] { return ended_; })) {
    if (stop_on_signals()) stop_ = true;
    if (is_lost_ || LeaseClock::now() < next) continue;
    lock.unlock();
    renew();
    lock.lock();
    next = LeaseClock::now() + period;
  }
}

void LeaseKeeper::renew() {
  try {
    const LeaseState state = fleet_.renew(lease_, worker_, trials_, lease_seconds_);
    if (std::exchange(is_away_, false)) warn_("the server is back; the lease is renewed");
    if (state != LeaseState::lost) return;
    is_lost_ = true;
    stop_ = true;
  } catch (const Error& error) {
    if (!std::exchange(is_away_, true))
      warn_(fmt::format("{}; the session goes on without it", error.what()));
  }
}

}  // namespace kiln::cli
