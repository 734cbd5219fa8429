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

/// The parsed templates of a spec by file name.
using TemplateSet = std::map<std::string, ParsedTemplate>;

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

/// Finds unknown and hidden names, includes that are missing or go in circles, names of the spec
/// that are set anew, and tunables that neither the template nor any expression of the variant
/// reads: the search would measure one kernel several times. Constraints alone are no use.
[[nodiscard]] std::vector<LintFinding> lint_variant(const KernelSpec& spec, const Variant& variant,
                                                    const TemplateSet& templates);

}  // namespace kiln
