// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/print.hpp"

namespace kiln::cli {
namespace {

std::atomic<bool> g_stop = false;
std::atomic<int> g_signal = SIGINT;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may set them");

void on_signal(int number) {
  g_signal = number;
  g_stop = true;
}

bool install_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal ends the process
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // The terminal went away; `nohup` has it ignored.
  struct sigaction before {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  return true;
}

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  [[maybe_unused]] static const bool kInstalled = install_handlers();
  return g_stop;
}

bool was_interrupted() { return g_stop; }

void ignore_failed_writes() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void end_with_parent() {
  const char* parent = std::getenv("KILN_PARENT");
  if (parent == nullptr) return;
  const std::string named = parent;
  ::unsetenv("KILN_PARENT");  // what this process starts has another parent
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have ended before. (A wrapper may stand between it and this process.)
  const pid_t process = static_cast<pid_t>(std::strtol(named.c_str(), nullptr, 10));
  if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) ::raise(SIGTERM);
}

ExitCode interrupted_exit_code() { return static_cast<ExitCode>(128 + g_signal.load()); }

void print_interrupted(const std::string& what, bool fresh) {
  print_shown(stderr, "kiln: {} was interrupted; run the same command again{} to continue\n", what,
              fresh ? ", without --fresh," : "");
}

}  // namespace kiln::cli
