// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/earlier_trials.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "db/session_options.hpp"
#include "templates/renderer.hpp"

namespace kiln {
namespace {

/// More than a session measures in hours; each is a commit of its own.
constexpr std::size_t kMostTaken = 2000;

bool differs_by_spec_alone(const SessionKey& a, const SessionKey& b) {
  SessionKey same = a;
  same.spec_hash = b.spec_hash;
  same.options = without_option(a.options, session_option::kLaunches);
  SessionKey other = b;
  other.options = without_option(b.options, session_option::kLaunches);
  return same == other;
}

/// By variant.
std::map<std::string, std::string> launches_of(const std::string& options) {
  std::map<std::string, std::string> launches;
  // Empty for a session of a Kiln that did not note them.
  std::string_view rest = find_option(options, session_option::kLaunches).value_or("");
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const std::size_t colon = one.find(':');
    if (colon != std::string_view::npos)
      launches.emplace(one.substr(0, colon), one.substr(colon + 1));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return launches;
}

std::optional<SessionRecord> session_before_edit(const Store& store, const SessionKey& key) {
  std::optional<SessionRecord> newest;
  for (SessionRecord& session : store.sessions()) {
    if (session.trial_count == 0 || !differs_by_spec_alone(session.key, key)) continue;
    if (!newest || session.id > newest->id) newest = std::move(session);
  }
  return newest;
}

bool is_lasting(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
    case Outcome::constraint:
    case Outcome::compile_error:
    case Outcome::wrong_result:
      return true;
    default:
      return false;
  }
}

/// Of what was compiled for this config now; nullopt: nothing is.
std::optional<std::string> source_key_of(const Renderer& renderer, const Config& config,
                                         const Setting& setting) {
  const DeviceInfo& device = setting.device();
  try {
    if (!setting.plan(config)) return std::nullopt;
    return binary_key(renderer.render(setting, config), device.backend, device.architecture,
                      device.compiler);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string launches_text(const KernelSpec& spec) {
  std::string text;
  for (const Variant& variant : spec.variants) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}:{}", variant.name, launch_hash(spec, variant));
  }
  return text;
}

EarlierTrials earlier_trials(const Store& store, const SessionKey& key, const Setting& setting,
                             const Space& space) {
  const KernelSpec& spec = setting.spec();
  EarlierTrials earlier;
  if (spec.command) return earlier;
  const std::optional<SessionRecord> session = session_before_edit(store, key);
  if (!session) return earlier;
  earlier.session = session->id;
  earlier.ordinal = session->device_info.ordinal;
  const std::map<std::string, std::string> then = launches_of(session->key.options);
  const std::map<std::string, std::string> now = launches_of(key.options);
  const Renderer renderer(spec);
  for (TrialRecord& stored : store.trials(session->id)) {
    const Config& config = stored.trial.config;
    const auto launch = then.find(config.variant);
    const auto same = now.find(config.variant);
    const bool launches_alike =
        launch != then.end() && same != now.end() && launch->second == same->second;
    const bool holds = launches_alike && is_lasting(stored.trial.outcome) &&
                       !stored.trial.source_key.empty() && space.index_of(config) &&
                       source_key_of(renderer, config, setting) == stored.trial.source_key;
    if (holds && earlier.trials.size() < kMostTaken) {
      stored.trial.cost = {};  // the session that takes it over spends nothing on it
      earlier.trials.push_back(std::move(stored.trial));
    } else {
      ++earlier.others;
    }
  }
  return earlier;
}

}  // namespace kiln
