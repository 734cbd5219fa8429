// What a template may name, and the check that it names nothing else, in branches never taken too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/spec.hpp"
#include "templates/template_tree.hpp"

namespace kiln {

/// One error of a template, or of what a variant says of it.
struct LintFinding {
  SourceLocation where;
  std::string message;
  friend bool operator==(const LintFinding&, const LintFinding&) = default;
};

/// The names a variant's template may use, and why it may not use the others.
struct TemplateNames {
  std::set<std::string> visible;
  std::set<std::string> formulas;             ///< first arguments of formula()
  std::map<std::string, std::string> hidden;  ///< name -> reason, to be put behind "'name' "
};
[[nodiscard]] TemplateNames template_names(const KernelSpec& spec, const Variant& variant);

/// The names that the variant's derived values, workspaces, tensor maps, steps and compiler options
/// read. A tunable that only constraints read changes no kernel.
[[nodiscard]] std::set<std::string> names_in_expressions(const Variant& variant);

/// Finds unknown and hidden names, includes that are missing or go in circles, and names of the
/// spec that are set anew.
[[nodiscard]] std::vector<LintFinding> lint_variant(const KernelSpec& spec, const Variant& variant,
                                                    const TemplateSet& templates);

/// Finds shared fragments (shared/NAME.inja) whose head does not say what they read: they begin
/// with a comment that ends in "Needs a, b.", the names that whoever includes them has set or the
/// spec gives.
[[nodiscard]] std::vector<LintFinding> lint_heads(const TemplateSet& templates);

/// Finds tunables of several values that neither the template nor an expression of the variant
/// reads. A constraint alone does not count: the kernel is the same for each value. `templates` has
/// passed lint_variant().
[[nodiscard]] std::vector<LintFinding> unused_tunables(const KernelSpec& spec,
                                                       const Variant& variant,
                                                       const TemplateSet& templates);

}  // namespace kiln
