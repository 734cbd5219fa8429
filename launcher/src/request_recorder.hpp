// RequestRecorder: records problems without an exact match, for `kiln sweep --requested`. Opt-in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lookup/lookup.hpp"

namespace kiln {

class RequestRecorder {
 public:
  /// `path`: the file; empty: as $KILN_RECORD_REQUESTS says.
  explicit RequestRecorder(const std::string& path);

  /// Why requests cannot be recorded although that was requested; empty otherwise.
  [[nodiscard]] std::string trouble() const;

  /// Appends the problem, unless its match is exact or this process recorded it before. Called for
  /// selections that were not in a table. Any thread may call it. If the file cannot be written,
  /// the request is dropped.
  void note(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
            const Match& match);

 private:
  std::optional<std::filesystem::path> path_;
  std::mutex mutex_;                                     ///< guards noted_
  std::set<std::pair<std::string, std::string>> noted_;  ///< kernel and problem
};

}  // namespace kiln
