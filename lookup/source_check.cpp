// SPDX-License-Identifier: Apache-2.0
#include "lookup/source_check.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "db/evidence.hpp"
#include "db/stored_problem.hpp"

namespace kiln {

std::string SourceCheck::change_in(const BestRecord& best) {
  const Variant* variant = spec_.find_variant(best.config.variant);
  if (variant == nullptr) return fmt::format("there is no variant '{}'", best.config.variant);
  const std::string measured = read_evidence(best.evidence).source;
  if (measured.empty()) {
    if (template_hash(spec_, *variant) == best.template_hash) return "";
    return fmt::format("the template of '{}' has changed", variant->name);
  }
  if (is_source(*variant, best, measured)) return "";
  return fmt::format("the source of '{}' has changed", variant->name);
}

bool SourceCheck::is_source(const Variant& variant, const BestRecord& best,
                            const std::string& measured) {
  try {
    const Problem problem = Problem::make(spec_, stored_fields(best.problem_json, best.session));
    const Setting setting(spec_, problem, best.device_info);
    const Result<Config> config = setting.launchable(best.config.text());
    if (!config) return false;
    auto found = renderers_.find(variant.name);
    if (found == renderers_.end())
      found = renderers_.emplace(variant.name, Renderer(spec_, variant.name)).first;
    return found->second.source_hash(setting, *config) == measured;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace kiln
