// `kiln render KERNEL`: the generated source of one config.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/print.hpp"
#include "cli/render_report.hpp"
#include "core/command_spec.hpp"
#include "core/config.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"

namespace kiln::cli {
namespace {

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
  command
      ->add_option("--config", options->config,
                   "Config, e.g. tile:tile_rows=32; omitted tunables take their defaults")
      ->type_name("TEXT");
  command
      ->add_option("--backend", options->backend,
                   "cuda, hip or opencl (default: the first for which the kernel has a variant)")
      ->type_name("BACKEND");
  command
      ->add_option("--arch", options->architecture,
                   "Architecture, e.g. sm_80 (default: sm_90a, gfx90a, opencl)")
      ->type_name("NAME");
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
