// libpq, opened at run time: the program runs where there is none, and says so when a server is
// named. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libpq-fe.h>

namespace kiln {

/// The functions of libpq that Kiln calls; libpq's manual describes them.
struct PostgresApi {
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQstatus) status = nullptr;
  decltype(&::PQerrorMessage) error_message = nullptr;
  decltype(&::PQsetNoticeReceiver) set_notice_receiver = nullptr;
  decltype(&::PQparameterStatus) parameter_status = nullptr;
  decltype(&::PQserverVersion) server_version = nullptr;
  decltype(&::PQbackendPID) backend_pid = nullptr;
  decltype(&::PQexec) exec = nullptr;
  decltype(&::PQexecParams) exec_params = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQresultErrorField) error_field = nullptr;
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQntuples) rows = nullptr;
  decltype(&::PQnfields) columns = nullptr;
  decltype(&::PQfname) column_name = nullptr;
  decltype(&::PQftype) column_type = nullptr;
  decltype(&::PQgetisnull) is_null = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
  decltype(&::PQgetlength) length = nullptr;
};

/// Loads libpq at the first call ($KILN_LIBPQ names another file). Throws DatabaseError if it is
/// not there or lacks a function. Any thread may call it.
[[nodiscard]] const PostgresApi& postgres_api();

}  // namespace kiln
