// NvmlDevice: the clocks, temperature, power and energy of an NVIDIA GPU, and the reasons for a
// limited clock. They come from NVML, if it is installed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "backends/backend.hpp"

namespace kiln {

/// One GPU, found by its PCI bus id ("0000:18:00.0"). Without NVML nothing is known. One thread.
class NvmlDevice {
 public:
  explicit NvmlDevice(const std::string& pci_bus_id);

  [[nodiscard]] Device::ClockState clock_state() const;

  /// Why the energy is not known; empty: it is.
  [[nodiscard]] const std::string& energy_unavailable() const { return energy_unavailable_; }
  /// Joules that the board has used since some moment; only differences mean something. From the
  /// board's own counter; a board without one is asked for its power, which is summed up over the
  /// time between calls: call every few milliseconds.
  [[nodiscard]] std::optional<double> energy_j();

 private:
  [[nodiscard]] std::optional<double> counted_j() const;
  [[nodiscard]] std::optional<double> power_w() const;

  using Clock = std::chrono::steady_clock;
  struct Power {
    Clock::time_point at;
    double watts = 0;
  };

  void* handle_ = nullptr;
  std::string energy_unavailable_;
  bool counts_energy_ = false;
  double summed_j_ = 0;
  std::optional<Power> last_power_;
};

/// The words of Samples::throttle for the bits of NVML's clock throttle reasons: "power_cap,heat",
/// "none".
[[nodiscard]] std::string throttle_text(unsigned long long reasons);

}  // namespace kiln
