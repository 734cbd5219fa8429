// Which device a command means: "auto", a backend ("opencl") or a device ("cuda:0").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"
#include "tuner/session/devices.hpp"

namespace kiln::cli {

/// Looks the devices up in worker processes, so this process loads no driver. Throws DeviceError
/// that lists what is there and what is not, with the reasons.
[[nodiscard]] DeviceInfo choose_device(const std::string& text);

/// The same for a spec: a program ([command]) runs on this machine, whatever devices it uses.
/// Throws UsageError for another --device.
[[nodiscard]] DeviceInfo choose_device(const KernelSpec& spec, const std::string& text);

/// The device for the kernels among `specs`; this machine where all of them are programs.
[[nodiscard]] DeviceInfo choose_device(const std::vector<const KernelSpec*>& specs,
                                       const std::string& text);

/// The devices of a command that drives several: as `text` says for one; "all", or several names
/// with commas between them. Throws DeviceError as choose_device(), UsageError for a device named
/// twice. Only this machine where all of `specs` are programs.
[[nodiscard]] std::vector<DeviceInfo> choose_devices(const std::vector<const KernelSpec*>& specs,
                                                     const std::string& text);

/// Every GPU, each through one backend only: OpenCL for those that neither CUDA nor HIP drives.
/// Every CPU device where there is no GPU.
[[nodiscard]] std::vector<DeviceInfo> all_devices(const std::vector<BackendDevices>& backends);

/// The device that was measured, as it is on this machine now; unchanged where it is not here. Its
/// compiler is empty where there is none: what needs no compiler is not stale for that.
[[nodiscard]] DeviceInfo as_here(const DeviceInfo& measured);

/// The device to compute for where none is named: of `backend` and `architecture`, or of the first
/// backend on which a variant of the kernel is possible. This machine for a program.
[[nodiscard]] DeviceInfo made_up_device(const KernelSpec& spec, const Problem& problem,
                                        const std::string& backend,
                                        const std::string& architecture);

/// Where a spec runs when `chosen` is the device for kernels: a program runs on this machine.
[[nodiscard]] DeviceInfo device_of(const KernelSpec& spec, const DeviceInfo& chosen);

/// The device that `text` means among `backends`, nullptr when it means none. auto: the first GPU
/// in the order of the backends, else the first CPU; a backend: its first GPU, else its first CPU.
[[nodiscard]] const DeviceInfo* find_device(const std::vector<BackendDevices>& backends,
                                            const std::string& text);

/// Why a backend is away, without most of a long list of the files that were looked for: `kiln
/// devices -v` prints them all.
[[nodiscard]] std::string short_reason(const std::string& reason);

}  // namespace kiln::cli
