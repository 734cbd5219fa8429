// Names of the closed lists that the database stores as text.
// SPDX-License-Identifier: Apache-2.0
#include "db/records.hpp"

namespace kiln {

std::string_view name_of(SessionState state) {
  switch (state) {
    case SessionState::running:
      return "running";
    case SessionState::finished:
      return "finished";
    case SessionState::interrupted:
      return "interrupted";
  }
  return "?";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::tie:
      return "tie";
    case Verdict::unmeasurable:
      return "unmeasurable";
    case Verdict::none:
      return "none";
  }
  return "?";
}

}  // namespace kiln
