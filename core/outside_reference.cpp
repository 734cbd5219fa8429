// Looks up the recorded arrays of a problem, and says whether a problem is proved by nothing else
// than a variant of its spec.
// SPDX-License-Identifier: Apache-2.0
#include "core/outside_reference.hpp"

#include "core/problem.hpp"
#include "core/spec.hpp"

namespace kiln {

const RecordedArrays* find_recorded(const KernelSpec& spec, const Problem& problem) {
  if (!spec.verify.outside) return nullptr;
  for (const RecordedArrays& recorded : spec.verify.outside->recorded) {
    if (Problem::parse(spec, recorded.problem) == problem) return &recorded;
  }
  return nullptr;
}

bool is_proved_by_itself(const KernelSpec& spec, const Problem& problem) {
  return spec.verify.by_itself() && find_recorded(spec, problem) == nullptr;
}

}  // namespace kiln
