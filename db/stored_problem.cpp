// SPDX-License-Identifier: Apache-2.0
#include "db/stored_problem.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace kiln {

Json stored_problem(const std::string& problem_json, SessionId session) {
  Json json = Json::parse(problem_json, nullptr, false);
  if (json.is_object()) return json;
  throw DatabaseError(
      fmt::format("session {}: expected its problem_json to be a JSON object of fields", session));
}

std::vector<std::pair<std::string, Value>> stored_fields(const std::string& problem_json,
                                                         SessionId session) {
  std::vector<std::pair<std::string, Value>> fields;
  const Json json = stored_problem(problem_json, session);
  for (const auto& [name, value] : json.items()) {
    if (!value.is_primitive() || value.is_null()) {
      throw DatabaseError(fmt::format(
          "session {}: expected the field {} of its problem_json to be a number, text or boolean",
          session, name));
    }
    fields.emplace_back(name, value_from_json(value));
  }
  return fields;
}

}  // namespace kiln
