// Config to Source: renders a variant's template for one config, problem and device.
//
// Built once per spec (parses and checks all templates); rendering is const and may run in many
// threads. The text holds only what the template named: two configs that differ in a tunable of the
// launch alone give the same text, and so share one binary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/artifact.hpp"
#include "core/config.hpp"
#include "core/setting.hpp"
#include "core/spec.hpp"
#include "templates/template_lint.hpp"

namespace kiln {

class Renderer {
 public:
  /// Parses every template of `spec.files` and checks every variant. Throws InputError with the
  /// place of the first fault: template file, line and column, and what was expected.
  explicit Renderer(const KernelSpec& spec);
  /// The same for one variant of the spec: quicker, and blind to faults of the others. Throws
  /// InputError, too, if there is no such variant.
  Renderer(const KernelSpec& spec, const std::string& variant);

  /// The whole translation unit: head comment, the dialect words that the kernel uses, kernel.
  /// Throws InputError when the template faults for this config (division by zero, a literal that
  /// does not fit, a kernel that a step launches but the text lacks).
  /// `setting` is of this spec.
  [[nodiscard]] Source render(const Setting& setting, const Config& config) const;

  /// The same without the dialect words: for people.
  [[nodiscard]] std::string render_readable(const Setting& setting, const Config& config) const;

  /// Key of what a config runs (hex, 16 characters): its source as the compiler sees it, compiler
  /// options, and entry and sizes of each launch. A measurement of one config holds for every other
  /// of this key. The dialect's words do not count, nor do comments, indents and names of derived
  /// values. nullopt: the config is not legal for the setting, or the kernel is a program
  /// ([command]). Throws as render().
  [[nodiscard]] std::optional<std::string> source_hash(const Setting& setting,
                                                       const Config& config) const;

  /// Tunables of several values that change no kernel; see unused_tunables() of template_lint.hpp.
  [[nodiscard]] std::vector<LintFinding> unused_tunables() const;

 private:
  struct State;
  Renderer(const KernelSpec& spec, std::span<const Variant> variants);
  std::shared_ptr<const State> state_;
};

/// Throws InputError for the first tunable that changes no kernel. A search would measure one
/// kernel several times and publish whichever value was lucky.
void require_used_tunables(const KernelSpec& spec);

/// All errors of the templates of a spec. A template that does not parse is one finding.
[[nodiscard]] std::vector<LintFinding> lint(const KernelSpec& spec);

}  // namespace kiln
