// `kiln kernels [KERNEL]`: what can be tuned, and what a problem of it looks like.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"

namespace kiln::cli {
namespace {

struct KernelsFlags {
  CommonOptions common;
  std::string kernel;
};

std::string list_text(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const Value& value : values) {
    texts.push_back(to_text(value));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

Json values_json(const std::vector<Value>& values) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(to_json(value));
  return json;
}

Json variant_json(const Variant& variant) {
  Json tunables = Json::object();
  for (const Tunable& tunable : variant.tunables) {
    tunables[tunable.name] = {{"values", values_json(tunable.values)},
                              {"default", to_json(tunable.fallback)},
                              {"doc", tunable.doc}};
  }
  return {{"name", variant.name},
          {"summary", variant.summary},
          {"requires", variant.requires_ ? Json(variant.requires_->text()) : Json(nullptr)},
          {"tunables", tunables}};
}

Json field_json(const ProblemField& field) {
  return {{"name", field.name},
          {"type", name_of(field.type)},
          {"values", values_json(field.values)},
          {"default", field.fallback ? Json(field.fallback->text()) : Json(nullptr)},
          {"doc", field.doc}};
}

std::string goal_text(const Metric& metric) {
  return metric.goal == Goal::minimise ? "minimise" : "maximise";
}

Json kernel_json(const KernelSpec& spec) {
  Json fields = Json::array();
  for (const ProblemField& field : spec.problem) fields.push_back(field_json(field));
  Json variants = Json::array();
  for (const Variant& variant : spec.variants) variants.push_back(variant_json(variant));
  Json metrics = Json::array();
  for (const Metric& metric : spec.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"goal", goal_text(metric)},
                       {"unit", metric.unit},
                       {"value", metric.value.text()},
                       {"doc", metric.doc}});
  }
  return {{"name", spec.name}, {"summary", spec.summary}, {"path", spec.path},
          {"problem", fields}, {"variants", variants},    {"metrics", metrics}};
}

void print_variant(const Variant& variant) {
  const auto print_line = [](const std::string& line, std::size_t indent) {
    fmt::print("{}", paragraph(line, output_width(), indent, 4));
  };
  fmt::print("\n");
  print_line(fmt::format("variant {}: {}", variant.name, variant.summary), 0);
  if (variant.requires_) print_line("needs " + variant.requires_->text(), 2);
  if (variant.tunables.empty()) return;
  Table tunables({{"  tunable"}, {"default"}, {"values"}, {"meaning"}});
  for (const Tunable& tunable : variant.tunables) {
    tunables.add_row(
        {"  " + tunable.name, to_text(tunable.fallback), list_text(tunable.values), tunable.doc});
  }
  fmt::print("{}", tunables.text(output_width()));
}

void print_kernel(const KernelSpec& spec) {
  fmt::print("{}\n", paragraph(fmt::format("{}: {}", spec.name, spec.summary), output_width()));
  Table fields({{"problem"}, {"type"}, {"default"}, {"values"}, {"meaning"}});
  for (const ProblemField& field : spec.problem) {
    fields.add_row({field.name, std::string(name_of(field.type)),
                    field.fallback ? field.fallback->text() : "(required)", list_text(field.values),
                    field.doc});
  }
  fmt::print("{}", fields.text(output_width()));
  for (const Variant& variant : spec.variants) print_variant(variant);
  if (spec.metrics.empty()) return;
  Table metrics({{"metric"}, {"goal"}, {"unit"}, {"value"}, {"meaning"}});
  for (const Metric& metric : spec.metrics) {
    metrics.add_row({metric.name, goal_text(metric), metric.unit, metric.value.text(), metric.doc});
  }
  fmt::print("\n{}", metrics.text(output_width()));
}

ExitCode list_kernels(const KernelsFlags& options) {
  const KernelLibrary library = options.common.library();
  Table table({{"kernel"}, {"variants", Table::Align::right}, {"summary"}});
  Json all = Json::array();
  for (const std::string& name : library.names()) {
    const KernelSpec spec = library.load(name);
    table.add_row({spec.name, std::to_string(spec.variants.size()), spec.summary});
    all.push_back(kernel_json(spec));
  }
  fmt::print("{}", options.common.json ? json_output(all) : table.text(output_width()));
  return ExitCode::ok;
}

ExitCode run_kernels(const KernelsFlags& options) {
  if (options.kernel.empty()) return list_kernels(options);
  const KernelSpec spec = options.common.library().load(options.kernel);
  if (options.common.json) {
    fmt::print("{}", json_output(kernel_json(spec)));
  } else {
    print_kernel(spec);
  }
  return ExitCode::ok;
}

}  // namespace

void add_kernels_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<KernelsFlags>();
  CLI::App* command = app.add_subcommand(
      "kernels", "List the kernels, or one kernel's problem, variants and tunables");
  command->add_option("kernel", options->kernel, "Name of a kernel, or the folder of your own")
      ->type_name("KERNEL");
  add_kernel_path_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Example:\n"
      "  kiln kernels matmul");
  command->callback([options, &work] { work = [options] { return run_kernels(*options); }; });
}

}  // namespace kiln::cli
