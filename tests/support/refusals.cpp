// For LD_PRELOAD: calls of the system that fail as they do at a limit, or on another file system.
//
// $KILN_REFUSE is "flock" (the file system knows no locks) or "thread" (the second thread that the
// program itself starts is refused).
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

bool refuses(const char* what) {
  const char* asked = std::getenv("KILN_REFUSE");
  return asked != nullptr && std::strcmp(asked, what) == 0;
}

bool is_program(const void* caller) {
  Dl_info info{};
  if (::dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  return std::strstr(info.dli_fname, ".so") == nullptr;
}

}  // namespace

extern "C" int flock(int file, int operation) {
  static const auto real = reinterpret_cast<int (*)(int, int)>(::dlsym(RTLD_NEXT, "flock"));
  if (!refuses("flock")) return real(file, operation);
  errno = ENOLCK;
  return -1;
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*work)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> started = 0;
  if (refuses("thread") && is_program(__builtin_return_address(0)) && ++started == 2) return EAGAIN;
  return real(thread, attributes, work, argument);
}
