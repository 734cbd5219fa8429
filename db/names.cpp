// Names of the closed lists that the database stores as text.
// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"
#include "db/store.hpp"

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

std::string_view name_of(Grade grade) {
  switch (grade) {
    case Grade::exact:
      return "exact";
    case Grade::near_size:
      return "near_size";
    case Grade::same_arch:
      return "same_arch";
    case Grade::same_vendor:
      return "same_vendor";
    case Grade::fallback:
      return "default";
  }
  return "?";
}

}  // namespace kiln
