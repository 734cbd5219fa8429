// SPDX-License-Identifier: Apache-2.0
#include "cli/problem_names.hpp"

#include "core/errors.hpp"
#include "core/problem.hpp"
#include "db/stored_problem.hpp"

namespace kiln::cli {

const std::optional<KernelSpec>& ProblemNames::spec_of(const std::string& kernel) {
  const auto known = specs_.find(kernel);
  if (known != specs_.end()) return known->second;
  std::optional<KernelSpec>& spec = specs_[kernel];
  try {
    spec = library_.load(kernel);
  } catch (const InputError&) {
    spec.reset();  // a kernel of the user's that is elsewhere
  }
  return spec;
}

std::string ProblemNames::text(const SessionKey& key, const std::string& problem_json,
                               SessionId session) {
  const std::optional<KernelSpec>& spec = spec_of(key.kernel);
  if (!spec) return key.problem;
  try {
    const Problem problem = Problem::make(*spec, stored_fields(problem_json, session));
    return problem.text() == key.problem ? problem.short_text(*spec) : key.problem;
  } catch (const Error&) {
    return key.problem;
  }
}

}  // namespace kiln::cli
