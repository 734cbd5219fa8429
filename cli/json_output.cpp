// SPDX-License-Identifier: Apache-2.0
#include "cli/json_output.hpp"

#include <nlohmann/json.hpp>

namespace kiln::cli {

std::string json_output(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::cli
