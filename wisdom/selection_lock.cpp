// SPDX-License-Identifier: Apache-2.0
#include "wisdom/selection_lock.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/hash.hpp"
#include "core/json_line.hpp"
#include "core/json_text.hpp"
#include "db/evidence.hpp"
#include "wisdom/shipped.hpp"
#include "wisdom/wisdom.hpp"

namespace kiln {
namespace {

// Version 2 may name the shipped rows; without them a lock is still of version 1.
constexpr int kPlainVersion = 1;
constexpr int kShippedVersion = 2;

/// The part of the evidence that a lookup reads: configs and their slowdowns, not the samples.
std::string without_samples(const std::string& text) {
  Evidence evidence = read_evidence(text);
  Evidence kept;
  kept.finalists = std::move(evidence.finalists);
  for (Finalist& finalist : kept.finalists) {
    finalist.ns.clear();
    finalist.values.clear();
  }
  kept.close = std::move(evidence.close);
  kept.first = std::move(evidence.first);
  return to_text(kept);
}

/// The shipped rows that a header names.
std::vector<BestRecord> shipped_rows(const Json& json) {
  std::vector<BestRecord> bests;
  const JsonLine header(json);
  if (!header.has("shipped")) return bests;
  if (header.text("shipped") != shipped_hash()) {
    throw InputError(
        "the lock was made with the shipped rows of another Kiln; make it anew with `kiln db "
        "lock`, or with --hold-shipped for several versions");
  }
  std::vector<std::string> devices;
  for (const Json& device : header.array("shipped_devices")) {
    if (device.is_string()) devices.push_back(device.get<std::string>());
  }
  for (const std::string& kernel : shipped_kernels()) {
    for (BestRecord& best : shipped_bests(kernel)) {
      const bool is_named = devices.empty() || std::find(devices.begin(), devices.end(),
                                                         best.key.device) != devices.end();
      if (is_named) bests.push_back(std::move(best));
    }
  }
  return bests;
}

/// The header, checked.
Json read_header(std::string_view line, std::string_view rest) {
  Json json = parse_json_line(line);
  const JsonLine header(json);
  const std::int64_t version = header.count("kiln_lock");
  if (version != kPlainVersion && version != kShippedVersion) {
    throw InputError(fmt::format("a lock of version {}; this Kiln reads versions {} and {}",
                                 version, kPlainVersion, kShippedVersion));
  }
  if (header.text("content") != hash128_hex(rest)) {
    throw InputError(fmt::format(
        "the lock was changed after it was made: its content has the hash {}, not {}; make it anew "
        "with `kiln db lock`",
        hash128_hex(rest), header.text("content")));
  }
  return json;
}

}  // namespace

std::string write_selection_lock(std::span<const BestRecord> bests, const LockedShipped& shipped) {
  std::vector<BestRecord> rows(bests.begin(), bests.end());
  for (BestRecord& best : rows) best.evidence = without_samples(best.evidence);
  const std::string content = write_wisdom(rows);
  Json header = {{"kiln_lock", kPlainVersion}, {"content", hash128_hex(content)}};
  if (shipped.included) {
    header["kiln_lock"] = kShippedVersion;
    header["shipped"] = shipped_hash();
    header["shipped_devices"] = shipped.devices;
  }
  return json_text(header) + '\n' + content;
}

std::vector<BestRecord> read_selection_lock(std::string_view text, const std::string& file) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view rest = text.substr(std::min(end + 1, text.size()));
  std::vector<BestRecord> shipped;
  try {
    shipped = shipped_rows(read_header(text.substr(0, end), rest));
  } catch (const Error& error) {
    throw InputError({file, 1, 0}, error.what());
  }
  WisdomText wisdom = read_wisdom(rest, file);
  if (!wisdom.bad.empty()) throw InputError(wisdom.bad.front());
  std::vector<BestRecord> bests;
  for (WisdomEntry& entry : wisdom.entries) bests.push_back(std::move(entry.best));
  for (BestRecord& best : shipped) bests.push_back(std::move(best));
  for (BestRecord& best : bests) best.layer = kLockedLayer;
  return bests;
}

}  // namespace kiln
