// Wisdom: bests with their evidence as text, to be kept in a repository, sent and imported.
//
// JSON lines, one object a line: a header with the version, a line for each device, a line for each
// best. docs/wisdom.md is the format's page. Texts may come from strangers: reading checks every
// key and type; check_wisdom (db/wisdom_check.hpp) holds each best against its spec.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "db/store.hpp"

namespace kiln {

inline constexpr int kWisdomVersion = 1;

/// What is marked in the options of a session that was imported: it never answers or continues a
/// `kiln tune` of this machine, whose trials are its own. Wisdom text does not carry the mark.
inline constexpr std::string_view kImported = "imported";

/// The text of `bests`, in an order that depends on nothing but their content: equal bests give
/// equal text. Ends with a newline.
[[nodiscard]] std::string write_wisdom(std::span<const BestRecord> bests);

/// One best and where it stood.
struct WisdomEntry {
  BestRecord best;
  SourceLocation where;
};

struct WisdomText {
  std::vector<WisdomEntry> entries;  ///< in the order of the text
  std::vector<std::string> bad;      ///< what is wrong with a line, "FILE:LINE: ..." each
};

/// Reads a wisdom text; `file` names it in messages. Never throws for what a line says: each line
/// that cannot be read is a sentence of `bad`, and a text without a header that this Kiln knows
/// gives no entry. Of a best, `session`, the
/// device's ordinal and the problem's canonical text (check_wisdom() fills it in) are not there.
[[nodiscard]] WisdomText read_wisdom(std::string_view text, const std::string& file);

}  // namespace kiln
