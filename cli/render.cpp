// `kiln render KERNEL`: the generated source of one config.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cuda/ptxas_log.hpp"
#include "backends/hip/code_object.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/units.hpp"
#include "core/command_spec.hpp"
#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/occupancy.hpp"
#include "core/setting.hpp"
#include "search/prior.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tuner/workers/worker_compiler.hpp"

namespace kiln::cli {
namespace {

enum class ReportForm { text, json };

/// One launch of the plan.
struct Line {
  std::string entry;
  std::int64_t threads = 0;
  std::optional<KernelResources> exact;  ///< AMD: of this very kernel
  std::int64_t registers = -1;           ///< of a thread; -1: not known
  std::int64_t spill_bytes = -1;         ///< of a thread
  std::int64_t shared_bytes = 0;         ///< static and dynamic, per block
  std::int64_t blocks_per_unit = 0;
  double occupancy = 0;
};

/// What the compiler's report says of one kernel of a CUDA module; else what it says of the module.
Binary resources_of(const std::string& entry, const Binary& module) {
  constexpr std::string_view kEntry = "entry function '";
  const auto symbol = module.symbols.find(entry);
  const std::string name = symbol == module.symbols.end() ? entry : symbol->second;
  const std::size_t begin = module.log.find(std::string(kEntry) + name + "'");
  if (begin == std::string::npos) return module;
  const std::size_t end = module.log.find(kEntry, begin + 1);
  Binary kernel;
  read_ptxas_resources(std::string_view(module.log).substr(begin, end - begin), kernel);
  return kernel;
}

Line line_of(const StepPlan& step, const Binary& module,
             const std::vector<KernelResources>& kernels, const DeviceInfo& device) {
  constexpr std::int64_t kRegisterBytes = 4;
  Line line;
  line.entry = step.entry;
  const Binary binary = resources_of(step.entry, module);
  line.threads = std::int64_t{step.block[0]} * step.block[1] * step.block[2];
  line.registers = binary.registers;
  line.spill_bytes = binary.spill_bytes;
  line.shared_bytes = std::max<std::int64_t>(0, binary.shared_bytes) + step.shared_bytes;
  for (const KernelResources& kernel : kernels) {
    if (kernel.name != step.entry) continue;
    line.exact = kernel;
    line.registers = kernel.vector_registers;
    line.spill_bytes = kernel.spilled_vector_registers * kRegisterBytes;
    line.shared_bytes = kernel.shared_bytes + step.shared_bytes;
  }
  line.blocks_per_unit = resident_blocks(
      {.threads = line.threads, .shared_bytes = line.shared_bytes, .registers = line.registers},
      device);
  const std::int64_t most = std::max<std::int64_t>(1, device.max_threads_per_unit);
  line.occupancy = std::min(1.0, static_cast<double>(line.blocks_per_unit * line.threads) / most);
  return line;
}

std::string count_text(std::int64_t count) { return count < 0 ? "-" : std::to_string(count); }

std::string text_of(const std::vector<Line>& lines) {
  using Align = Table::Align;
  Table table({{"kernel"},
               {"threads", Align::right},
               {"registers", Align::right},
               {"accumulators", Align::right},
               {"scalar", Align::right},
               {"spilled", Align::right},
               {"scratch", Align::right},
               {"shared", Align::right},
               {"blocks/unit", Align::right},
               {"occupancy", Align::right}});
  for (const Line& line : lines) {
    const KernelResources* exact = line.exact ? &*line.exact : nullptr;
    table.add_row({line.entry, std::to_string(line.threads), count_text(line.registers),
                   exact ? std::to_string(exact->accumulators) : "-",
                   exact ? std::to_string(exact->scalar_registers) : "-",
                   line.spill_bytes < 0 ? "-" : fmt::format("{} B", line.spill_bytes),
                   exact ? fmt::format("{} B", exact->scratch_bytes) : "-",
                   pretty_bytes(static_cast<double>(line.shared_bytes)),
                   std::to_string(line.blocks_per_unit),
                   fmt::format("{:.0f}%", 100 * line.occupancy)});
  }
  return table.text();
}

Json json_of(const Line& line) {
  Json json = {{"entry", line.entry},
               {"threads", line.threads},
               {"registers", line.registers},
               {"spill_bytes", line.spill_bytes},
               {"shared_bytes", line.shared_bytes},
               {"blocks_per_unit", line.blocks_per_unit},
               {"occupancy", line.occupancy}};
  if (!line.exact) return json;
  json["accumulators"] = line.exact->accumulators;
  json["scalar_registers"] = line.exact->scalar_registers;
  json["spilled_scalar_registers"] = line.exact->spilled_scalar_registers;
  json["scratch_bytes"] = line.exact->scratch_bytes;
  json["wavefront"] = line.exact->wavefront;
  return json;
}

Binary compile_rendered(const Setting& setting, const Config& config) {
  const Source source = Renderer(setting.spec()).render(setting, config);
  Result<Binary> binary = WorkerCompiler(setting.device()).compile(source);
  if (!binary) {
    throw InputError(fmt::format("{} does not compile for {}: {}", config.text(),
                                 setting.device().architecture, binary.failure().message));
  }
  return std::move(*binary);
}

/// Compiles the config, which launches `plan`, in a worker process and prints one line per launch.
/// Throws InputError with the compiler's words when it does not compile, Error when there is no
/// compiler.
void print_render_report(const Setting& setting, const Config& config, const LaunchPlan& plan,
                         ReportForm form) {
  const KernelSpec& spec = setting.spec();
  const Problem& problem = setting.problem();
  const DeviceInfo& device = setting.device();
  const Binary binary = compile_rendered(setting, config);
  const std::vector<KernelResources> kernels = kernels_of_code_object(binary.data);
  std::vector<Line> lines;
  for (const StepPlan& step : plan.steps) {
    if (step.kind == StepKind::launch) lines.push_back(line_of(step, binary, kernels, device));
  }
  const std::optional<Forecast> forecast = Prior(setting).forecast(config, binary);
  const double forecast_ns = forecast ? forecast->time_ns : 0;
  if (form == ReportForm::json) {
    Json launches = Json::array();
    for (const Line& line : lines) launches.push_back(json_of(line));
    print_shown("{}", json_output({{"kernel", spec.name},
                                   {"problem", problem.text()},
                                   {"config", config.text()},
                                   {"backend", device.backend},
                                   {"architecture", device.architecture},
                                   {"launches", std::move(launches)},
                                   {"forecast_ns", forecast_ns}}));
    return;
  }
  print_shown("{} {}, {}\nfor {} as {}\n\n{}\n", spec.name, problem.short_text(spec), config.text(),
              device.architecture, device.name, text_of(lines));
  print_shown("A rough forecast from these, to compare configs with each other: {}\n",
              pretty_time(forecast_ns));
}

struct RenderFlags {
  CommonOptions common;
  std::string kernel;
  std::string problem;
  std::string config;
  std::string backend;  ///< empty: the first one on which the kernel is possible
  std::string architecture;
  bool whole = false;
  bool report = false;
};

/// What cannot be launched is refused. That an OpenCL device has the least that every device has is
/// an assumption, so its limits only warn where nothing is computed from them.
void refuse_or_warn(const RenderFlags& options, const Setting& setting, const Config& config,
                    const std::string& why) {
  if (setting.device().backend != "opencl" || options.report || !setting.check(config)) {
    throw InputError(fmt::format("{} cannot be launched on {}: {}", config.text(),
                                 setting.device().architecture, why));
  }
  print_shown(stderr,
              "kiln: warning: {} cannot be launched on an OpenCL device that has no more than it "
              "must have: {}\n",
              config.text(), why);
}

ExitCode run_render(const RenderFlags& options) {
  const KernelSpec spec = options.common.library().load(options.kernel);
  const Problem problem = Problem::parse(spec, options.problem);
  const DeviceInfo device = made_up_device(spec, problem, options.backend, options.architecture);
  const Setting setting(spec, problem, device);
  const Config config =
      options.config.empty() ? setting.default_config() : setting.parse(options.config);
  if (options.common.json && !options.report)
    throw UsageError("--json is for --report: the source is text");
  const Result<LaunchPlan> plan = setting.plan(config);
  if (!plan) refuse_or_warn(options, setting, config, plan.failure().message);
  if (options.report) {
    print_render_report(setting, config, *plan,
                        options.common.json ? ReportForm::json : ReportForm::text);
    return ExitCode::ok;
  }
  const Renderer renderer(spec);
  for (const LintFinding& finding : renderer.unused_tunables()) {
    print_shown(stderr, "kiln: warning: {}: {}\n", to_text(finding.where), finding.message);
  }
  // Checks that the text holds the kernels that the steps launch, in either form.
  const Source source = renderer.render(setting, config);
  print_data(options.whole ? source.text : renderer.render_readable(setting, config));
  return ExitCode::ok;
}

}  // namespace

void add_render_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<RenderFlags>();
  CLI::App* command =
      app.add_subcommand("render", "Print the generated source of one config; needs no device");
  add_kernel_and_problem(*command, options->kernel, options->problem);
  add_value(*command, "--config", options->config, "TEXT",
            "Config, e.g. tile:tile_rows=32; omitted tunables take their defaults");
  add_value(*command, "--backend", options->backend, "BACKEND",
            "cuda, hip or opencl (default: the first for which the kernel has a variant)");
  add_value(*command, "--arch", options->architecture, "NAME",
            "Architecture, e.g. sm_80 (default: sm_90a, gfx90a, opencl)");
  command->add_flag("--whole", options->whole,
                    "As the compiler gets it: with the dialect's prelude in front");
  command->add_flag(
      "--report", options->report,
      "Compile it and print what its kernels take of a device, instead of the source");
  add_kernel_path_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Without --config it is the default config of the problem.\n"
      "\n"
      "--report and its --json need the compiler, but no device. For HIP, KILN_HIP_ROOT names the\n"
      "HIP that compiles (docs/amd.md). \"occupancy\" is the share of a unit's threads that can "
      "be\n"
      "resident at once.\n"
      "\n"
      "Examples:\n"
      "  kiln render transpose --problem rows=1024,cols=1024,dtype=f32 --config tile:tile_rows=32\n"
      "  kiln render matmul --problem m=4096,n=4096,k=4096,dtype=f16 --backend hip --arch gfx90a "
      "\\\n"
      "    --report");
  command->callback([options, &work] { work = [options] { return run_render(*options); }; });
}

}  // namespace kiln::cli
