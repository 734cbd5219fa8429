// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/job_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"

namespace kiln::cli {
namespace {

template <typename Value>
void put_setting(Json& json, const char* name, const std::optional<Value>& value) {
  if (value) json[name] = *value;
}

template <typename Value>
void take_setting(const Json& json, const char* name, std::optional<Value>& value) {
  if (const auto found = json.find(name); found != json.end()) value = found->get<Value>();
}

void take_settings(const Json& json, SearchOptions& options) {
  SearchSettings& settings = options.settings;
  take_setting(json, "seconds", settings.seconds);
  take_setting(json, "trials", settings.trials);
  take_setting(json, "no_progress", settings.no_progress);
  take_setting(json, "strategy", settings.strategy);
  take_setting(json, "seed", settings.seed);
  take_setting(json, "objective", settings.objective);
  if (const auto found = json.find("variants"); found != json.end())
    settings.variants = found->get<std::vector<std::string>>();
  options.warm_cache = json.value("warm_cache", false);
  if (const auto found = json.find("timing"); found != json.end()) {
    settings.timing = parse_timing(found->get<std::string>());
    if (!settings.timing) throw InputError("its settings cannot be read: 'timing' is no timing");
  }
}

}  // namespace

std::string settings_text(const SearchSettings& settings, bool warm_cache) {
  Json json = Json::object();
  put_setting(json, "seconds", settings.seconds);
  put_setting(json, "trials", settings.trials);
  put_setting(json, "no_progress", settings.no_progress);
  put_setting(json, "strategy", settings.strategy);
  put_setting(json, "seed", settings.seed);
  put_setting(json, "objective", settings.objective);
  if (!settings.variants.empty()) json["variants"] = settings.variants;
  if (warm_cache) json["warm_cache"] = true;
  if (settings.timing) json["timing"] = name_of(*settings.timing);
  return json.dump();
}

void read_settings(const std::string& text, SearchOptions& options) {
  try {
    take_settings(Json::parse(text), options);
  } catch (const nlohmann::json::exception& error) {
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
