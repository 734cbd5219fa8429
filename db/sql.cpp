// SPDX-License-Identifier: Apache-2.0
#include "db/sql.hpp"

namespace kiln::sql {

void Statement::bind_column(int slot, const Statement& row, int column) {
  switch (row.type(column)) {
    case Type::null:
      return bind_null(slot);
    case Type::integer:
      return bind(slot, row.integer(column));
    case Type::real:
      return bind(slot, row.real(column));
    case Type::text:
      return bind(slot, row.text(column));
    case Type::blob:
      return bind_blob(slot, row.blob(column));
  }
}

std::int64_t Statement::run_for_id() {
  const std::int64_t id = step() ? integer(0) : 0;
  reset();
  return id;
}

std::int64_t query_integer(Database& database, const char* text) {
  Statement query(database, text);
  return query.step() ? query.integer(0) : 0;
}

}  // namespace kiln::sql
