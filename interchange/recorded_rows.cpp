// SPDX-License-Identifier: Apache-2.0
#include "interchange/recorded_rows.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln::interchange {

JsonRows open_results(std::string_view text, const std::string& path, const char* key,
                      RecordedTrials& recorded) {
  JsonRows file = parse_rows(text, path, key, "result");
  if (file.is_cut && file.bad.empty()) {
    file.bad.push_back(fmt::format("{}: the file ends after result {}; expected the end of \"{}\"",
                                   path, file.rows.size(), key));
  }
  if (file.rows.empty() && file.bad.empty()) {
    throw InputError({path, 0, 0},
                     fmt::format("expected \"{}\" to be a list with at least one result", key));
  }
  recorded.path = path;
  recorded.bad = std::move(file.bad);
  return file;
}

}  // namespace kiln::interchange
