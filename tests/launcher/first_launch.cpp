// An application that prepares one kernel and launches it once, over host memory that a real device
// would refuse: for the CUDA driver without a GPU.
//
//   launcher_first_launch DATABASE CACHE KERNEL PROBLEM [hip]
//
// With "hip" it runs on a stream of its own, which it makes by the library in $KILN_HIP_LIBRARY.
// With $FIRST_LAUNCH_FORKS it also starts a child, which exits at once.
// Prints "cache" or "compiled", the grade, whether it is stale, and the config; or an error, ending
// with 1.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <kiln/launcher.hpp>

namespace {

void* make_hip_stream() {
  const char* library = std::getenv("KILN_HIP_LIBRARY");
  void* handle = library == nullptr ? nullptr : ::dlopen(library, RTLD_NOW);
  void* create = handle == nullptr ? nullptr : ::dlsym(handle, "hipStreamCreateWithFlags");
  void* stream = nullptr;
  if (create == nullptr || reinterpret_cast<int (*)(void**, unsigned)>(create)(&stream, 1) != 0) {
    std::puts("no HIP stream could be made");
    std::exit(1);
  }
  return stream;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_hip = argc == 6 && std::strcmp(argv[5], "hip") == 0;
  if (argc != 5 && !is_hip) {
    std::fputs("usage: launcher_first_launch DATABASE CACHE KERNEL PROBLEM [hip]\n", stderr);
    return 2;
  }
  void* stream = is_hip ? make_hip_stream() : nullptr;
  kiln::Launcher::Options options = is_hip ? kiln::Launcher::Options::on_hip_stream(stream)
                                           : kiln::Launcher::Options::on_device("cuda");
  if (argv[1][0] != '\0') {  // empty: the default places
    options.databases = {argv[1]};
  }
  options.cache_folder = argv[2];
  const auto launcher = kiln::Launcher::open(options);
  if (!launcher) {
    std::puts(launcher.error().message.c_str());
    return 1;
  }
  const auto kernel = launcher->prepare(argv[3], argv[4]);
  if (!kernel) {
    std::puts(kernel.error().message.c_str());
    return 1;
  }
  std::vector<kiln::LaunchArgument> arguments;
  std::vector<std::vector<char>> memory;
  for (const auto& wanted : kernel->arguments()) {
    memory.emplace_back(wanted.bytes);
    arguments.push_back(wanted.scalar
                            ? kiln::scalar(wanted.name, 1)
                            : kiln::memory(wanted.name, memory.back().data(), wanted.bytes));
  }
  const auto done = kernel->launch(stream, arguments.data(), arguments.size());
  if (!done) {
    std::puts(done.error().message.c_str());
    return 1;
  }
  const kiln::Launcher::Match& match = kernel->match();
  std::printf("%s %s%s %s\n", kernel->from_cache() ? "cache" : "compiled",
              kiln::to_string(match.grade), match.stale ? " stale" : "", match.config.c_str());
  std::fflush(stdout);
  if (std::getenv("FIRST_LAUNCH_FORKS") != nullptr) {
    const pid_t child = ::fork();
    if (child == 0) std::exit(0);  // a helper of the application
    ::waitpid(child, nullptr, 0);
  }
  return 0;
}
