// SPDX-License-Identifier: Apache-2.0
#include "cli/device_choice.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "backends/backend.hpp"
#include "cli/command.hpp"
#include "core/command_spec.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "core/suggest.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kSeparator = ", ";
constexpr const char* kAll = "all";

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream words(text);
  for (std::string part; std::getline(words, part, ',');) parts.push_back(part);
  return parts;
}

std::string inventory(const std::vector<BackendDevices>& backends) {
  std::string text;
  for (const BackendDevices& entry : backends) {
    for (const DeviceInfo& device : entry.devices) {
      text += fmt::format("\n  {}: {}", selector_of(device), device.name);
    }
    if (!entry.unavailable.empty()) {
      text += fmt::format("\n  {}: {}", entry.backend, short_reason(entry.unavailable));
    }
  }
  return text;
}

DeviceError no_such_device(const std::string& text, const std::vector<BackendDevices>& backends) {
  if (text == "auto") return DeviceError("there is no device here:" + inventory(backends));
  std::vector<std::string> names = {"auto"};
  for (const BackendDevices& entry : backends) {
    // A backend that was named is not mistaken, it is away: the reason says it all.
    if (entry.backend == text.substr(0, text.find(':')) && !entry.unavailable.empty())
      return DeviceError(fmt::format("{}: {}", entry.backend, short_reason(entry.unavailable)));
    names.push_back(entry.backend);
    for (const DeviceInfo& device : entry.devices) names.push_back(selector_of(device));
  }
  const std::string hint = did_you_mean(text, names);
  if (!hint.empty())
    return DeviceError(
        fmt::format("there is no device '{}'{} (there are: {})", text, hint, comma_list(names)));
  return DeviceError(fmt::format("there is no device '{}'; expected auto or one of:{}", text,
                                 inventory(backends)));
}

}  // namespace

const DeviceInfo* find_device(const std::vector<BackendDevices>& backends,
                              const std::string& text) {
  const DeviceInfo* cpu = nullptr;
  for (const BackendDevices& entry : backends) {
    for (const DeviceInfo& device : entry.devices) {
      if (selector_of(device) == text) return &device;
      if (text != "auto" && text != entry.backend) continue;
      if (!device.is_cpu) return &device;
      cpu = cpu == nullptr ? &device : cpu;
    }
  }
  return cpu;
}

std::string short_reason(const std::string& reason) {
  constexpr std::size_t kTold = 2;
  const std::size_t open = reason.find("(no ");
  const std::size_t close = reason.find(')', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return reason;
  std::size_t end = open;  // of the files that are told
  std::size_t files = 1;
  for (std::size_t at = reason.find(kSeparator, open); at < close;
       at = reason.find(kSeparator, at + 1)) {
    if (files++ == kTold) end = at;
  }
  if (files <= kTold + 1) return reason;
  return fmt::format("{} and {} more: kiln devices -v{}", reason.substr(0, end), files - kTold,
                     reason.substr(close));
}

DeviceInfo choose_device(const std::string& text) {
  const std::vector<BackendDevices> backends = list_devices();
  const DeviceInfo* device = find_device(backends, text);
  if (device == nullptr) throw no_such_device(text, backends);
  return *device;
}

DeviceInfo choose_device(const std::vector<const KernelSpec*>& specs, const std::string& text) {
  for (const KernelSpec* spec : specs) {
    if (!spec->command) return choose_device(text);
  }
  return specs.empty() ? choose_device(text) : choose_device(*specs.front(), text);
}

std::vector<DeviceInfo> all_devices(const std::vector<BackendDevices>& backends) {
  std::vector<DeviceInfo> gpus;
  std::vector<DeviceInfo> cpus;
  std::set<std::string> driven;  // vendors whose GPUs an earlier backend drives
  for (const BackendDevices& entry : backends) {
    std::set<std::string> vendors;
    for (const DeviceInfo& device : entry.devices) {
      vendors.insert(device.vendor);
      if (device.is_cpu) {
        cpus.push_back(device);
      } else if (!driven.contains(device.vendor)) {
        gpus.push_back(device);
      }
    }
    driven.merge(vendors);
  }
  return gpus.empty() ? cpus : gpus;
}

std::vector<DeviceInfo> choose_devices(const std::vector<const KernelSpec*>& specs,
                                       const std::string& text) {
  const bool is_list = text == kAll || text.find(',') != std::string::npos;
  const bool has_kernel =
      specs.empty() || std::any_of(specs.begin(), specs.end(),
                                   [](const KernelSpec* spec) { return spec->command == nullptr; });
  if (!is_list || !has_kernel) return {choose_device(specs, is_list ? "auto" : text)};
  const std::vector<BackendDevices> backends = list_devices();
  if (text == kAll) {
    std::vector<DeviceInfo> devices = all_devices(backends);
    if (devices.empty()) throw no_such_device("auto", backends);
    return devices;
  }
  std::vector<DeviceInfo> devices;
  for (const std::string& name : split_at_commas(text)) {
    if (name == kAll)
      throw UsageError(fmt::format("--device {}: 'all' cannot be combined with other names", text));
    const DeviceInfo* device = find_device(backends, name);
    if (device == nullptr) throw no_such_device(name, backends);
    const auto is_same = [&](const DeviceInfo& known) {
      return selector_of(known) == selector_of(*device);
    };
    if (std::any_of(devices.begin(), devices.end(), is_same))
      throw UsageError(fmt::format("--device {} names {} twice", text, selector_of(*device)));
    devices.push_back(*device);
  }
  return devices;
}

DeviceInfo as_here(const DeviceInfo& measured) {
  static const std::vector<BackendDevices> kBackends = list_devices();
  DeviceInfo found = measured;
  if (measured.backend == kCommandBackend) {
    const DeviceInfo machine = command_device();
    return identity_of(machine) == identity_of(measured) ? machine : measured;
  }
  for (const BackendDevices& entry : kBackends) {
    for (const DeviceInfo& device : entry.devices) {
      if (current_identity(identity_of(measured), device) == identity_of(device)) found = device;
    }
  }
  if (found.compiler.ends_with("unavailable")) found.compiler.clear();
  return found;
}

DeviceInfo made_up_device(const KernelSpec& spec, const Problem& problem,
                          const std::string& backend, const std::string& architecture) {
  if (spec.command) return command_device();
  const auto made = [&](const std::string& name) {
    return device_for_architecture(name, architecture_or_default(name, architecture));
  };
  if (!backend.empty()) return made(backend);
  if (!architecture.empty()) return made(architecture.starts_with("gfx") ? "hip" : "cuda");
  for (const std::string_view name : backend_names()) {
    const DeviceInfo device = made(std::string(name));
    try {
      (void)Setting(spec, problem, device).default_config();
      return device;
    } catch (const Error&) {
      continue;  // no variant is possible there
    }
  }
  return made("cuda");  // whose refusal names the reasons
}

DeviceInfo device_of(const KernelSpec& spec, const DeviceInfo& chosen) {
  return spec.command ? command_device() : chosen;
}

DeviceInfo choose_device(const KernelSpec& spec, const std::string& text) {
  if (!spec.command) return choose_device(text);
  if (text != "auto" && text != kCommandBackend) {
    throw UsageError(fmt::format(
        "'{}' is a program: it runs on this machine and chooses its own devices; leave --device {} "
        "out",
        spec.name, text));
  }
  return command_device();
}

}  // namespace kiln::cli
