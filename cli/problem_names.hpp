// Problems of stored rows as people write them: without the fields that equal their default.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/spec.hpp"
#include "db/store.hpp"
#include "templates/library.hpp"

namespace kiln::cli {

class ProblemNames {
 public:
  explicit ProblemNames(KernelLibrary library) : library_(std::move(library)) {}

  /// The short text of a stored problem; where the kernel is not here, or is no longer what it was,
  /// the text with every field.
  [[nodiscard]] std::string text(const SessionKey& key, const std::string& problem_json,
                                 SessionId session);

 private:
  [[nodiscard]] const std::optional<KernelSpec>& spec_of(const std::string& kernel);

  KernelLibrary library_;
  std::map<std::string, std::optional<KernelSpec>> specs_;
};

}  // namespace kiln::cli
