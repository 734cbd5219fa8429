// SPDX-License-Identifier: Apache-2.0
#include "tests/support/postgres_server.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/support/started_program.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

// The server refuses to run as root: there it is "nobody".
constexpr uid_t kNobody = 65534;

/// The folder of the newest server's programs; empty if there is none.
fs::path programs() {
  fs::path newest;
  int version = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const int number = std::atoi(entry.path().filename().c_str());
    if (number > version && fs::exists(entry.path() / "bin/initdb")) {
      version = number;
      newest = entry.path() / "bin";
    }
  }
  return newest;
}

}  // namespace

std::string PostgresServer::missing() {
  return programs().empty() ? "no PostgreSQL server in /usr/lib/postgresql" : "";
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() {
  std::string name = "/tmp/kiln-pg-XXXXXX";  // short: the path of a socket has 107 bytes
  folder_ = ::mkdtemp(name.data());
  if (::geteuid() == 0 && ::chown(folder_.c_str(), kNobody, kNobody) != 0)
    throw std::runtime_error("cannot hand over " + folder_.string());
  const fs::path log = folder_.string() + ".log";
  const pid_t made = start_program(
      as_server_user({(programs() / "initdb").string(), "-D", (folder_ / "data").string(), "-U",
                      "kiln_owner", "-E", "UTF8", "--locale=C", "--no-sync", "-A", "trust"}),
      log);
  if (exit_code_of(made) != 0) throw std::runtime_error(file_text(log));
  start();
}

PostgresServer::~PostgresServer() {
  stop();
  std::error_code error;
  fs::remove_all(folder_, error);
  fs::remove(folder_.string() + ".log", error);
}

// The server ends with the process that started it.
std::vector<std::string> PostgresServer::as_server_user(std::vector<std::string> words) const {
  std::vector<std::string> all = {"setpriv", "--pdeathsig", "QUIT"};
  if (::geteuid() == 0) {
    const std::string id = std::to_string(kNobody);
    for (const std::string& word :
         {"--reuid=" + id, "--regid=" + id, std::string("--clear-groups")})
      all.push_back(word);
  }
  std::move(words.begin(), words.end(), std::back_inserter(all));
  return all;
}

void PostgresServer::start() {
  const fs::path log = folder_.string() + ".log";
  process_ = start_program(
      as_server_user({(programs() / "postgres").string(), "-D", (folder_ / "data").string(), "-k",
                      folder_.string(), "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                      "shared_buffers=32MB", "-c", "max_connections=200"}),
      log);
  for (int i = 0; i < 600; ++i) {
    const pid_t probe = start_program(
        {(programs() / "pg_isready").string(), "-q", "-h", folder_.string()}, "/dev/null");
    if (exit_code_of(probe) == 0) return;
    if (::waitpid(process_, nullptr, WNOHANG) == process_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error(file_text(log));
}

void PostgresServer::stop() { end_program(process_, SIGQUIT); }

std::string PostgresServer::url(const std::string& database, const std::string& role) const {
  return "postgresql://" + role + "@/" + database + "?host=" + folder_.string();
}

std::string PostgresServer::database_of(const std::string& url) {
  const std::size_t end = url.find('?');
  const std::size_t begin = url.rfind('/', end) + 1;
  return url.substr(begin, end - begin);
}

std::string PostgresServer::new_database() {
  const std::string name = "kiln_" + std::to_string(++databases_);
  run("postgres", "CREATE DATABASE " + name);
  return url(name);
}

void PostgresServer::run(const std::string& database, const std::string& statements) const {
  const fs::path log = folder_.string() + ".log";
  const pid_t child = start_program({(programs() / "psql").string(), "-q", "-X", "-v",
                                     "ON_ERROR_STOP=1", "-c", statements, url(database)},
                                    log);
  if (exit_code_of(child) != 0) throw std::runtime_error(file_text(log));
}

std::string PostgresServer::rows(const std::string& database, const std::string& query) const {
  const fs::path file = folder_.string() + ".rows";
  fs::remove(file);
  const pid_t child = start_program({(programs() / "psql").string(), "-q", "-X", "-A", "-t", "-F",
                                     " ", "-c", query, url(database)},
                                    file);
  const int code = exit_code_of(child);
  std::string text = file_text(file);
  fs::remove(file);
  if (code != 0) throw std::runtime_error(text);
  return text;
}

}  // namespace kiln::test
