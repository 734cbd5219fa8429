// validate_spec: what can only be checked with the whole spec at hand.
//
// Names become known in the order in which they are computed: problem fields, derived values, then
// per variant its tunables and its derived values. Every expression is checked against the names
// known at its place, so that no evaluation meets a name nobody defines.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/device.hpp"
#include "core/metrics.hpp"
#include "core/suggest.hpp"
#include "spec/known_names.hpp"
#include "spec/spec_parser.hpp"
#include "spec/visit_expressions.hpp"

namespace kiln {
namespace {

KnownNames with_device(KnownNames names) {
  names.add(device_scope_names());
  return names;
}

void check_optional(const KnownNames& known, const std::optional<Expression>& expression,
                    const std::string& what) {
  if (expression) known.check(*expression, what);
}

void check_all(const KnownNames& known, const std::vector<Expression>& expressions,
               const std::string& what) {
  for (const Expression& expression : expressions) known.check(expression, what);
}

/// All of `part`, which messages name as `owner`: "step 'conv'".
template <typename Part>
void check_expressions(const KnownNames& known, const Part& part, const std::string& owner) {
  visit_expressions(part, [&](const char* key, const Expression& expression) {
    known.check(expression, fmt::format("'{}' of {}", key, owner));
  });
}

void check_constraints(const KnownNames& known, const std::vector<Constraint>& constraints) {
  for (const Constraint& constraint : constraints) {
    known.check(constraint.require, fmt::format("'require' (because \"{}\")", constraint.because));
  }
}

void add_unique(KnownNames& known, const std::string& name, const SourceLocation& where,
                std::string_view what) {
  if (known.contains(name)) {
    throw InputError(where, fmt::format("{} '{}': the name is already taken", what, name));
  }
  known.add(name);
}

// Where the spec says by what problems are compared, a field's weight is only asked whether it is
// 0.
void check_weights(const KernelSpec& spec) {
  for (const ProblemField& field : spec.problem) {
    if (field.weight == 0 || field.weight == 1) continue;
    throw InputError(field.where,
                     fmt::format("the weight of problem field '{}' has no effect beside "
                                 "[[distance]]: give it there, or 0 here to ignore the field",
                                 field.name));
  }
}

KnownNames validate_problem(const KernelSpec& spec) {
  KnownNames known;
  for (const ProblemField& field : spec.problem) {
    check_optional(known, field.fallback, fmt::format("the default of '{}'", field.name));
    add_unique(known, field.name, field.where, "problem field");
  }
  for (const Derived& derived : spec.derived) {
    known.check(derived.value, fmt::format("derived '{}'", derived.name));
    add_unique(known, derived.name, derived.value.where(), "derived");
  }
  check_constraints(known, spec.problem_rules);
  for (const DistanceTerm& term : spec.distance) known.check(term.of, "'of' of [[distance]]");
  if (!spec.distance.empty()) check_weights(spec);
  return known;
}

/// `scalars`: those before it that the caller passes.
void validate_argument(const KnownNames& known, const Argument& argument,
                       const std::vector<std::string>& scalars) {
  const auto what = [&](std::string_view key) {
    return fmt::format("'{}' of argument '{}'", key, argument.name);
  };
  known.check(argument.dtype, what("dtype"));
  check_all(known, argument.shape, what("shape"));
  check_optional(known, argument.when, what("when"));
  check_optional(known, argument.value, what("value"));
  KnownNames with_scalars = known;
  with_scalars.add(scalars);
  check_optional(with_scalars, argument.example, what("example"));
  check_optional(known, argument.low, what("low"));
  check_optional(known, argument.high, what("high"));
  check_optional(known, argument.special, what("special"));
  KnownNames with_fills = known;
  with_fills.add(fill_names());
  with_fills.check(argument.fill, what("fill"));
  with_fills.check(argument.fill_verify, what("fill_verify"));
  check_optional(with_fills, argument.fill_extra, what("fill_extra"));
  KnownNames with_places = known;
  with_places.add(place_names(argument.shape.size()));
  check_all(with_places, argument.elements, what("elements"));
  check_all(with_places, argument.elements_verify, what("elements_verify"));
}

void validate_arguments(const KernelSpec& spec, const KnownNames& known) {
  std::set<std::string> names;
  std::vector<std::string> scalars;
  bool has_output = false;
  for (const Argument& argument : spec.arguments) {
    validate_argument(known, argument, scalars);
    if (argument.example) scalars.push_back(argument.name);
    has_output |= argument.access == Access::write || argument.access == Access::read_write;
    if (!names.insert(argument.name).second) {
      throw InputError(argument.where, fmt::format("argument '{}' appears twice", argument.name));
    }
  }
  if (!has_output) {
    throw InputError({spec.path, 0, 0},
                     "the spec has no [[arguments]] with access write or "
                     "read_write: nothing could be verified");
  }
}

// Arguments and workspaces that a step may name.
std::vector<std::string> buffer_names(const KernelSpec& spec, const Variant& variant,
                                      bool with_scalars) {
  std::vector<std::string> names;
  for (const Argument& argument : spec.arguments) {
    if (with_scalars || argument.access != Access::scalar) names.push_back(argument.name);
  }
  for (const Workspace& workspace : variant.workspaces) names.push_back(workspace.name);
  return names;
}

void check_member(const std::string& name, const std::vector<std::string>& allowed,
                  const Step& step, std::string_view what) {
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return;
  throw InputError(step.where,
                   fmt::format("[[variants.steps]]: '{}' is no {}{} (there are: {})", name, what,
                               did_you_mean(name, allowed), comma_list(allowed)));
}

void check_step_buffers(const KernelSpec& spec, const Variant& variant, const Step& step) {
  if (step.kind == StepKind::clear) {
    check_member(step.buffer, buffer_names(spec, variant, false), step, "argument or workspace");
    const Argument* argument = spec.find_argument(step.buffer);
    if (argument != nullptr && argument->access == Access::read) {
      throw InputError(step.where,
                       fmt::format("[[variants.steps]]: '{}' is read only and cannot be "
                                   "cleared",
                                   step.buffer));
    }
    return;
  }
  std::vector<std::string> passable = buffer_names(spec, variant, true);
  for (const TensorMap& map : variant.tensor_maps) passable.push_back(map.name);
  for (const Derived& local : step.local) {
    if (std::find(passable.begin(), passable.end(), local.name) != passable.end())
      throw InputError(local.value.where(),
                       fmt::format("local '{}': the name is already taken", local.name));
    if (std::find(step.arguments.begin(), step.arguments.end(), local.name) == step.arguments.end())
      throw InputError(local.value.where(),
                       fmt::format("local '{}' is not among the 'arguments' of step '{}'",
                                   local.name, step.entry.text()));
  }
  for (const Derived& local : step.local) passable.push_back(local.name);
  const auto is_value = [&](const std::string& name) {
    const auto has_name = [&](const auto& each) { return each.name == name; };
    return std::any_of(variant.tunables.begin(), variant.tunables.end(), has_name) ||
           std::any_of(variant.derived.begin(), variant.derived.end(), has_name);
  };
  for (const std::string& name : step.arguments) {
    if (is_value(name)) continue;
    check_member(name, passable, step, "argument, workspace or tensor map");
  }
  std::vector<std::string> readable;
  for (const Argument& argument : spec.arguments) {
    if (argument.access == Access::read) readable.push_back(argument.name);
  }
  for (const std::string& name : step.constants) {
    check_member(name, readable, step, "read argument");
  }
}

void validate_step(const KernelSpec& spec, const Variant& variant, const Step& step,
                   const KnownNames& known) {
  const std::string name =
      step.kind == StepKind::launch ? step.entry.text() : "clear " + step.buffer;
  check_expressions(known, step, fmt::format("step '{}'", name));
  check_step_buffers(spec, variant, step);
}

void validate_tensor_map(const KernelSpec& spec, const Variant& variant, const TensorMap& map,
                         const KnownNames& known) {
  KnownNames with_buffers = known;
  with_buffers.add(buffer_names(spec, variant, false));
  with_buffers.check(map.of, fmt::format("'of' of tensor map '{}'", map.name));
  check_expressions(known, map, fmt::format("tensor map '{}'", map.name));
  const auto names_it = [&](const Step& step) {
    return std::find(step.arguments.begin(), step.arguments.end(), map.name) !=
           step.arguments.end();
  };
  if (std::none_of(variant.steps.begin(), variant.steps.end(), names_it)) {
    throw InputError(map.where, fmt::format("tensor map '{}': no step passes it on", map.name));
  }
}

void validate_variant(const KernelSpec& spec, const Variant& variant, KnownNames known) {
  // The place of a fault may be in a group, which does not tell the variant.
  if (!variant.groups.empty()) known.set_owner(fmt::format(" of variant '{}'", variant.name));
  check_optional(known, variant.requires_, fmt::format("'requires' of variant '{}'", variant.name));
  for (const Tunable& tunable : variant.tunables) {
    check_optional(known, tunable.when, fmt::format("'when' of tunable '{}'", tunable.name));
    add_unique(known, tunable.name, tunable.where, "tunable");
  }
  for (const Derived& derived : variant.derived) {
    known.check(derived.value, fmt::format("derived '{}'", derived.name));
    add_unique(known, derived.name, derived.value.where(), "derived");
  }
  check_constraints(known, variant.constraints);
  std::set<std::string> taken;
  for (const Workspace& workspace : variant.workspaces) {
    check_expressions(known, workspace, fmt::format("workspace '{}'", workspace.name));
    if (spec.find_argument(workspace.name) || !taken.insert(workspace.name).second) {
      throw InputError(variant.where,
                       fmt::format("workspace '{}': the name is already taken", workspace.name));
    }
  }
  for (const TensorMap& map : variant.tensor_maps) {
    if (spec.find_argument(map.name) || !taken.insert(map.name).second) {
      throw InputError(map.where,
                       fmt::format("tensor map '{}': the name is already taken", map.name));
    }
    validate_tensor_map(spec, variant, map, known);
  }
  for (const Step& step : variant.steps) validate_step(spec, variant, step, known);
  if (variant.loop) {
    for (const LoopField& field : loop_fields()) {
      known.check((*variant.loop).*field.expression,
                  fmt::format("'{}' of [variants.loop]", field.key));
    }
  }
  for (const auto& [backend, options] : variant.compiler_options) {
    check_all(known, options.holes(), fmt::format("the compiler options for {}", backend));
  }
  if (spec.command) validate_command(spec, variant, known);
  if (!variant.plain || !variant.plain->defines) return;
  for (const Derived& define : *variant.plain->defines) {
    known.check(define.value, fmt::format("the value of macro '{}'", define.name));
  }
}

// "variant" or "variant:tunable=value,...": names and values must exist.
void validate_device_reference(const KernelSpec& spec) {
  const std::string& text = spec.verify.device_reference;
  if (text.empty()) return;
  const auto fail = [&](const std::string& message) {
    throw InputError({spec.path, 0, 0},
                     fmt::format("[verify]: device_reference '{}': {}", text, message));
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  const Variant* variant = spec.find_variant(text.substr(0, colon));
  if (variant == nullptr) fail("there is no such variant");
  std::size_t begin = colon + 1;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    const auto tunable = std::find_if(
        variant->tunables.begin(), variant->tunables.end(),
        [&](const Tunable& candidate) { return candidate.name == item.substr(0, equals); });
    if (equals == std::string::npos || tunable == variant->tunables.end()) {
      fail(fmt::format("'{}' names no tunable of the variant", item));
    }
    const std::string value = item.substr(equals + 1);
    if (std::none_of(tunable->values.begin(), tunable->values.end(),
                     [&](const Value& candidate) { return to_text(candidate) == value; })) {
      fail(fmt::format("'{}' has no value {}", tunable->name, value));
    }
    begin = end + 1;
  }
}

// A metric may use what any variant knows; for a config of a variant without that name it has no
// value.
void validate_metrics(const KernelSpec& spec, KnownNames known) {
  for (const Variant& variant : spec.variants) {
    for (const Tunable& tunable : variant.tunables) known.add(tunable.name);
    for (const Derived& derived : variant.derived) known.add(derived.name);
  }
  known.add(measured_names());
  std::set<std::string> names = {std::string(kTimeObjective), std::string(kEnergyObjective)};
  for (const Metric& metric : spec.metrics) {
    known.check(metric.value, fmt::format("'value' of metric '{}'", metric.name));
    if (!names.insert(metric.name).second) {
      throw InputError(metric.where,
                       fmt::format("metric '{}': the name is already taken", metric.name));
    }
  }
}

}  // namespace

std::vector<std::string> tunables_of_all(const KernelSpec& spec) {
  std::vector<std::string> names;
  if (spec.variants.empty()) return names;
  for (const Tunable& tunable : spec.variants.front().tunables) {
    const auto has_it = [&](const Variant& variant) {
      return std::any_of(
          variant.tunables.begin(), variant.tunables.end(),
          [&](const Tunable& each) { return each.name == tunable.name && !each.when; });
    };
    if (std::all_of(spec.variants.begin(), spec.variants.end(), has_it) &&
        spec.find_argument(tunable.name) == nullptr)
      names.push_back(tunable.name);
  }
  return names;
}

std::vector<std::pair<std::string, Value>> config_values_of(const KernelSpec& spec) {
  std::set<std::string> used;
  const auto use = [&](const std::optional<Expression>& expression) {
    if (expression) used.insert(expression->names().begin(), expression->names().end());
  };
  for (const Argument& argument : spec.arguments) {
    for (const Expression& extent : argument.shape) use(extent);
    use(argument.value);
  }
  const Verification& verify = spec.verify;
  if (verify.outside && verify.outside->function) {
    for (const OutsideFunction::Operand& operand : verify.outside->function->operands)
      use(operand.value);
  }
  for (const auto* formulas : {&verify.formulas, &verify.written}) {
    for (const auto& [output, formula] : *formulas) use(formula);
  }
  std::vector<std::pair<std::string, Value>> values;
  for (const std::string& name : tunables_of_all(spec)) {
    if (used.count(name) == 0) continue;
    for (const Tunable& tunable : spec.variants.front().tunables) {
      if (tunable.name == name) values.emplace_back(name, tunable.fallback);
    }
  }
  return values;
}

void validate_spec(const KernelSpec& spec) {
  KnownNames problem = validate_problem(spec);
  const KnownNames known = with_device(problem);
  problem.add(tunables_of_all(spec));
  if (!spec.command) validate_arguments(spec, with_device(problem));
  if (spec.verify.outside && spec.verify.outside->function) {
    for (const OutsideFunction::Operand& operand : spec.verify.outside->function->operands) {
      check_optional(problem, operand.value, "'function' of [verify]");
    }
  }
  if (spec.variants.empty()) {
    throw InputError({spec.path, 0, 0}, "the spec has no [[variants]]");
  }
  std::set<std::string> variants;
  for (const Variant& variant : spec.variants) {
    if (!variants.insert(variant.name).second) {
      throw InputError(variant.where, fmt::format("variant '{}' appears twice", variant.name));
    }
    validate_variant(spec, variant, known);
  }
  check_optional(known, spec.verify.cpu_operations, "'cpu_operations'");
  known.check(spec.verify.sum_length, "'sum_length'");
  check_optional(known, spec.verify.exact, "'exact'");
  check_optional(known, spec.verify.input_eps, "'input_eps'");
  check_optional(known, spec.verify.tolerance, "'tolerance'");
  check_optional(known, spec.verify.differing, "'differing'");
  for (const auto& [output, tolerance] : spec.verify.tolerances)
    known.check(tolerance, "'tolerance' of '" + output + "'");
  check_optional(known, spec.cost.bytes, "'bytes' of [cost]");
  check_optional(known, spec.cost.flops, "'flops' of [cost]");
  validate_metrics(spec, known);
  validate_device_reference(spec);
  validate_recorded(spec);
}

}  // namespace kiln
