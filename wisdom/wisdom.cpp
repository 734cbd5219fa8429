// Bests to wisdom text. Reading it back is wisdom_read.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "wisdom/wisdom.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/json_text.hpp"
#include "core/version.hpp"
#include "db/session_options.hpp"

namespace kiln {
namespace {

// Names of devices come from drivers: bytes that are no UTF-8 are replaced, never an error.
std::string text_line(const Json& json) { return json_text(json) + '\n'; }

/// What orders bests whatever database they come from.
auto export_order(const BestRecord& best) {
  return std::tuple(best.key.kernel, best.key.device, best.problem_json, best.published_at,
                    best.config.text(), best.key.driver, best.key.compiler, best.time_ns,
                    best.evidence);
}

Json header() { return {{"kiln_wisdom", kWisdomVersion}, {"tool_version", kVersion}}; }

// The driver and the compiler are each best's own; the ordinal is a matter of the machine.
Json device_line(DeviceInfo device) {
  device.ordinal = 0;
  device.driver.clear();
  device.compiler.clear();
  return {{"device", identity_of(device)}, {"info", to_json(device)}};
}

/// What a column holds; an object that says nothing where it is no JSON.
Json object_or(const std::string& text, const Json& otherwise) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : otherwise;
}

std::string options_of(const BestRecord& best) {
  // The launches of a session's variants are for the machine that may run it again.
  return without_option(without_option(best.key.options, session_option::kLaunches),
                        session_option::kImported);
}

Json best_line(const BestRecord& best) {
  Json line = {{"kernel", best.key.kernel},
               {"problem", object_or(best.problem_json, Json::object())},
               {"device", best.key.device},
               {"config", to_json(best.config)},
               {"time_ns", best.time_ns},
               {"default_time_ns", best.default_time_ns},
               {"verdict", name_of(best.verdict)},
               {"bytes", best.bytes},
               {"flops", best.flops},
               {"trials", best.trials},
               {"failures", best.failures},
               {"driver", best.key.driver},
               {"compiler", best.key.compiler},
               {"spec_hash", best.key.spec_hash},
               {"template_hash", best.template_hash},
               {"tool_version", best.key.tool_version},
               {"strategy", best.key.strategy},
               {"seed", std::to_string(best.key.seed)},
               {"options", options_of(best)},
               {"published_at", best.published_at}};
  if (best.naive_time_ns) line["naive_time_ns"] = *best.naive_time_ns;
  if (best.key.timing != Timing::eager) line["timing"] = name_of(best.key.timing);
  line["evidence"] = object_or(best.evidence, {{"finalists", Json::array()}});
  return line;
}

}  // namespace

std::string write_wisdom(std::span<const BestRecord> bests) {
  std::vector<const BestRecord*> ordered;
  for (const BestRecord& best : bests) ordered.push_back(&best);
  std::sort(ordered.begin(), ordered.end(),
            [](const auto* a, const auto* b) { return export_order(*a) < export_order(*b); });
  // Of several reports of one device the newest counts.
  std::map<std::string, const BestRecord*> devices;
  for (const BestRecord* best : ordered) {
    const auto [known, is_new] = devices.emplace(best->key.device, best);
    if (!is_new && known->second->published_at < best->published_at) known->second = best;
  }
  std::string text = text_line(header());
  for (const auto& [identity, best] : devices) text += text_line(device_line(best->device_info));
  for (const BestRecord* best : ordered) text += text_line(best_line(*best));
  return text;
}

}  // namespace kiln
