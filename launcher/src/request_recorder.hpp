// Notes problems that the databases do not know exactly, for `kiln sweep --requested`. Opt-in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "db/lookup.hpp"

namespace kiln {

class RequestRecorder {
 public:
  /// `path` empty: as $KILN_RECORD_REQUESTS says.
  explicit RequestRecorder(const std::string& path);

  /// Why nothing can be noted though someone asked for it; empty otherwise.
  [[nodiscard]] std::string trouble() const;

  /// Appends the problem unless its match is exact or this process noted it before. Called for
  /// selections that no table answered; any thread. What cannot be written is dropped.
  void note(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
            const Match& match);

 private:
  std::optional<std::filesystem::path> path_;
  std::mutex mutex_;                                     ///< over noted_
  std::set<std::pair<std::string, std::string>> noted_;  ///< kernel and problem
};

}  // namespace kiln
