// The public classes: handles over State, with every exception turned into an Expected at this
// border.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <exception>
#include <new>

#include <kiln/launcher.hpp>

#include "core/errors.hpp"
#include "launcher/src/launcher_state.hpp"

namespace kiln {
namespace {

LaunchErrorCode code_of(const Error& error) {
  switch (error.code()) {
    case ExitCode::bad_input:
      return LaunchErrorCode::unknown_kernel;
    case ExitCode::no_device:
      return LaunchErrorCode::no_device;
    case ExitCode::usage:
      return LaunchErrorCode::bad_option;
    default:
      return LaunchErrorCode::internal;
  }
}

// Runs `work`, which gives an Expected; nothing gets past it.
template <typename Work>
auto guarded(Work&& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    return LaunchError{code_of(error), error.what()};
  } catch (const std::bad_alloc&) {
    return LaunchError{LaunchErrorCode::internal, "out of memory"};  // short: allocates nothing
  } catch (const std::exception& error) {
    return LaunchError{LaunchErrorCode::internal, error.what()};
  } catch (...) {
    return LaunchError{LaunchErrorCode::internal, "unknown error"};
  }
}

}  // namespace

Expected<Launcher> Launcher::open(const Options& options) noexcept {
  return guarded(
      [&]() -> Expected<Launcher> { return Launcher(std::make_shared<State>(options)); });
}

const std::vector<Launcher::Warning>& Launcher::warnings() const noexcept {
  return state_->warnings;
}

const std::string& Launcher::device() const noexcept { return state_->runtime->device_text(); }

Expected<Launcher::MatchHandle> Launcher::select(std::string_view kernel,
                                                 std::string_view problem) const noexcept {
  return guarded([&] { return state_->select(kernel, problem); });
}

Expected<Launcher::Kernel> Launcher::prepare(std::string_view kernel,
                                             std::string_view problem) const noexcept {
  return guarded([&] { return state_->prepare(kernel, problem); });
}

Expected<void> Launcher::forget_queue(void* queue) const noexcept {
  return guarded([&] { return state_->forget_queue(queue); });
}

Expected<Launcher::Tuning> Launcher::tuning() const noexcept {
  return guarded([&]() -> Expected<Tuning> { return state_->tuner().state(); });
}

Expected<Launcher::Statistics> Launcher::statistics() const noexcept {
  return guarded([&]() -> Expected<Statistics> { return state_->counts(); });
}

Expected<bool> Launcher::wait_for_tuning(double seconds) const noexcept {
  return guarded([&]() -> Expected<bool> {
    if (std::isnan(seconds)) {
      return LaunchError{LaunchErrorCode::bad_argument,
                         "wait_for_tuning: the seconds are not a number"};
    }
    return state_->tuner().wait(seconds);
  });
}

Expected<void> Launcher::Kernel::launch(void* queue, const LaunchArgument* arguments,
                                        std::size_t count) const noexcept {
  return guarded([&] { return state_->launch(queue, {arguments, count}); });
}

const Launcher::Match& Launcher::Kernel::captured_match() const noexcept {
  return state_->race && !state_->captured ? match() : state_->captured_match;
}

const Launcher::Match& Launcher::Kernel::match() const noexcept { return state_->running().match; }

bool Launcher::Kernel::is_settling() const noexcept {
  return state_->race && !state_->race->ended();
}

const std::string& Launcher::Kernel::problem() const noexcept { return state_->problem; }

Expected<void> Launcher::Kernel::prepare_queue(void* queue) const noexcept {
  return guarded([&]() -> Expected<void> {
    Expected<void> prepared =
        state_->race ? state_->race->prepare_queue(queue) : state_->kernel->prepare_queue(queue);
    if (!prepared || !state_->captured) return prepared;
    return state_->captured->prepare_queue(queue);
  });
}

bool Launcher::Kernel::from_cache() const noexcept {
  return state_->running().kernel->from_cache() &&
         (!state_->captured || state_->captured->from_cache());
}

const std::vector<Launcher::Kernel::Requirement>& Launcher::Kernel::arguments() const noexcept {
  return state_->arguments;
}

const std::vector<Launcher::Kernel::Requirement>& Launcher::Kernel::workspaces() const noexcept {
  return state_->workspaces;
}

}  // namespace kiln
