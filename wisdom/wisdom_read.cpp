// Wisdom text to bests: strict about keys and types, since anybody may have written it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/json_line.hpp"
#include "core/json_text.hpp"
#include "wisdom/wisdom.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxLineBytes = 1 << 20;

const std::vector<std::string> kBestKeys = {
    "kernel",        "problem",  "device",       "config",        "time_ns",      "default_time_ns",
    "naive_time_ns", "verdict",  "bytes",        "flops",         "trials",       "failures",
    "driver",        "compiler", "spec_hash",    "template_hash", "tool_version", "strategy",
    "seed",          "options",  "published_at", "timing",        "evidence"};

Timing timing_from(const JsonLine& line) {
  if (!line.has("timing")) return Timing::eager;
  const std::string name = line.text("timing");
  const std::optional<Timing> timing = parse_timing(name);
  if (!timing) throw InputError(fmt::format("key 'timing' must be eager or graph, not '{}'", name));
  return *timing;
}

std::uint64_t seed_from(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError("key 'seed' must be a whole number as a text, e.g. \"1\"");
  }
  return seed;
}

Verdict stated_verdict(const std::string& text) {
  constexpr std::array kVerdicts = {Verdict::better, Verdict::tie, Verdict::unmeasurable};
  for (const Verdict verdict : kVerdicts) {
    if (name_of(verdict) == text) return verdict;
  }
  throw InputError(
      fmt::format("key 'verdict' must be better, tie or unmeasurable, not '{}'", text));
}

// "2026-11-21T08:30:00Z": such texts sort by time.
std::string time_from(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  const bool fits = text.size() == kShape.size() &&
                    std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
                      return shape == '0' ? c >= '0' && c <= '9' : c == shape;
                    });
  if (!fits) {
    throw InputError(fmt::format(
        "key 'published_at' must be a time in UTC like 2026-01-31T12:00:00Z, not '{}'", text));
  }
  return text;
}

void check_scalars(const Json& json, const char* key) {
  for (const auto& [name, value] : json.items()) {
    if (value.is_structured() || value.is_null() || value.is_binary()) {
      throw InputError(
          fmt::format("'{}' in key '{}' must be a number, a text or true or false", name, key));
    }
  }
}

Config config_from(const Json& json) {
  const JsonLine line(json);
  line.allow_only({"variant", "tunables"});
  (void)line.text("variant");
  check_scalars(line.object("tunables"), "tunables");
  return config_from_json(json);
}

void check_finalist(const Json& json) {
  const JsonLine entry(json);
  (void)entry.text("config");
  (void)entry.number("median_ns");
  for (const Json& sample : entry.array("samples_ns")) {
    if (!sample.is_number()) throw InputError("key 'samples_ns' must be an array of numbers");
  }
}

// Kept as it is once its parts have been checked: later readers rely on them.
std::string evidence_from(const Json& json) {
  const JsonLine evidence(json);
  for (const Json& finalist : evidence.array("finalists")) check_finalist(finalist);
  if (evidence.has("source")) (void)evidence.text("source");
  for (const char* key : {"close", "first"}) {
    if (!evidence.has(key)) continue;
    for (const Json& entry : evidence.array(key)) {
      const JsonLine close(entry);
      (void)close.text("config");
      (void)close.number("slowdown");
    }
  }
  return json_text(json);
}

class WisdomReader {
 public:
  explicit WisdomReader(std::string file) : file_(std::move(file)) {}

