// The parts that parse_spec is made of; private to spec/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/command_spec.hpp"
#include "core/outside_reference.hpp"
#include "core/spec.hpp"
#include "spec/known_names.hpp"
#include "spec/table_reader.hpp"

namespace kiln {

/// [problem.NAME]
[[nodiscard]] ProblemField parse_problem_field(const TomlNode& node);
/// [[distance]]
[[nodiscard]] DistanceTerm parse_distance_term(const TomlNode& node);
/// [[arguments]]: one, or the scalars of its `names`.
[[nodiscard]] std::vector<Argument> parse_arguments(const TomlNode& node);
/// What a variant is made of.
enum class VariantKind {
  kernel,   ///< a template or a plain source, and steps
  command,  ///< tunables of [command]
};

/// The parts of a variant that a group can hold as well. Lists are in the order of the file.
struct VariantParts {
  std::vector<std::string> groups;  ///< whose parts are among these
  std::vector<Tunable> tunables;
  std::vector<Derived> derived;
  std::vector<Constraint> constraints;
  std::vector<Workspace> workspaces;
  std::vector<TensorMap> tensor_maps;
  std::vector<const TomlNode*> steps;  ///< read by the variant: an entry depends on its source
};

/// The tunable of a group that has this name; nullptr: none.
using SharedTunable = std::function<const Tunable*(std::string_view name)>;

/// The parts below `table`. `owner` is how messages call the table: "variants", "groups.loads". A
/// tunable that `shared` knows inherits the keys that it leaves out.
[[nodiscard]] VariantParts parse_variant_parts(const TableReader& table, const std::string& owner,
                                               const SharedTunable& shared);

class VariantGroups;  // spec/variant_groups.hpp

/// [[variants]] with everything below it and the parts of the groups that it uses.
[[nodiscard]] Variant parse_variant(const TomlNode& node, VariantKind kind, VariantGroups& groups);

/// `source` with the keys that go with it, and `requires`, into `variant`.
void parse_plain_source(const TableReader& table, Variant& variant);
/// `entry` of a step of `variant`, whose source is known already.
[[nodiscard]] TextPattern parse_entry(const TableReader& table, const Variant& variant);

/// `function` of [verify].
[[nodiscard]] OutsideFunction parse_outside_function(const TomlNode& node,
                                                     const std::vector<Argument>& arguments);

/// [command]
[[nodiscard]] CommandSpec parse_command(const TomlNode& node);
/// The names in its command lines. `known`: what the variant's steps would know.
void validate_command(const KernelSpec& spec, const Variant& variant, KnownNames known);

/// [metrics.NAME]
[[nodiscard]] Metric parse_metric(const TomlNode& node);

/// { require = ..., because = ... } lists, wherever they stand.
[[nodiscard]] std::vector<Constraint> parse_constraints(const TableReader& table,
                                                        std::string_view key);
/// NAME = expression tables, wherever they stand.
[[nodiscard]] std::vector<Derived> parse_derived(const TableReader& table, std::string_view key);

/// Is it a word of the expression language, such as `in` or `min`?
[[nodiscard]] bool is_expression_word(const std::string& name);

/// Throws InputError unless `name` is a letter or `_`, then letters, digits and `_`.
void check_identifier(const std::string& name, const SourceLocation& where, std::string_view what);

/// The same for names that expressions use (fields, tunables, derived values): in addition, no word
/// of the expression language.
void check_name(const std::string& name, const SourceLocation& where, std::string_view what);

/// "[problem.rows]" from what stands before the name and the name.
[[nodiscard]] std::string table_title(std::string_view prefix, std::string_view name);

/// [[verify.expected]] of the table [verify].
[[nodiscard]] std::vector<RecordedArrays> parse_recorded(const TableReader& verify);
/// Throws InputError for a problem or an argument that the spec does not have.
void validate_recorded(const KernelSpec& spec);

/// Names of tunables that every variant always has: a config of any of them gives a value.
[[nodiscard]] std::vector<std::string> tunables_of_all(const KernelSpec& spec);

/// For KernelSpec::config_values, of a spec that has all else.
[[nodiscard]] std::vector<std::pair<std::string, Value>> config_values_of(const KernelSpec& spec);

/// Everything that needs the whole spec: unknown and repeated names, steps and verification that
/// refer to what is not there. Throws InputError.
void validate_spec(const KernelSpec& spec);

}  // namespace kiln
