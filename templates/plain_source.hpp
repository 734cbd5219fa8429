// Plain sources: files that reach the compiler as they are, with values as macros in front.
//
// Headers of the kernel's folder are pasted in where they are included. So the compiler gets a
// single text, and its hash identifies all of it. #line keeps the user's file and line in every
// message. Two kinds of lines are replaced by empty ones:
//   #define NAME ...        of a macro that Kiln defines: the config's value counts
//   #include <cuda_runtime.h> and its like: what they declare is built into NVRTC and hipRTC
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/scope.hpp"
#include "core/spec.hpp"
#include "templates/template_lint.hpp"

namespace kiln {

/// What is the same for all configs of a variant.
struct PlainText {
  std::string text;                   ///< the source with its headers; begins with #line
  std::set<std::string> identifiers;  ///< of the text as it was written
  std::vector<Derived> defines;       ///< macros in the order of the spec
  std::vector<std::string> read;      ///< names of the spec that the macros and kernel names use
};

/// Throws InputError: a file that is not there, headers without guards that include each other, a
/// text of more than 4 MiB.
[[nodiscard]] PlainText prepare_plain_source(const KernelSpec& spec, const Variant& variant);

/// One #define a line. A macro whose value depends on a tunable that does not exist is left out.
[[nodiscard]] std::string define_lines(const PlainText& plain, const Scope& scope,
                                       const std::string& backend);

/// The kernels that the steps launch for this config, as the source names them.
[[nodiscard]] std::vector<std::string> plain_entries(const Variant& variant, const Scope& scope);

/// The names of the spec that the macros and the kernel names read.
[[nodiscard]] std::set<std::string> names_in_plain_source(const KernelSpec& spec,
                                                          const Variant& variant);

/// Finds a source that is not there, and macros and kernels that it does not name.
[[nodiscard]] std::vector<LintFinding> lint_plain_source(const KernelSpec& spec,
                                                         const Variant& variant);

}  // namespace kiln
