// Tells whether a best was measured with the source that its config gives now.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/spec.hpp"
#include "db/records.hpp"
#include "templates/renderer.hpp"

namespace kiln {

/// Renders the best's config for its own problem and device, and compares the key of the result
/// with the one in the best's evidence. A row of an older Kiln has no such key. It is judged by its
/// template hash instead, which any edit of the template or of a derived value changes.
class SourceCheck {
 public:
  /// `spec` must outlive it.
  explicit SourceCheck(const KernelSpec& spec) : spec_(spec) {}

  /// What has changed, e.g. "the source of 'tile' has changed"; empty: nothing. A row whose config
  /// is no longer legal for its own problem and device has changed. Takes about a millisecond for
  /// the first row of a variant, whose templates it parses.
  [[nodiscard]] std::string change_in(const BestRecord& best);

 private:
  [[nodiscard]] bool is_source(const Variant& variant, const BestRecord& best,
                               const std::string& measured);

  const KernelSpec& spec_;
  std::map<std::string, Renderer> renderers_;  // by variant
};

}  // namespace kiln