  void read(std::string_view line) {
    ++number_;
    if (foreign_ || line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    try {
      if (line.size() > kMaxLineBytes) {
        throw InputError(
            fmt::format("line of {} bytes; expected at most {}", line.size(), kMaxLineBytes));
      }
      read(parse_json_line(line));
    } catch (const Error& error) {
      text_.bad.push_back(fmt::format("{}:{}: {}", file_, number_, error.what()));
    } catch (const Json::exception& error) {
      text_.bad.push_back(fmt::format("{}:{}: {}", file_, number_, error.what()));
    }
  }

  WisdomText finish() {
    if (!versioned_ && text_.bad.empty()) {
      text_.bad.push_back(file_ + ": is empty; expected wisdom as `kiln db export` writes it");
    }
    return std::move(text_);
  }

 private:
  void read(const Json& json) {
    const JsonLine line(json);
    if (line.has("kiln_wisdom")) return read_header(line);
    if (!versioned_) {
      foreign_ = true;
      throw InputError(fmt::format(
          "expected the header {{\"kiln_wisdom\":{}}} first, as `kiln db export` writes it",
          kWisdomVersion));
    }
    if (line.has("kernel")) {
      text_.entries.push_back({best_from(line), {file_, number_, 0}});
    } else if (line.has("info")) {
      read_device(line);
    } else {
      throw InputError("expected a line with the key 'kernel' (a best) or 'info' (a device)");
    }
  }

  void read_header(const JsonLine& line) {
    const std::int64_t version = line.count("kiln_wisdom");
    versioned_ = version == kWisdomVersion;
    if (!versioned_) {
      foreign_ = true;
      throw InputError(
          fmt::format("wisdom of version {}; this Kiln reads version {}", version, kWisdomVersion));
    }
  }

  void read_device(const JsonLine& line) {
    line.allow_only({"device", "info"});
    DeviceInfo device = device_from_json(line.object("info"));
    const std::string called = line.text("device");
    if (current_identity(called, device) != identity_of(device)) {
      throw InputError(fmt::format("the device is called '{}', its info is that of '{}'", called,
                                   identity_of(device)));
    }
    devices_.insert_or_assign(called, std::move(device));
  }

  DeviceInfo find_device(const std::string& identity) const {
    const auto found = devices_.find(identity);
    if (found == devices_.end()) {
      throw InputError(fmt::format(
          "nothing was said of the device '{}'; expected a line with its info before", identity));
    }
    return found->second;
  }

  BestRecord best_from(const JsonLine& line) const {
    line.allow_only(kBestKeys);
    BestRecord best;
    best.key = {.kernel = line.text("kernel"),
                .spec_hash = line.text("spec_hash"),
                .problem = {},
                .device = line.text("device"),
                .driver = line.text("driver"),
                .compiler = line.text("compiler"),
                .tool_version = line.text("tool_version"),
                .strategy = line.text("strategy"),
                .seed = seed_from(line.text("seed")),
                .options = line.text("options"),
                .timing = timing_from(line)};
    best.device_info = find_device(best.key.device);
    best.key.device = identity_of(best.device_info);
    best.device_info.driver = best.key.driver;
    best.device_info.compiler = best.key.compiler;
    check_scalars(line.object("problem"), "problem");
    best.problem_json = json_text(line.object("problem"));
    best.config = config_from(line.object("config"));
    best.template_hash = line.text("template_hash");
    best.time_ns = line.number("time_ns");
    if (best.time_ns == 0) throw InputError("key 'time_ns' must be a number above 0");
    best.default_time_ns = line.number("default_time_ns");
    if (line.has("naive_time_ns")) best.naive_time_ns = line.number("naive_time_ns");
    best.verdict = stated_verdict(line.text("verdict"));
    best.bytes = line.number("bytes");
    best.flops = line.number("flops");
    best.trials = line.count("trials");
    best.failures = line.count("failures");
    best.published_at = time_from(line.text("published_at"));
    best.evidence = evidence_from(line.object("evidence"));
    return best;
  }

  std::string file_;
  int number_ = 0;
  bool versioned_ = false;  ///< the header was seen
  bool foreign_ = false;    ///< no wisdom that we know: the rest of the text says nothing to us
  std::map<std::string, DeviceInfo> devices_;
  WisdomText text_;
};

}  // namespace

WisdomText read_wisdom(std::string_view text, const std::string& file) {
  WisdomReader reader(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace kiln
