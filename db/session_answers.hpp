// What each session answers, in a few numbers: for lists, which must not read samples. Private to
// db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "db/store.hpp"

namespace kiln::sql {
class Database;
}

namespace kiln {

[[nodiscard]] std::map<SessionId, SessionAnswer> read_session_answers(sql::Database& database);

}  // namespace kiln
