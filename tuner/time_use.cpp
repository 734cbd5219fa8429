// Where the time went, as JSON and in words; see the header.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/time_use.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

using SortedJson = nlohmann::json;

constexpr const char* kKey = "time_use";

/// Calls `visit` with the name and the value of every number of seconds.
template <typename Use, typename Visit>
void for_each_part(Use& use, Visit&& visit) {
  visit("search_s", use.search);
  visit("prepare_s", use.prepare);
  visit("device_s", use.device);
  visit("verify_s", use.verify);
  visit("measure_s", use.measure);
  visit("device_no_binary_s", use.device_no_binary);
  visit("device_supervisor_s", use.device_supervisor);
  visit("gpu_runs_s", use.gpu_runs);
  visit("gpu_plain_s", use.gpu_plain);
  visit("compile_s", use.compile);
  visit("ask_s", use.ask);
  visit("render_s", use.render);
  visit("store_s", use.store);
  visit("tell_s", use.tell);
}

SortedJson json_of(const TimeUse& use) {
  SortedJson json = {{"compile_workers", use.compile_workers}};
  for_each_part(use, [&](const char* name, double seconds) { json[name] = seconds; });
  return json;
}

double per_cent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace

std::string with_time_use(const std::string& evidence, const TimeUse& use) {
  SortedJson json = SortedJson::parse(evidence, nullptr, false);
  if (!json.is_object()) return evidence;
  json[kKey] = json_of(use);
  return json.dump();
}

std::optional<TimeUse> time_use_of(const std::string& evidence) {
  const SortedJson json = SortedJson::parse(evidence, nullptr, false);
  if (!json.is_object() || !json.contains(kKey) || !json[kKey].is_object()) return std::nullopt;
  const SortedJson& stored = json[kKey];
  TimeUse use;
  for_each_part(use, [&](const char* name, double& seconds) {
    if (stored.contains(name) && stored[name].is_number()) seconds = stored[name].get<double>();
  });
  if (const auto workers = stored.find("compile_workers");
      workers != stored.end() && workers->is_number_integer()) {
    use.compile_workers = workers->get<std::int64_t>();
  }
  return use;
}

std::string time_use_json(const TimeUse& use) { return json_of(use).dump(); }

std::vector<std::string> lines_of(const TimeUse& use) {
  const auto share = [&](double part) { return per_cent(part, use.search); };
  const double workers = static_cast<double>(use.compile_workers);
  return {
      fmt::format("device: busy {:.1f}% of {:.1f} s (verify {:.1f}%, measure {:.1f}%), preparing "
                  "the problem {:.1f}%, without a binary {:.1f}%, waiting for the supervisor "
                  "{:.1f}%",
                  share(use.device), use.search, share(use.verify), share(use.measure),
                  share(use.prepare), share(use.device_no_binary), share(use.device_supervisor)),
      fmt::format("compilers: {} of them busy {:.1f}%", use.compile_workers,
                  per_cent(use.compile, use.search * workers)),
      fmt::format("supervisor: asks the strategy {:.1f}%, renders {:.1f}%, stores {:.1f}%, tells "
                  "the strategy {:.1f}%",
                  share(use.ask), share(use.render), share(use.store), share(use.tell)),
      fmt::format("GPU time of the configs that were ok: {:.1f}% of 32 runs each",
                  per_cent(use.gpu_runs, use.gpu_plain))};
}

}  // namespace kiln
