// `kiln space`: how large a space is, and what made it so; of a kernel, or of a file that describes
// one.
// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "cli/units.hpp"
#include "core/command_spec.hpp"
#include "core/input_file.hpp"
#include "interchange/described_space.hpp"
#include "templates/renderer.hpp"
#include "tuner/rules/problem_limits.hpp"

namespace kiln::cli {
namespace {

struct SpaceFlags {
  CommonOptions common;
  std::string kernel;
  std::string problem;
  std::string file;
  std::string device;
  std::string backend;  ///< empty: the first one on which the kernel is possible
  std::string architecture;
};

/// One space, or one variant of a kernel, as it is printed.
struct Row {
  VariantReport report;
  double build_ns = 0;
  std::optional<std::uint64_t> expected_configs;
  std::optional<std::uint64_t> expected_combinations;
};

struct Measured {
  double read_ns = 0;  // reading and parsing
  std::vector<Row> rows;
};

/// Nanoseconds since `start`.
double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

Measured measure_file(const std::string& path) {
  Measured measured;
  auto start = std::chrono::steady_clock::now();
  const std::vector<DescribedSpace> spaces =
      read_described_spaces(read_input(path, {"a T1 file or a list of spaces", 64 * kMiB}), path);
  measured.read_ns = since(start);
  for (const DescribedSpace& space : spaces) {
    start = std::chrono::steady_clock::now();
    SpaceReport report = explain_space(space.variant);
    measured.rows.push_back(
        {std::move(report.variants.front()), since(start), space.configs, space.combinations});
  }
  return measured;
}

Measured measure_kernel(const SpaceFlags& options) {
  Measured measured;
  auto start = std::chrono::steady_clock::now();
  const KernelSpec spec = options.common.library().load(options.kernel);
  require_used_tunables(spec);
  const Problem problem = Problem::parse(spec, options.problem);
  const DeviceInfo device =
      options.device.empty() ? made_up_device(spec, problem, options.backend, options.architecture)
                             : choose_device(spec, options.device);
  require_problem_fits({spec, problem, device});
  measured.read_ns = since(start);
  for (const Variant& variant : spec.variants) {
    start = std::chrono::steady_clock::now();
    SpaceReport report = explain_space({spec, problem, device}, {.variants = {variant.name}});
    measured.rows.push_back({std::move(report.variants.front()), since(start), {}, {}});
  }
  return measured;
}

Json row_json(const Row& row) {
  const VariantReport& report = row.report;
  Json constraints = Json::array();
  for (const RuleReport& rule : report.rules) {
    constraints.push_back({{"rule", rule.rule},
                           {"kind", name_of(rule.kind)},
                           {"because", rule.because},
                           {"cut", rule.late ? Json(nullptr) : Json(rule.cut)},
                           {"first_fault", rule.first_fault}});
  }
  const auto optional = [](const std::optional<std::uint64_t>& number) {
    return number ? Json(*number) : Json(nullptr);
  };
  return {{"name", report.variant},
          {"impossible", report.impossible},
          {"configs", report.configs},
          {"exact", report.exact},
          {"combinations", report.combinations},
          {"build_ns", row.build_ns},
          {"bytes", report.bytes},
          {"states", report.states},
          {"order", report.order},
          {"parts", report.parts},
          {"expected_configs", optional(row.expected_configs)},
          {"expected_combinations", optional(row.expected_combinations)},
          {"constraints", constraints}};
}

Json measured_json(const Measured& measured) {
  Json spaces = Json::array();
  double build_ns = 0;
  for (const Row& row : measured.rows) {
    spaces.push_back(row_json(row));
    build_ns += row.build_ns;
  }
  return {{"read_ns", measured.read_ns}, {"build_ns", build_ns}, {"spaces", spaces}};
}

std::string configs_text(const VariantReport& report) {
  if (!report.impossible.empty()) return "-";
  return report.exact ? std::to_string(report.configs)
                      : fmt::format("about {:.2g}", static_cast<double>(report.configs));
}

void print_sizes(const Measured& measured) {
  Table table({{"space"},
               {"configs", Table::Align::right},
               {"combinations", Table::Align::right},
               {"time", Table::Align::right},
               {"memory", Table::Align::right}});
  double total_ns = measured.read_ns;
  for (const Row& row : measured.rows) {
    total_ns += row.build_ns;
    table.add_row({row.report.variant, configs_text(row.report),
                   std::to_string(row.report.combinations), pretty_time(row.build_ns),
                   pretty_bytes(static_cast<double>(row.report.bytes))});
  }
  print_shown("{}", table.text(output_width()));
  print_shown("{} in {}, of which reading took {}\n",
              counted(static_cast<std::int64_t>(measured.rows.size()), "space"),
              pretty_time(total_ns), pretty_time(measured.read_ns));
}

std::string reason_of(const RuleReport& rule) {
  if (rule.first_fault.empty()) return rule.because;
  return first_line(rule.because.empty() ? rule.first_fault
                                         : fmt::format("{}; {}", rule.because, rule.first_fault));
}

void print_rules(const VariantReport& report) {
  if (!report.impossible.empty()) {
    print_shown("\n{}", paragraph(fmt::format("{}: {}", report.variant, report.impossible),
                                  output_width()));
    return;
  }
  Table table({{report.variant + ": rule"}, {"kind"}, {"cut", Table::Align::right}, {"because"}});
  std::map<RuleReport::Kind, std::int64_t> idle;
  for (const RuleReport& rule : report.rules) {
    if (rule.cut == 0 && !rule.late) {
      ++idle[rule.kind];
      continue;
    }
    table.add_row({rule.rule, std::string(name_of(rule.kind)),
                   rule.late ? "checked late" : std::to_string(rule.cut), reason_of(rule)});
  }
  if (!table.empty()) print_shown("\n{}", table.text(output_width()));
  if (idle.empty()) return;
  if (table.empty()) print_shown("\n");
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : idle) {
    kinds.push_back(counted(count, std::string(name_of(kind))));
  }
  print_shown("{}: {} cut nothing\n", report.variant, fmt::join(kinds, ", "));
}

/// One line for each count that the file states differently.
std::vector<std::string> differences(const Measured& measured) {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& space, std::uint64_t found,
                           const std::optional<std::uint64_t>& expected, const char* noun) {
    if (!expected || *expected == found) return;
    lines.push_back(fmt::format("{}: {} {}, but the file says {}", space, found, noun, *expected));
  };
  for (const Row& row : measured.rows) {
    const VariantReport& report = row.report;
    compare(report.variant, report.combinations, row.expected_combinations, "combinations");
    if (report.exact) compare(report.variant, report.configs, row.expected_configs, "configs");
  }
  return lines;
}

