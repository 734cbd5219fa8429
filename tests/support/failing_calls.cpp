// For LD_PRELOAD: lets one call of the system fail, as it does at a limit, on a full disk, or on
// another file system.
//
// $KILN_FAIL is "CALL:N": the N-th call of a process fails, and all of them for N = 0. CALL is one
// of kCalls below. Only calls from the program itself or from libkiln count, and none of Kiln's
// workers. With $KILN_FAIL_COUNT a process that ends writes how many there were into that file.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t bytes);                    // NOLINT: glibc's own names
void* __libc_calloc(std::size_t count, std::size_t each);  // NOLINT
void* __libc_realloc(void* memory, std::size_t bytes);     // NOLINT
}

namespace {

struct Call {
  const char* name;
  int error;
};
constexpr std::array kCalls = {
    Call{"allocation", ENOMEM}, Call{"write", ENOSPC}, Call{"fsync", EIO},   Call{"open", EMFILE},
    Call{"rename", EIO},        Call{"fork", EAGAIN},  Call{"pipe", EMFILE}, Call{"mmap", ENOMEM},
    Call{"thread", EAGAIN},     Call{"flock", ENOLCK}};

struct Range {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
};

/// What is to fail, read before main() by the first call.
struct Plan {
  const char* call = nullptr;
  int error = 0;
  long number = -1;
  std::array<Range, 32> ours{};  ///< code of the program and of libkiln
  std::size_t ranges = 0;
};

int note_object(dl_phdr_info* object, std::size_t, void* out) {
  auto& plan = *static_cast<Plan*>(out);
  const bool is_program = object->dlpi_name == nullptr || *object->dlpi_name == '\0';
  if (!is_program && std::strstr(object->dlpi_name, "/libkiln.so") == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum && plan.ranges < plan.ours.size(); ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t from = object->dlpi_addr + part.p_vaddr;
    plan.ours.at(plan.ranges++) = {from, from + part.p_memsz};
  }
  return 0;
}

/// `kiln worker ...`, whose faults are told apart by other tests.
bool is_worker() {
  std::array<char, 4096> words{};
  const int file =
      static_cast<int>(::syscall(SYS_openat, -100 /*AT_FDCWD*/, "/proc/self/cmdline", 0, 0));
  if (file < 0) return false;
  const auto bytes = ::read(file, words.data(), words.size() - 1);
  ::close(file);
  const std::size_t first = std::strlen(words.data());
  return bytes > static_cast<ssize_t>(first) &&
         std::strcmp(words.data() + first + 1, "worker") == 0;
}

Plan read_plan() {
  Plan plan;
  const char* asked = std::getenv("KILN_FAIL");
  const char* colon = asked == nullptr ? nullptr : std::strchr(asked, ':');
  if (colon == nullptr || is_worker()) return plan;
  for (const Call& each : kCalls) {
    if (std::strncmp(asked, each.name, static_cast<std::size_t>(colon - asked)) != 0) continue;
    plan.call = each.name;
    plan.error = each.error;
  }
  plan.number = std::atol(colon + 1);
  ::dl_iterate_phdr(note_object, &plan);
  return plan;
}

const Plan& plan() {
  static const Plan kPlan = read_plan();
  return kPlan;
}

std::atomic<long> calls = 0;

/// Whether this call is the one; errno says why, then.
bool fails(const char* call, const void* caller) {
  const Plan& now = plan();
  if (now.call == nullptr || std::strcmp(now.call, call) != 0) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < now.ranges; ++i) {
    if (from < now.ours.at(i).from || from >= now.ours.at(i).to) continue;
    const long number = ++calls;
    if (now.number != 0 && number != now.number) return false;
    errno = now.error;
    return true;
  }
  return false;
}

struct Counter {
  ~Counter() {
    const char* file = std::getenv("KILN_FAIL_COUNT");
    if (file == nullptr || plan().call == nullptr) return;
    if (std::FILE* out = std::fopen(file, "w"); out != nullptr) {
      std::fprintf(out, "%ld\n", calls.load());
      std::fclose(out);
    }
  }
};
const Counter kCounter;

