// Reads files with a list of results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interchange/json_rows.hpp"
#include "interchange/recorded_trials.hpp"
#include "interchange/tunable_values.hpp"

namespace kiln::interchange {

/// The results of `text` under `key`, and what stands around them. Their path and what cannot be
/// read of them, such as a file that was cut, goes into `recorded`. Throws InputError where there
/// is no result.
[[nodiscard]] JsonRows open_results(std::string_view text, const std::string& path, const char* key,
                                    RecordedTrials& recorded);

/// Reads the results under `key` by a Reader: made of the head and `recorded`, its read() returns
/// the trial of a row or throws InputError with its place, and finish() ends it.
template <typename Reader>
[[nodiscard]] RecordedTrials read_results(std::string_view text, const std::string& path,
                                          const char* key) {
  RecordedTrials recorded;
  const JsonRows file = open_results(text, path, key, recorded);
  Reader reader(file.head, recorded);
  for (const JsonRow& row : file.rows) {
    try {
      recorded.trials.push_back(reader.read(row));
    } catch (const InputError& error) {
      recorded.bad.emplace_back(error.what());
    }
  }
  reader.finish();
  sort_values(recorded.tunables);
  drop_contradictions(recorded);
  return recorded;
}

}  // namespace kiln::interchange
