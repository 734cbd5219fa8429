// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/answer_cache.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/hash.hpp"
#include "core/json.hpp"
#include "core/json_text.hpp"
#include "core/setting.hpp"

namespace kiln {
namespace {

/// Cards of one kind are one device.
std::string facts_of(DeviceInfo device) {
  device.ordinal = 0;
  return json_text(to_json(device));
}

Binary packed(const Match& match) {
  const std::string text = json_text({{"config", match.config.text()},
                                      {"grade", name_of(match.grade)},
                                      {"distance", match.distance},
                                      {"reason", match.reason},
                                      {"stale", match.stale},
                                      {"other_timing", match.other_timing},
                                      {"raced", match.raced},
                                      {"runners_up", match.runners_up}});
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  Binary binary;
  binary.data.assign(bytes.begin(), bytes.end());
  return binary;
}

/// Throws Json::exception for what packed() does not write.
std::optional<Match> unpacked(const Binary& binary, const Setting& setting) {
  const auto* text = reinterpret_cast<const char*>(binary.data.data());
  const Json json = Json::parse(text, text + binary.data.size());
  const std::optional<Grade> grade = parse_grade(json.at("grade").get<std::string>());
  Result<Config> config = setting.launchable(json.at("config").get<std::string>());
  if (!grade || !config) return std::nullopt;
  Match match;
  match.config = *std::move(config);
  match.grade = *grade;
  match.distance = json.at("distance").get<double>();
  match.reason = json.at("reason").get<std::string>();
  match.stale = json.at("stale").get<bool>();
  match.other_timing = json.at("other_timing").get<bool>();
  match.raced = json.at("raced").get<bool>();
  match.runners_up = json.at("runners_up").get<std::vector<std::string>>();
  return match;
}

}  // namespace

std::string digest_of(std::span<const BestRecord> rows, bool with_shipped) {
  std::string text = with_shipped ? "shipped\n" : "";  // which rows: see the build
  for (const BestRecord& row : rows) {
    text +=
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", row.layer, row.session, row.key.spec_hash,
                    row.key.driver, row.key.compiler, static_cast<int>(row.verdict), row.objective);
    text += fmt::format("{}\n", name_of(row.key.timing));
    text +=
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", row.problem_json, row.config.text(),
                    row.template_hash, row.time_ns, row.published_at, facts_of(row.device_info));
    text += hash128_hex(row.evidence);
  }
  return hash128_hex(text);
}

std::string build_with(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  // A program is called as it was started.
  const bool has_path = std::string_view(info.dli_fname).find('/') != std::string_view::npos;
  struct stat facts {};
  if (::stat(has_path ? info.dli_fname : "/proc/self/exe", &facts) != 0) return "";
  return fmt::format("{} {}.{:09}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

AnswerCache::AnswerCache(const BinaryCache* cache, const std::string& build,
                         const DeviceInfo& device, Timing timing)
    : cache_(build.empty() ? nullptr : cache),
      device_(device),
      for_all_(fmt::format("answer 3\n{}\n{}\n{}\n", build, facts_of(device), name_of(timing))) {}

std::string AnswerCache::key_of(const KernelSpec& spec, const Problem& problem,
                                const std::string& rows) const {
  std::string text = for_all_;
  text += fmt::format("{}\n{}\n{}\n", content_hash(spec), problem.text(), rows);
  return hash128_hex(text);
}

std::optional<Match> AnswerCache::find(const KernelSpec& spec, const Problem& problem,
                                       const std::string& rows) const {
  if (cache_ == nullptr) return std::nullopt;
  const std::optional<CachedBinary> kept = cache_->find(key_of(spec, problem, rows));
  if (!kept) return std::nullopt;
  try {
    return unpacked(kept->binary, {spec, problem, device_});
  } catch (const Json::exception&) {  // some other entry that has this key
    return std::nullopt;
  }
}

void AnswerCache::store(const KernelSpec& spec, const Problem& problem, const std::string& rows,
                        const Match& match) const {
  if (cache_ == nullptr) return;
  cache_->store(key_of(spec, problem, rows), packed(match), "lookup");
}

}  // namespace kiln
