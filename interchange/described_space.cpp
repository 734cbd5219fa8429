// SPDX-License-Identifier: Apache-2.0
#include "interchange/described_space.hpp"

#include <nlohmann/json.hpp>

#include "interchange/json_reading.hpp"
#include "interchange/json_rows.hpp"
#include "interchange/space_list.hpp"
#include "interchange/t1.hpp"

namespace kiln {

std::vector<DescribedSpace> read_described_spaces(std::string_view text, const std::string& path) {
  const interchange::OrderedJson json = interchange::parse_whole(text, path);
  if (is_t1(json)) return {read_t1(json, text, path)};
  if (interchange::find_member(json, "spaces") != nullptr) return read_space_list(json, text, path);
  throw InputError({path, 0, 0},
                   "expected a T1 file (with \"ConfigurationSpace\") or a list of spaces (with "
                   "\"spaces\")");
}

}  // namespace kiln
