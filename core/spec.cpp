// Lookups and content keys of a spec; reading one is spec/.
// SPDX-License-Identifier: Apache-2.0
#include "core/spec.hpp"

#include <algorithm>
#include <array>

#include "core/command_spec.hpp"
#include "core/hash.hpp"
#include "core/outside_reference.hpp"
#include "core/source_text.hpp"
#include "core/source_value.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 6> kFieldTypes = {"int",    "float", "bool",
                                                         "string", "dtype", "formula"};
constexpr std::array<std::string_view, 4> kAccesses = {"read", "write", "read_write", "scalar"};

/// The key of parts of a spec.
class SpecKey {
 public:
  SpecKey& add(std::string_view part) {
    key_.add(part);
    return *this;
  }
  SpecKey& add(const std::optional<Expression>& expression) {
    return expression ? add(expression->text()) : add("-");
  }
  SpecKey& add(const std::vector<Expression>& expressions) {
    for (const Expression& expression : expressions) add(expression.text());
    return add("end");
  }
  SpecKey& add(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
    return add("end");
  }
  SpecKey& add(const std::vector<Derived>& values) {
    for (const Derived& derived : values) add(derived.name).add(derived.value.text());
    return add("end");
  }
  SpecKey& add(const std::map<std::string, std::string>& entries) {
    for (const auto& [name, text] : entries) add(name).add(text);
    return add("end");
  }
  SpecKey& add(const std::map<std::string, TextPattern>& entries) {
    for (const auto& [name, pattern] : entries) add(name).add(pattern.text());
    return add("end");
  }
  [[nodiscard]] std::string hash() const { return hash64_hex(key_.text()); }

 private:
  KeyText key_;
};

template <typename Item>
const Item* find_named(const std::vector<Item>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

using Files = std::map<std::string, std::string>;

// Adds the file `name` and all that it names in quotes, as an include does. Naming one elsewhere,
// in a comment, adds it as well: too many files only make a hash change too often.
void add_file(Files& files, const Files& all, const std::string& name) {
  const auto file = all.find(name);
  if (file == all.end() || !files.insert(*file).second) return;
  const std::string_view text = file->second;
  for (std::size_t open = text.find('"'); open != text.npos;) {
    const std::size_t close = text.find('"', open + 1);
    if (close == text.npos) return;
    add_file(files, all, std::string(text.substr(open + 1, close - open - 1)));
    open = close;
  }
}

void add_launches(SpecKey& key, const Variant& variant) {
  for (const Workspace& workspace : variant.workspaces) {
    key.add(workspace.name).add(workspace.dtype.text()).add(workspace.count.text());
  }
  for (const TensorMap& map : variant.tensor_maps) {
    key.add(map.name).add(map.of.text()).add(map.dtype).add(map.offset).add(map.shape);
    key.add(map.strides)
        .add(map.box)
        .add(map.lower)
        .add(map.upper)
        .add(map.element_strides)
        .add(map.swizzle)
        .add(map.promotion)
        .add(map.when);
    key.add(map.fill_nan ? "nan" : "zero");
    if (map.tf32) key.add(map.tf32);
  }
  for (const Step& step : variant.steps) {
    key.add(step.when).add(step.entry.text()).add(step.buffer).add(step.shared_bytes);
    key.add(step.grid).add(step.block).add(step.cluster);
    key.add(step.arguments).add(step.constants);
    if (!step.local.empty()) key.add(step.local);
  }
}

}  // namespace

std::map<std::string, std::string> source_files(const KernelSpec& spec, const Variant& variant) {
  if (variant.plain) return included_files(spec.files, variant.plain->file, variant.plain->folders);
  Files files;
  add_file(files, spec.files, variant.template_file);
  return files;
}

const Variant* KernelSpec::find_variant(std::string_view wanted) const {
  return find_named(variants, wanted);
}

const Argument* KernelSpec::find_argument(std::string_view wanted) const {
  return find_named(arguments, wanted);
}

const ProblemField* KernelSpec::find_field(std::string_view wanted) const {
  return find_named(problem, wanted);
}

std::string_view name_of(FieldType type) { return kFieldTypes[static_cast<std::size_t>(type)]; }

std::string_view name_of(Access access) { return kAccesses[static_cast<std::size_t>(access)]; }

const std::vector<std::string>& fill_names() {
  static const std::vector<std::string> kNames = {"uniform",  "integers", "ramp",
                                                  "constant", "sorted",   "skewed"};
  return kNames;
}

std::vector<std::string> place_names(std::size_t dimensions) {
  std::vector<std::string> names = {std::string(kFlatIndexName)};
  for (std::size_t i = 0; i < dimensions; ++i) names.push_back("i" + std::to_string(i));
  return names;
}

