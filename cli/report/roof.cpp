// The arithmetic roof of a session: of the units that its best uses, by the clock of the device.
// SPDX-License-Identifier: Apache-2.0

#include "cli/report/report.hpp"
#include "core/errors.hpp"
#include "core/loop.hpp"
#include "core/setting.hpp"
#include "db/stored_problem.hpp"

namespace kiln::cli {
namespace {

/// Operations per cycle and compute unit of multiply-adds in f32 without matrix units (NVIDIA's
/// table of arithmetic instructions, AMD's guides of instruction sets); 0: not known.
double plain_flops_per_cycle(const DeviceInfo& device) {
  if (device.vendor == "amd") return 128;
  if (device.vendor != "nvidia" || device.compute_capability == 0) return 0;
  return device.compute_capability <= 80 ? 128 : 256;
}

struct Units {
  std::string name;
  double flops_per_cycle = 0;
};

/// As the variant's spec counts the instructions of its loop; else those without matrix units.
Units units_of(const Setting& setting, const Config& config) {
  const Variant* variant = setting.spec().find_variant(config.variant);
  if (variant != nullptr && variant->loop) {
    if (const auto loop = evaluate(*variant->loop, setting.scope(config)))
      return {"units of '" + variant->name + "'", loop->flops_per_cycle};
  }
  const Result<LaunchPlan> arguments = setting.arguments();
  if (!arguments) return {};
  for (const BufferPlan& buffer : arguments->buffers) {
    if (buffer.dtype != DType::f32) return {};
  }
  return {"f32 units", plain_flops_per_cycle(setting.device())};
}

}  // namespace

std::optional<ReportedCeiling> arithmetic_roof(const KernelLibrary& library,
                                               const ShownSession& shown) {
  const DeviceInfo& device = shown.record.device_info;
  if (!shown.best || device.clock_khz <= 0 || device.is_cpu) return std::nullopt;
  try {
    const KernelSpec spec = library.load(shown.record.key.kernel);
    const Problem problem =
        Problem::make(spec, stored_fields(shown.record.problem_json, shown.record.id));
    const Setting setting(spec, problem, device);
    const Units units = units_of(setting, setting.parse(shown.best->config.text()));
    if (units.flops_per_cycle <= 0) return std::nullopt;
    return ceiling_of(units.name + ", by clock", "compute",
                      units.flops_per_cycle * static_cast<double>(device.compute_units) * 1e3 *
                          static_cast<double>(device.clock_khz));
  } catch (const Error&) {
    return std::nullopt;  // a kernel that is elsewhere, or is no longer what it was
  }
}

}  // namespace kiln::cli
