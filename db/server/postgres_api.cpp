// SPDX-License-Identifier: Apache-2.0
#include "db/server/postgres_api.hpp"

#include <string>

#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

PostgresApi load_postgres() {
  const DynamicLibrary library("PostgreSQL", library_candidates("KILN_LIBPQ", {"libpq.so.5"}));
  PostgresApi api;
  library.bind(api.connect, "PQconnectdbParams");
  library.bind(api.finish, "PQfinish");
  library.bind(api.status, "PQstatus");
  library.bind(api.error_message, "PQerrorMessage");
  library.bind(api.set_notice_receiver, "PQsetNoticeReceiver");
  library.bind(api.parameter_status, "PQparameterStatus");
  library.bind(api.server_version, "PQserverVersion");
  library.bind(api.backend_pid, "PQbackendPID");
  library.bind(api.exec, "PQexec");
  library.bind(api.exec_params, "PQexecParams");
  library.bind(api.result_status, "PQresultStatus");
  library.bind(api.error_field, "PQresultErrorField");
  library.bind(api.clear, "PQclear");
  library.bind(api.rows, "PQntuples");
  library.bind(api.columns, "PQnfields");
  library.bind(api.column_name, "PQfname");
  library.bind(api.column_type, "PQftype");
  library.bind(api.is_null, "PQgetisnull");
  library.bind(api.value, "PQgetvalue");
  library.bind(api.length, "PQgetlength");
  return api;
}

}  // namespace

const PostgresApi& postgres_api() {
  try {
    static const PostgresApi api = load_postgres();
    return api;
  } catch (const DeviceError& error) {
    throw DatabaseError(std::string(error.what()) +
                        "; a database on a server needs libpq (Debian: libpq5); KILN_LIBPQ names "
                        "its file");
  }
}

}  // namespace kiln
