// A device of paper: runs take a known time on a clock of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "tuner/checks/launch_sequence.hpp"

namespace kiln {

class PaperModule final : public Module {};

/// A cold run takes twice the time of a warm one; a fill longer than a page is a flush. The meter
/// of energy counts 100 W and moves in steps of 10 mJ.
class PaperDevice : public Device {
 public:
  PaperDevice() { info_.l2_bytes = 1 << 20; }
  const DeviceInfo& info() const override { return info_; }
  void set_cpu() { info_.is_cpu = true; }
  void become(DeviceInfo info) { info_ = std::move(info); }
  Result<Buffer> allocate(std::size_t bytes) override { return Buffer{1, bytes, 0}; }
  void release(Buffer) override {}
  Status upload(Buffer, std::size_t, std::span<const std::byte>) override { return Done{}; }
  Status download(Buffer, std::size_t, std::span<std::byte>) override { return Done{}; }
  Status copy(Buffer, std::size_t, Buffer, std::size_t, std::size_t) override { return Done{}; }
  Status fill(Buffer to, std::size_t offset, std::size_t bytes, std::uint8_t byte) override {
    if (captured_ != nullptr) {
      captured_->push_back([=, this] { return fill(to, offset, bytes, byte); });
      return Done{};
    }
    flushed_bytes = bytes;
    now_ns_ += 5000;
    cold_ = true;
    return Done{};
  }
  Result<std::unique_ptr<Module>> load(const Binary&) override {
    return std::unique_ptr<Module>(std::make_unique<PaperModule>());
  }
  Status launch(const Launch& launch) override {
    if (captured_ != nullptr) {
      captured_->push_back([=, this] { return PaperDevice::launch(launch); });
      return Done{};
    }
    now_ns_ += gap_ns;
    ++runs;
    (cold_ ? cold_runs : warm_runs) += 1;
    now_ns_ += time_of(launch) * (cold_ ? 2 : 1);
    cold_ = false;
    return Done{};
  }
  /// Nanoseconds of one warm run.
  virtual double time_of(const Launch& launch) {
    return (launch.entry == "slow" ? 10 : 1) * run_ns;
  }
  std::string graphs_unavailable() override { return ""; }
  Result<std::unique_ptr<CapturedGraph>> capture(const std::function<Status()>& work) override {
    auto graph = std::make_unique<PaperGraph>(*this);
    captured_ = &graph->work;
    const Status done = work();
    captured_ = nullptr;
    if (!done) return done.failure();
    ++graphs;
    return std::unique_ptr<CapturedGraph>(std::move(graph));
  }
  Result<EventId> record() override {
    events_.push_back(now_ns_);
    return static_cast<EventId>(events_.size() - 1);
  }
  Result<double> elapsed_ns(EventId from, EventId to) override {
    return events_.at(to) - events_.at(from);
  }
  Status synchronize() override { return Done{}; }
  void use_queue(void*) override {}
  ClockState clock_state() override { return {1980000, 3201000, 60, 500000, true, "power_cap"}; }
  std::string energy_unavailable() override { return ""; }
  std::optional<double> energy_j() override {
    return has_meter ? std::optional(std::floor(now_ns_ * 100e-9 / 0.01) * 0.01) : std::nullopt;
  }

  double run_ns = 1000;
  double gap_ns = 0;  ///< before each launch that the host makes; a graph has none
  int graphs = 0;     ///< that were captured
  bool has_meter = true;
  int runs = 0;
  int cold_runs = 0;
  int warm_runs = 0;
  std::size_t flushed_bytes = 0;

 private:
  class PaperGraph final : public CapturedGraph {
   public:
    explicit PaperGraph(PaperDevice& device) : device_(device) {}
    Status replay() override {
      const double gap_ns = std::exchange(device_.gap_ns, 0);
      for (const auto& each : work) {
        if (Status status = each(); !status) return status;
      }
      device_.gap_ns = gap_ns;
      return Done{};
    }
    std::vector<std::function<Status()>> work;

   private:
    PaperDevice& device_;
  };

  std::vector<std::function<Status()>>* captured_ = nullptr;
  DeviceInfo info_;
  double now_ns_ = 0;
  bool cold_ = false;
  std::vector<double> events_;
};

/// One step with this entry.
inline LaunchSequence paper_sequence(const std::string& entry, Module& module) {
  LaunchPlan plan;
  StepPlan step;
  step.entry = entry;
  plan.steps = {step};
  return {plan, module, [](const std::string&) -> const Buffer* { return nullptr; }};
}

}  // namespace kiln
