// TransientError: ends a run for a reason that may pass, so a later attempt can succeed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/errors.hpp"

namespace kiln {

/// Something around Kiln is missing and may come back: the device (ExitCode::no_device), or room on
/// a disk, for the database or for temporary files.
class TransientError : public Error {
 public:
  /// `advice` follows `reason` in what().
  TransientError(ExitCode code, const std::string& reason, const std::string& advice = "")
      : Error(code, reason + advice), reason_(reason) {}
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace kiln
