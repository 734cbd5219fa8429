// The tables and roles of a fleet, beside those of the sessions. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::sql {
class Database;
}

namespace kiln {

inline constexpr int kFleetVersion = 1;

/// Creates the tables and the roles where they lack, and grants the rights. Throws sql::Error for
/// what the server refuses.
void prepare_fleet(sql::Database& database, const std::string& name);

/// Throws DatabaseError if the server has no fleet, or one of another version.
void require_fleet(sql::Database& database, const std::string& name);

}  // namespace kiln
