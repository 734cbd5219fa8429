// The comment on top of a rendered source: what it computes, how, with which constants, from which
// template.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "core/spec.hpp"
#include "templates/template_evaluator.hpp"

namespace kiln {

/// Names only the values in `read`: those that shaped the text. Ends with a line break.
[[nodiscard]] std::string source_head(const KernelSpec& spec, const Variant& variant,
                                      const TemplateInput& input,
                                      const std::set<std::string>& read);

}  // namespace kiln
