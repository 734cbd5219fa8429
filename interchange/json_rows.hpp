// Reads JSON files whose body is a list of rows. A bad row is skipped and reported. Private to
// interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace kiln::interchange {

/// One element of the list of rows.
struct JsonRow {
  std::string key;       ///< "64,1"; of an array its number, from 1
  SourceLocation where;  ///< of its value's first character
  nlohmann::ordered_json json;
};

struct JsonRows {
  nlohmann::ordered_json head;   ///< the file without its rows
  std::vector<JsonRow> rows;     ///< in the order of the file
  std::vector<std::string> bad;  ///< one message for each row that is no JSON, with its place
  bool is_cut = false;           ///< the file ends among its rows
};

/// The file whose member `rows_at` is an object or array of rows. `noun` names a row in messages:
/// "trial". A file that ends between two rows is read up to there: tuners that are interrupted
/// leave such files. Throws InputError with the place of whatever else is no JSON.
[[nodiscard]] JsonRows parse_rows(std::string_view text, const std::string& path,
                                  std::string_view rows_at, std::string_view noun);

/// The whole text. Throws InputError "path:line:column: what is wrong".
[[nodiscard]] nlohmann::ordered_json parse_whole(std::string_view text, const std::string& path);

}  // namespace kiln::interchange
