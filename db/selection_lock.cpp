// SPDX-License-Identifier: Apache-2.0
#include "db/selection_lock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/hash.hpp"
#include "db/json_line.hpp"
#include "db/wisdom.hpp"

namespace kiln {
namespace {

constexpr int kLockVersion = 1;

void check_header(std::string_view line, std::string_view rest) {
  const Json json = parse_json_line(line);
  const JsonLine header(json);
  if (header.count("kiln_lock") != kLockVersion) {
    throw InputError(fmt::format("a lock of version {}; this Kiln reads version {}",
                                 header.count("kiln_lock"), kLockVersion));
  }
  if (header.text("content") != hash128_hex(rest)) {
    throw InputError(fmt::format(
        "the lock was changed after it was made: its content has the hash {}, not {}; make it anew "
        "with `kiln db lock`",
        hash128_hex(rest), header.text("content")));
  }
}

}  // namespace

std::string write_selection_lock(std::span<const BestRecord> bests) {
  const std::string content = write_wisdom(bests);
  const Json header = {{"kiln_lock", kLockVersion}, {"content", hash128_hex(content)}};
  return header.dump() + '\n' + content;
}

std::vector<BestRecord> read_selection_lock(std::string_view text, const std::string& file) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view rest = text.substr(std::min(end + 1, text.size()));
  try {
    check_header(text.substr(0, end), rest);
  } catch (const Error& error) {
    throw InputError({file, 1, 0}, error.what());
  }
  WisdomText wisdom = read_wisdom(rest, file);
  if (!wisdom.bad.empty()) throw InputError(wisdom.bad.front());
  std::vector<BestRecord> bests;
  for (WisdomEntry& entry : wisdom.entries) {
    entry.best.layer = kLockedLayer;
    bests.push_back(std::move(entry.best));
  }
  return bests;
}

}  // namespace kiln