std::string evaluate_fill(const Expression& fill, const Scope& scope) {
  Scope with_fills = scope;
  for (const std::string& name : fill_names()) with_fills.set(name, name);
  std::string name = fill.evaluate_string(with_fills);
  const std::vector<std::string>& known = fill_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw EvaluationError(fill.where(), "'" + fill.text() + "' gives '" + name +
                                            "', which is no fill (there are: " + comma_list(known) +
                                            ")");
  }
  return name;
}

std::string entry_of(const Step& step, const Scope& scope) {
  if (!step.entry.has_holes()) return step.entry.text();
  const Value* backend = scope.find("backend");
  const std::string language = backend != nullptr ? to_text(*backend) : "";
  return step.entry.fill(scope,
                         [&](const Value& value) { return source_argument(value, language); });
}

std::string content_hash(const KernelSpec& spec) {
  return SpecKey().add(spec.text).add(spec.files).hash();
}

bool Verification::by_itself() const {
  const bool has_function = outside && outside->function;
  return reference.empty() && formulas.empty() && !has_function;
}

std::string computation_hash(const KernelSpec& spec) {
  SpecKey key;
  key.add(spec.name).add(spec.derived);
  for (const ProblemField& field : spec.problem) {
    key.add(field.name).add(name_of(field.type)).add(field.variables);
  }
  for (const Argument& argument : spec.arguments) {
    key.add(argument.name).add(name_of(argument.access)).add(argument.dtype.text());
    key.add(argument.shape).add(argument.when).add(argument.value);
  }
  const Verification& verify = spec.verify;
  key.add(verify.reference);
  for (const auto& [output, formula] : verify.formulas) key.add(output).add(formula.text());
  for (const auto& [output, written] : verify.written) key.add(output).add(written.text());
  if (verify.outside && verify.outside->function) {
    const OutsideFunction& function = *verify.outside->function;
    key.add(function.name).add(included_files(spec.files, function.file, {}));
    for (const OutsideFunction::Operand& operand : function.operands) {
      key.add(operand.argument).add(operand.value);
    }
  }
  if (verify.by_itself()) {
    const std::string trusted =
        verify.device_reference.substr(0, verify.device_reference.find(':'));
    key.add(verify.device_reference);
    if (const Variant* variant = spec.find_variant(trusted)) key.add(source_files(spec, *variant));
  }
  return key.hash();
}

std::string template_hash(const KernelSpec& spec, const Variant& variant) {
  SpecKey key;
  key.add(spec.name).add(variant.name).add(variant.template_file).add(source_files(spec, variant));
  if (spec.command) {
    for (const TextPattern& line : spec.command->build) key.add(line.text());
    for (const auto& [name, value] : spec.command->environment) key.add(name).add(value.text());
    for (const std::string& file : spec.command->files) {
      if (const auto found = spec.files.find(file); found != spec.files.end())
        key.add(file).add(found->second);
    }
    key.add(spec.command->run.text());
  }
  if (variant.plain) {
    key.add(variant.plain->file).add(variant.plain->folders);
    if (variant.plain->defines) key.add(*variant.plain->defines);
  }
  key.add(spec.derived).add(variant.derived).add(variant.compiler_options);
  add_launches(key, variant);
  return key.hash();
}

bool follows_scalars(const KernelSpec& spec, const Argument& argument) {
  if (!argument.example) return false;
  const std::vector<std::string>& names = argument.example->names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Argument* other = spec.find_argument(name);
    return other != nullptr && other->example && spec.find_field(name) == nullptr;
  });
}

std::string launch_hash(const KernelSpec& spec, const Variant& variant) {
  SpecKey key;
  key.add(spec.derived).add(variant.derived);
  add_launches(key, variant);
  for (const Workspace& workspace : variant.workspaces) {
    key.add(workspace.zeroed ? "zeroed" : "-").add(workspace.when);
  }
  for (const Step& step : variant.steps) key.add(step.programmatic);
  for (const Argument& argument : spec.arguments) {
    key.add(argument.fill.text()).add(argument.fill_verify.text()).add(argument.fill_extra);
    key.add(argument.low).add(argument.high).add(argument.example);
    if (argument.special) key.add(argument.special);
    if (!argument.elements.empty()) key.add(argument.elements).add(argument.elements_verify);
  }
  const Verification& verify = spec.verify;
  key.add(verify.sum_length.text()).add(verify.exact).add(verify.tolerance);
  if (verify.input_eps) key.add(verify.input_eps);
  if (verify.differing) key.add(verify.differing);
  for (const auto& [output, tolerance] : verify.tolerances) key.add(output).add(tolerance.text());
  return key.hash();
}

}  // namespace kiln
