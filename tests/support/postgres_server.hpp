// A real PostgreSQL server for tests: in a temporary folder, behind a Unix socket, gone with the
// program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::test {

class PostgresServer {
 public:
  /// Empty where a server can be started; else what is missing.
  [[nodiscard]] static std::string missing();
  /// The server that the tests of this program share, started by the first that calls.
  [[nodiscard]] static PostgresServer& shared();

  /// Makes the folder and starts the server, which trusts every local role. Throws
  /// std::runtime_error with the server's log.
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();
  /// As a power cut: SIGQUIT, no checkpoint. All connections end.
  void stop();

  /// The URL of a new, empty database.
  [[nodiscard]] std::string new_database();
  /// The URL of a database, as the role that owns the server or as another one.
  [[nodiscard]] std::string url(const std::string& database,
                                const std::string& role = "kiln_owner") const;
  /// The name of the database that a URL of this server names.
  [[nodiscard]] static std::string database_of(const std::string& url);
  /// Runs statements as the owner; the tests' own way, with no more checks than psql has.
  void run(const std::string& database, const std::string& statements) const;
  /// The rows of a query of the owner: a line each, with blanks between the columns.
  [[nodiscard]] std::string rows(const std::string& database, const std::string& query) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  [[nodiscard]] std::vector<std::string> as_server_user(std::vector<std::string> words) const;

  std::filesystem::path folder_;  ///< the socket, and the data below it
  pid_t process_ = 0;             ///< 0: stopped
  int databases_ = 0;
};

}  // namespace kiln::test