bool has_config(const Measured& measured) {
  return std::any_of(measured.rows.begin(), measured.rows.end(),
                     [](const Row& row) { return row.report.configs > 0; });
}

ExitCode run_space(const SpaceFlags& options) {
  if (options.kernel.empty() == options.file.empty()) {
    throw UsageError("expected a KERNEL or --file, one of the two");
  }
  const Measured measured =
      options.file.empty() ? measure_kernel(options) : measure_file(options.file);
  const std::vector<std::string> other = differences(measured);
  if (options.common.json) {
    Json json = measured_json(measured);
    json["differences"] = other;
    print_shown("{}", json_output(json));
  } else {
    print_sizes(measured);
    for (const Row& row : measured.rows) print_rules(row.report);
    if (!other.empty()) print_shown("\n{}\n", fmt::join(other, "\n"));
  }
  return has_config(measured) && other.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_space_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<SpaceFlags>();
  CLI::App* command = app.add_subcommand(
      "space", "Count the configs of a problem and print how many each constraint removes");
  add_value(*command, "kernel", options->kernel, "KERNEL",
            "Name of a kernel, or the folder of your own");
  add_value(*command, "--problem", options->problem, "TEXT",
            "Sizes and types, e.g. m=512,n=2^20,dtype=f32; `kiln kernels KERNEL` lists them");
  add_value(*command, "--file", options->file, "FILE",
            "Instead of a kernel: a T1 file, or a JSON list of spaces (docs/search.md)")
      ->check(file_name());
  CLI::Option* device = command->add_option("--device", options->device,
                                            "auto, a backend, or a device as `kiln devices` names "
                                            "it (default: none, made up from --arch)");
  device->type_name("DEVICE");
  add_value(*command, "--backend", options->backend, "BACKEND",
            "cuda, hip or opencl (default: the first for which the kernel has a variant)")
      ->excludes(device);
  add_value(*command, "--arch", options->architecture, "NAME",
            "Architecture, e.g. sm_80 (default: sm_90a, gfx90a, opencl)")
      ->excludes(device);
  add_kernel_path_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Needs no device, unless --device names one. The exit code is 1 when no config is legal, or\n"
      "when a file states other counts.\n"
      "\n"
      "Examples:\n"
      "  kiln space matmul --problem m=4096,n=4096,k=4096,dtype=f32 --arch sm_80\n"
      "  kiln space --file spaces.json --json");
  command->callback([options, &work] { work = [options] { return run_space(*options); }; });
}

}  // namespace kiln::cli
