// `kiln devices`: what can be tuned here, and for each backend that is not there, why.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/devices.hpp"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"

namespace kiln::cli {
namespace {

struct DevicesFlags {
  CommonOptions common;
  bool verbose = false;  ///< whole reasons, every file that was looked for
};

void print_devices_text(const std::vector<BackendDevices>& backends, const DevicesFlags& options) {
  using Align = Table::Align;
  Table table({{"device"},
               {"name"},
               {"architecture"},
               {"units", Align::right},
               {"warp", Align::right},
               {"threads/block", Align::right},
               {"shared/block", Align::right},
               {"L2", Align::right},
               {"memory", Align::right},
               {"driver"},
               {"compiler"}});
  for (const BackendDevices& entry : backends) {
    for (const DeviceInfo& device : entry.devices) {
      table.add_row({selector_of(device), device.name, device.architecture,
                     std::to_string(device.compute_units), std::to_string(device.warp_size),
                     std::to_string(device.max_threads_per_block),
                     pretty_bytes(static_cast<double>(device.max_shared_bytes_optin)),
                     pretty_bytes(static_cast<double>(device.l2_bytes)),
                     pretty_bytes(static_cast<double>(device.global_bytes)), device.driver,
                     device.compiler});
    }
  }
  if (!table.empty()) {
    print_shown("{}", table.text(output_width()));
  }
  for (const BackendDevices& entry : backends) {
    if (!entry.unavailable.empty()) {
      print_shown("{}", paragraph(fmt::format("{}: {}", entry.backend,
                                              options.verbose ? entry.unavailable
                                                              : short_reason(entry.unavailable)),
                                  output_width()));
    }
  }
}

Json backends_json(const std::vector<BackendDevices>& backends) {
  Json all = Json::array();
  for (const BackendDevices& entry : backends) {
    Json devices = Json::array();
    for (const DeviceInfo& device : entry.devices) {
      devices.push_back(to_json(device));
      devices.back()["selector"] = selector_of(device);
    }
    all.push_back(
        {{"backend", entry.backend}, {"devices", devices}, {"unavailable", entry.unavailable}});
  }
  return all;
}

ExitCode run_devices(const DevicesFlags& options) {
  const std::vector<BackendDevices> backends = list_devices();
  if (options.common.json) {
    print_shown("{}", json_output(backends_json(backends)));
  } else {
    print_devices_text(backends, options);
  }
  const bool any = std::any_of(backends.begin(), backends.end(),
                               [](const BackendDevices& entry) { return !entry.devices.empty(); });
  return any ? ExitCode::ok : ExitCode::no_device;
}

}  // namespace

void add_devices_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<DevicesFlags>();
  CLI::App* command = app.add_subcommand(
      "devices", "List the devices with their limits, and why a backend is not there");
  command->add_flag("-v,--verbose", options->verbose,
                    "Every file that was looked for, where a library is not there");
  add_json_option(*command, options->common);
  command->callback([options, &work] { work = [options] { return run_devices(*options); }; });
}

}  // namespace kiln::cli
