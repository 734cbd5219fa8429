// SPDX-License-Identifier: Apache-2.0
#include "tests/support/postgres_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

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

/// Starts a program with its output in `log`.
pid_t start_program(const std::vector<std::string>& words, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(file, 1);
  ::dup2(file, 2);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

int exit_code(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
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
  if (exit_code(made) != 0) throw std::runtime_error(text_of(log));
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
    if (exit_code(probe) == 0) return;
    if (::waitpid(process_, nullptr, WNOHANG) == process_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error(text_of(log));
}

void PostgresServer::stop() {
  if (process_ <= 0) return;
  ::kill(process_, SIGQUIT);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

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
  if (exit_code(child) != 0) throw std::runtime_error(text_of(log));
}

}  // namespace kiln::test
