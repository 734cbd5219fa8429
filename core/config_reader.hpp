// Reads the texts of many configs for one problem: what problem and device put into the scope of a
// spec's expressions is evaluated once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/config.hpp"

namespace kiln {

class ConfigReader {
 public:
  /// All must outlive it. Throws EvaluationError where the spec cannot evaluate the problem.
  ConfigReader(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device);

  /// As parse_config(). Not for several threads at once.
  [[nodiscard]] Config operator()(std::string_view text);

 private:
  const KernelSpec& spec_;
  const Problem& problem_;
  const DeviceInfo& device_;
  Scope scope_;                    ///< with the tunables of the text that was read last
  const Variant* last_ = nullptr;  ///< its variant
};

}  // namespace kiln
