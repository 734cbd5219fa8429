// Prepares a plain source: its macros, its pasted headers, and the names that it reads.
// SPDX-License-Identifier: Apache-2.0
#include "templates/plain_source.hpp"

#include <algorithm>

#include "core/constraint_text.hpp"
#include "core/source_text.hpp"
#include "core/source_value.hpp"
#include "core/suggest.hpp"
#include "templates/include_paste.hpp"
#include "templates/source_kernels.hpp"

namespace kiln {
namespace {

std::set<std::string> identifiers_in(const KernelSpec& spec, const PlainSource& plain) {
  std::set<std::string> all;
  for (const auto& [file, text] : included_files(spec.files, plain.file, plain.folders)) {
    all.merge(identifiers_of(text));
  }
  return all;
}

/// Every value that a template would see, by its own name.
std::vector<Derived> own_names(const KernelSpec& spec, const Variant& variant,
                               const std::set<std::string>& identifiers) {
  const TemplateNames names = template_names(spec, variant);
  std::vector<Derived> defines;
  const auto is_passed = [&](const std::string& name) {
    return std::any_of(variant.steps.begin(), variant.steps.end(), [&](const Step& step) {
      return std::find(step.arguments.begin(), step.arguments.end(), name) != step.arguments.end();
    });
  };
  // Nor of a template parameter, whose place a macro would take, too.
  const auto file = spec.files.find(variant.plain->file);
  const std::vector<SourceKernel> kernels =
      read_source(file == spec.files.end() ? "" : file->second).kernels;
  const auto is_template_parameter = [&](const std::string& name) {
    return std::any_of(kernels.begin(), kernels.end(), [&](const SourceKernel& kernel) {
      return std::any_of(kernel.template_parameters.begin(), kernel.template_parameters.end(),
                         [&](const TemplateParameter& each) { return each.name == name; });
    });
  };
  const auto add = [&](const std::string& name) {
    if (is_template_parameter(name)) return;
    if (names.visible.count(name) == 0 || identifiers.count(name) == 0) return;
    if (is_passed(name)) return;  // a macro would take the place of the parameter
    defines.push_back({name, Expression::parse(name)});
  };
  for (const ProblemField& field : spec.problem) add(field.name);
  for (const Derived& derived : spec.derived) add(derived.name);
  for (const Tunable& tunable : variant.tunables) add(tunable.name);
  for (const Derived& derived : variant.derived) add(derived.name);
  return defines;
}

/// "conv" of "ns::conv<16>": what the source must name.
std::string kernel_name(const Step& step) {
  const std::string& text = step.entry.text();
  const std::string base = text.substr(0, text.find('<'));
  const std::size_t colons = base.rfind("::");
  return colons == std::string::npos ? base : base.substr(colons + 2);
}

/// A macro with the name of a kernel's parameter would change the text of the kernel.
std::vector<LintFinding> macros_over_parameters(const KernelSpec& spec, const Variant& variant) {
  const PlainSource& plain = *variant.plain;
  const std::vector<Derived> defines =
      plain.defines ? *plain.defines : own_names(spec, variant, identifiers_in(spec, plain));
  std::vector<LintFinding> findings;
  for (const SourceKernel& kernel : read_source(spec.files.at(plain.file)).kernels) {
    const bool is_launched =
        std::any_of(variant.steps.begin(), variant.steps.end(), [&](const Step& step) {
          return step.kind == StepKind::launch && kernel_name(step) == kernel.name;
        });
    if (!is_launched) continue;
    for (const SourceParameter& parameter : kernel.parameters) {
      const bool is_macro = std::any_of(defines.begin(), defines.end(), [&](const Derived& define) {
        return define.name == parameter.name;
      });
      if (!is_macro) continue;
      findings.push_back(
          {plain.where, "'" + parameter.name + "' becomes a macro over the parameter '" +
                            parameter.name + "' of '" + kernel.name + "' in " + plain.file +
                            ": rename one of them, or list the macros in `defines`"});
    }
  }
  return findings;
}

std::vector<std::string> names_read(const Variant& variant, const std::vector<Derived>& defines) {
  std::vector<std::string> read;
  const auto add = [&](const Expression& expression) {
    read.insert(read.end(), expression.names().begin(), expression.names().end());
  };
  for (const Derived& define : defines) add(define.value);
  for (const Step& step : variant.steps) {
    for (const Expression& hole : step.entry.holes()) add(hole);
    read.insert(read.end(), step.arguments.begin(), step.arguments.end());
  }
  return read;
}

LintFinding error(const SourceLocation& where, const std::string& message) {
  return {where, message};
}

std::vector<std::string> to_vector(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

PlainText prepare_plain_source(const KernelSpec& spec, const Variant& variant) {
  const PlainSource& plain = *variant.plain;
  PlainText prepared;
  prepared.identifiers = identifiers_in(spec, plain);
  prepared.defines =
      plain.defines ? *plain.defines : own_names(spec, variant, prepared.identifiers);
  std::set<std::string> macros;
  for (const Derived& define : prepared.defines) macros.insert(define.name);
  prepared.text = paste_includes(spec, plain, macros);
  prepared.read = names_read(variant, prepared.defines);
  return prepared;
}

std::string define_lines(const PlainText& plain, const Scope& scope, const std::string& backend) {
  std::string lines;
  for (const Derived& define : plain.defines) {
    const std::optional<Value> value = evaluate_known(define.value, scope);
    if (!value) continue;
    const std::string text = source_macro(*value, backend);
    if (text.find('\n') != std::string::npos) {
      throw InputError(define.value.where(),
                       "the value of macro '" + define.name + "' has a line break");
    }
    lines += "#define " + define.name + " " + text + "\n";
  }
  return lines;
}

std::vector<std::string> plain_entries(const Variant& variant, const Scope& scope) {
  std::vector<std::string> entries;
  for (const Step& step : variant.steps) {
    if (step.kind != StepKind::launch) continue;
    if (step.when && !(evaluate_known(*step.when, scope) && holds(*step.when, scope))) continue;
    std::string entry = entry_of(step, scope);
    if (std::count(entries.begin(), entries.end(), entry) == 0) entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<LintFinding> lint_plain_source(const KernelSpec& spec, const Variant& variant) {
  const PlainSource& plain = *variant.plain;
  if (spec.files.count(plain.file) == 0) {
    std::vector<std::string> files;
    for (const auto& [name, text] : spec.files) files.push_back(name);
    return {error(plain.where, "variant '" + variant.name + "': no source '" + plain.file +
                                   "' in the spec's folder" + did_you_mean(plain.file, files))};
  }
  const std::set<std::string> identifiers = identifiers_in(spec, plain);
  std::vector<LintFinding> findings;
  for (const Derived& define : plain.defines.value_or(std::vector<Derived>())) {
    if (identifiers.count(define.name) > 0) continue;
    findings.push_back(
        error(define.value.where(), "macro '" + define.name + "' does not occur in " + plain.file +
                                        did_you_mean(define.name, to_vector(identifiers))));
  }
  for (LintFinding& finding : macros_over_parameters(spec, variant))
    findings.push_back(std::move(finding));
  for (const Step& step : variant.steps) {
    if (step.kind != StepKind::launch || identifiers.count(kernel_name(step)) > 0) continue;
    findings.push_back(
        error(step.where, "a step launches '" + kernel_name(step) + "', but " + plain.file +
                              " has no such kernel" +
                              did_you_mean(kernel_name(step), to_vector(identifiers))));
  }
  return findings;
}

std::set<std::string> names_in_plain_source(const KernelSpec& spec, const Variant& variant) {
  const std::vector<Derived> defines =
      variant.plain->defines ? *variant.plain->defines
                             : own_names(spec, variant, identifiers_in(spec, *variant.plain));
  const std::vector<std::string> read = names_read(variant, defines);
  return {read.begin(), read.end()};
}

}  // namespace kiln
