// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/job_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/field_json.hpp"
#include "core/json.hpp"

namespace kiln::cli {
namespace {

/// Calls `visit(name, field)` for each setting that may be absent.
template <typename Settings, typename Visit>
void visit_optional(Settings& settings, const Visit& visit) {
  visit("seconds", settings.seconds);
  visit("trials", settings.trials);
  visit("no_progress", settings.no_progress);
  visit("strategy", settings.strategy);
  visit("seed", settings.seed);
  visit("objective", settings.objective);
  visit("timing", settings.timing);
}

}  // namespace

std::string settings_text(const SearchSettings& settings, bool warm_cache) {
  Json json = Json::object();
  visit_optional(settings, [&](const char* name, const auto& field) {
    if (field) json[name] = field_json(*field);
  });
  if (!settings.variants.empty()) json["variants"] = settings.variants;
  if (warm_cache) json["warm_cache"] = true;
  return json.dump();
}

void read_settings(const std::string& text, SearchOptions& options) {
  try {
    const Json json = Json::parse(text);
    visit_optional(options.settings, [&](const char* name, auto& field) {
      if (json.contains(name)) read_field(json[name], field);
    });
    if (json.contains("variants")) json["variants"].get_to(options.settings.variants);
    options.warm_cache = json.value("warm_cache", false);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("its settings cannot be read: {}", error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("its settings cannot be read: {}", error.what()));
  }
}

std::string spec_key(const std::string& kernel, const std::string& spec_hash) {
  return kernel + ' ' + spec_hash;
}

std::vector<std::string> beginnings_of(const std::string& identity) {
  std::vector<std::string> beginnings = {""};
  for (std::size_t at = identity.find('/'); at != std::string::npos;
       at = identity.find('/', at + 1)) {
    beginnings.push_back(identity.substr(0, at));
  }
  beginnings.push_back(identity);
  return beginnings;
}

std::string result_text(const BestRecord& best) {
  return Json({{"config", best.config.text()},
               {"time_ns", best.time_ns},
               {"default_time_ns", best.default_time_ns},
               {"verdict", std::string(name_of(best.verdict))},
               {"trials", best.trials},
               {"device", best.key.device}})
      .dump();
}

}  // namespace kiln::cli
