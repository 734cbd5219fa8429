// `kiln kernels [KERNEL]`: lists the kernels, or one kernel's problem, arguments and variants.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/text_layout.hpp"
#include "templates/renderer.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
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

std::vector<std::string> shape_texts(const Argument& argument) {
  std::vector<std::string> texts;
  for (const Expression& extent : argument.shape) texts.push_back(extent.text());
  return texts;
}

Json optional_json(const std::optional<Expression>& expression) {
  return expression ? Json(expression->text()) : Json(nullptr);
}

Json argument_json(const Argument& argument) {
  return {{"name", argument.name},
          {"access", name_of(argument.access)},
          {"dtype", argument.dtype.text()},
          {"shape", shape_texts(argument)},
          {"when", optional_json(argument.when)},
          {"value", optional_json(argument.value)},
          {"doc", argument.doc}};
}

/// Buffers: elements per dimension, outermost first. Scalars: what computes them, or that the
/// caller passes them.
std::string shape_or_value(const Argument& argument) {
  if (argument.access == Access::scalar) {
    return argument.value ? argument.value->text() : "(required)";
  }
  return fmt::format("[{}]", fmt::join(shape_texts(argument), ", "));
}

std::string meaning_of(const Argument& argument) {
  if (!argument.when) return argument.doc;
  const std::string only = "only if " + argument.when->text();
  return argument.doc.empty() ? only : argument.doc + "; " + only;
}

std::string goal_text(const Metric& metric) {
  return metric.goal == Goal::minimise ? "minimise" : "maximise";
}

Json kernel_json(const KernelSpec& spec) {
  Json fields = Json::array();
  for (const ProblemField& field : spec.problem) fields.push_back(field_json(field));
  Json arguments = Json::array();
  for (const Argument& argument : spec.arguments) arguments.push_back(argument_json(argument));
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
          {"problem", fields}, {"arguments", arguments},  {"variants", variants},
          {"metrics", metrics}};
}

void print_variant(const Variant& variant) {
  const auto print_line = [](const std::string& line, std::size_t indent) {
    print_shown("{}", paragraph(line, output_width(), indent, 4));
  };
  print_shown("\n");
  print_line(fmt::format("variant {}: {}", variant.name, variant.summary), 0);
  if (variant.requires_) print_line("needs " + variant.requires_->text(), 2);
  if (variant.tunables.empty()) return;
  Table tunables({{"  tunable"}, {"default"}, {"values"}, {"meaning"}});
  for (const Tunable& tunable : variant.tunables) {
    tunables.add_row(
        {"  " + tunable.name, to_text(tunable.fallback), list_text(tunable.values), tunable.doc});
  }
  print_shown("{}", tunables.text(output_width()));
}

void print_arguments(const KernelSpec& spec) {
  Table arguments({{"argument"}, {"access"}, {"type"}, {"shape or value"}, {"meaning"}});
  for (const Argument& argument : spec.arguments) {
    arguments.add_row({argument.name, std::string(name_of(argument.access)), argument.dtype.text(),
                       shape_or_value(argument), meaning_of(argument)});
  }
  if (!arguments.empty()) print_shown("\n{}", arguments.text(output_width()));
}

void print_kernel(const KernelSpec& spec) {
  print_shown("{}\n", paragraph(fmt::format("{}: {}", spec.name, spec.summary), output_width()));
  Table fields({{"problem"}, {"type"}, {"default"}, {"values"}, {"meaning"}});
  for (const ProblemField& field : spec.problem) {
    fields.add_row({field.name, std::string(name_of(field.type)),
                    field.fallback ? field.fallback->text() : "(required)", list_text(field.values),
                    field.doc});
  }
  print_shown("{}", fields.text(output_width()));
  print_arguments(spec);
  for (const Variant& variant : spec.variants) print_variant(variant);
  if (spec.metrics.empty()) return;
  Table metrics({{"metric"}, {"goal"}, {"unit"}, {"value"}, {"meaning"}});
  for (const Metric& metric : spec.metrics) {
    metrics.add_row({metric.name, goal_text(metric), metric.unit, metric.value.text(), metric.doc});
  }
  print_shown("\n{}", metrics.text(output_width()));
}

/// `folder`: only the kernels below it; empty: all.
ExitCode list_kernels(const KernelsFlags& options, const std::string& folder = {}) {
  const KernelLibrary library = folder.empty() ? options.common.library() : KernelLibrary({folder});
  Table table({{"kernel"}, {"variants", Table::Align::right}, {"summary"}});
  Json all = Json::array();
  for (const std::string& name : library.names()) {
    const KernelSpec spec = library.load(name);
    if (!spec.path.starts_with(folder)) continue;
    table.add_row({spec.name, std::to_string(spec.variants.size()), spec.summary});
    all.push_back(kernel_json(spec));
  }
  print_shown("{}", options.common.json ? json_output(all) : table.text(output_width()));
  return ExitCode::ok;
}

/// A folder that is no kernel itself and has kernels below it.
bool holds_kernels(const std::string& folder) {
  std::error_code error;
  if (fs::exists(fs::path(folder) / "spec.toml", error)) return false;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (fs::exists(entry.path() / "spec.toml", error)) return true;
  }
  return false;
}

ExitCode run_kernels(const KernelsFlags& options) {
  if (options.kernel.empty()) return list_kernels(options);
  if (holds_kernels(options.kernel)) return list_kernels(options, options.kernel);
  const KernelSpec spec = options.common.library().load(options.kernel);
  (void)Renderer(spec);  // throws for a template that is missing or wrong
  if (options.common.json) {
    print_shown("{}", json_output(kernel_json(spec)));
  } else {
    print_kernel(spec);
  }
  return ExitCode::ok;
}

}  // namespace

void add_kernels_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<KernelsFlags>();
  CLI::App* command = app.add_subcommand(
      "kernels", "List the kernels, or one kernel's problem, arguments, variants and tunables");
  add_value(*command, "kernel", options->kernel, "KERNEL",
            "Name of a kernel, or the folder of your own; of a folder with several: a list");
  add_kernel_path_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Example:\n"
      "  kiln kernels matmul");
  command->callback([options, &work] { work = [options] { return run_kernels(*options); }; });
}

}  // namespace kiln::cli
