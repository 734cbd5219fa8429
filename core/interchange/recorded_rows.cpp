// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/recorded_rows.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln::interchange {

namespace {

void add_cut(const JsonRows& file, const std::string& path, std::string_view key,
             std::string_view entry, std::vector<std::string>& bad) {
  if (!file.is_cut || !bad.empty()) return;
  bad.push_back(fmt::format("{}: the file ends after {} {}; expected the end of \"{}\"", path,
                            entry, file.rows.size(), key));
}

}  // namespace

JsonRows open_results(std::string_view text, const std::string& path, const char* key,
                      RecordedTrials& recorded) {
  JsonRows file = parse_rows(text, path, key, "result");
  add_cut(file, path, key, "result", file.bad);
  if (file.rows.empty() && file.bad.empty()) {
    throw InputError({path, 0, 0},
                     fmt::format("expected \"{}\" to be a list with at least one result", key));
  }
  recorded.path = path;
  recorded.bad = std::move(file.bad);
  return file;
}

void add_faults(std::vector<RecordedTrials>& groups, const JsonRows& file, const std::string& path,
                std::string_view key, std::string_view entry, const std::string& expected) {
  RecordedTrials broken;
  broken.path = path;
  broken.bad = file.bad;
  add_cut(file, path, key, entry, broken.bad);
  if (groups.empty() && broken.bad.empty()) throw InputError({path, 0, 0}, expected);
  if (!broken.bad.empty()) groups.insert(groups.begin(), std::move(broken));
}

}  // namespace kiln::interchange
