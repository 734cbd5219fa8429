// Wisdom: bests with their evidence as text, to be kept in a repository, sent and imported.
//
// JSON lines, one object per line: a header with the version, a line for each device, a line for
// each best. docs/wisdom.md describes the format. A text may come from a stranger: reading checks
// every key and type, and check_wisdom() (wisdom/wisdom_check.hpp) checks each best against its
// spec.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "db/records.hpp"

namespace kiln {

inline constexpr int kWisdomVersion = 1;

/// Returns the text of `bests`, in an order that depends only on their content: equal bests give
/// equal text. Ends with a newline.
[[nodiscard]] std::string write_wisdom(std::span<const BestRecord> bests);

/// One best and its place in the text.
struct WisdomEntry {
  BestRecord best;
  SourceLocation where;
};

struct WisdomText {
  std::vector<WisdomEntry> entries;  ///< in the order of the text
  std::vector<std::string> bad;      ///< errors of lines, each "FILE:LINE: ..."
};

/// Reads a wisdom text; `file` names it in messages. Never throws for the content of a line: each
/// unreadable line becomes a sentence of `bad`. A text without a header that this Kiln knows gives
/// no entry. A best comes without `session`, the device's ordinal and the problem's canonical text
/// (check_wisdom() fills that in).
[[nodiscard]] WisdomText read_wisdom(std::string_view text, const std::string& file);

}  // namespace kiln