/// The function of this name that the program would have called.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define KILN_CALLER __builtin_return_address(0)
// CALL fails with FAILURE, or else is NAME(ARGUMENTS).
#define KILN_FAILING(RESULT, NAME, CALL, FAILURE, PARAMETERS, ...) \
  extern "C" RESULT NAME PARAMETERS {                              \
    static auto* const real = next<RESULT PARAMETERS>(#NAME);      \
    return fails(CALL, KILN_CALLER) ? FAILURE : real(__VA_ARGS__); \
  }

extern "C" void* malloc(std::size_t bytes) {
  return fails("allocation", KILN_CALLER) ? nullptr : __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t each) {
  return fails("allocation", KILN_CALLER) ? nullptr : __libc_calloc(count, each);
}
extern "C" void* realloc(void* memory, std::size_t bytes) {
  return fails("allocation", KILN_CALLER) ? nullptr : __libc_realloc(memory, bytes);
}
// libkiln calls the C++ runtime's; the program has its own inside, which calls malloc.
void* operator new(std::size_t bytes) {
  void* memory = fails("allocation", KILN_CALLER) ? nullptr : __libc_malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

KILN_FAILING(ssize_t, write, "write", -1, (int file, const void* bytes, std::size_t count), file,
             bytes, count)
KILN_FAILING(ssize_t, pwrite64, "write", -1,
             (int file, const void* bytes, std::size_t count, off64_t at), file, bytes, count, at)
KILN_FAILING(ssize_t, writev, "write", -1, (int file, const struct iovec* parts, int count), file,
             parts, count)
KILN_FAILING(int, fsync, "fsync", -1, (int file), file)
KILN_FAILING(int, fdatasync, "fsync", -1, (int file), file)
KILN_FAILING(std::FILE*, fopen64, "open", nullptr, (const char* name, const char* mode), name, mode)
KILN_FAILING(int, rename, "rename", -1, (const char* from, const char* to), from, to)
KILN_FAILING(int, renameat, "rename", -1, (int in, const char* from, int out, const char* to), in,
             from, out, to)
KILN_FAILING(pid_t, fork, "fork", -1, ())
KILN_FAILING(int, posix_spawnp, "fork", EAGAIN,
             (pid_t * process, const char* file, const posix_spawn_file_actions_t* actions,
              const posix_spawnattr_t* attributes, char* const* words, char* const* environment),
             process, file, actions, attributes, words, environment)
KILN_FAILING(int, pipe2, "pipe", -1, (int* ends, int flags), ends, flags)
KILN_FAILING(void*, mmap, "mmap", MAP_FAILED,
             (void* place, std::size_t bytes, int access, int flags, int file, off_t at), place,
             bytes, access, flags, file, at)
KILN_FAILING(void*, mmap64, "mmap", MAP_FAILED,
             (void* place, std::size_t bytes, int access, int flags, int file, off64_t at), place,
             bytes, access, flags, file, at)
KILN_FAILING(int, pthread_create, "thread", EAGAIN,
             (pthread_t * thread, const pthread_attr_t* attributes, void* (*work)(void*),
              void* argument),
             thread, attributes, work, argument)
KILN_FAILING(int, flock, "flock", -1, (int file, int operation), file, operation)

// Those with a mode that may be missing; reading one that is not there is harmless here.
#define KILN_FAILING_OPEN(NAME)                                        \
  extern "C" int NAME(const char* name, int flags, ...) {              \
    static auto* const real = next<int(const char*, int, ...)>(#NAME); \
    va_list more;                                                      \
    va_start(more, flags);                                             \
    const auto mode = va_arg(more, unsigned);                          \
    va_end(more);                                                      \
    return fails("open", KILN_CALLER) ? -1 : real(name, flags, mode);  \
  }
KILN_FAILING_OPEN(open)
KILN_FAILING_OPEN(open64)
extern "C" int openat(int folder, const char* name, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list more;
  va_start(more, flags);
  const auto mode = va_arg(more, unsigned);
  va_end(more);
  return fails("open", KILN_CALLER) ? -1 : real(folder, name, flags, mode);
}
