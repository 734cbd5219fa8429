// Runs a target over its seeds and mutations of them, in a process that may crash or hang.
//
//   fuzz_seeds TARGET [--seconds S] [--inputs N] [--first NUMBER] [--keep FOLDER] [--write FOLDER]
//   fuzz_seeds TARGET --file FILE
//
// Ends after S seconds (default 10; 4 on a push, KILN_PART) or N inputs, whichever is first, but
// not before all seeds, of which a push takes a part where they are many; with KILN_SOAK=1 after
// 15,000 inputs. An input may use one second of processor time. Every fault is printed and its
// input kept; exit code 1 then.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/errors.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::fuzz {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kSlower = 10;  // what the sanitizers cost
constexpr bool kBoundMemory = false;
#else
constexpr int kSlower = 1;
constexpr bool kBoundMemory = true;
#endif
constexpr int kMaxFaults = 5;
constexpr std::size_t kBytesASecond = 4U << 20U;  // of an input, beyond the first second
constexpr std::size_t kManySeeds = 1000;
constexpr int kUnexpected = 3;  // exit code of a worker whose target threw

using Clock = std::chrono::steady_clock;

/// What the worker tells the one who watches it; in memory of both.
struct Shared {
  std::uint64_t next = 0;      ///< number of the input after the last one that was done
  std::uint64_t answered = 0;  ///< inputs refused with a kiln::Error
  long longest_us = 0;         ///< processor time of the longest
  char thrown[500] = {};
};

struct Options {
  const Target* target = nullptr;
  std::map<std::string, std::string> values;

  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t fallback) const {
    const auto found = values.find(name);
    return found == values.end() ? fallback : std::stoull(found->second);
  }
};

void set_deadline(int seconds) {
  const itimerval limit = {{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);  // its signal ends the process
}

long used_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

/// Ends the process with kUnexpected when the target throws what it may not.
void run_one(const Target& target, const std::string& input, Shared& shared) {
  const long before = used_us();
  set_deadline(kSlower * (1 + static_cast<int>(input.size() / kBytesASecond)));
  try {
    target.run(input);
  } catch (const Error&) {
    ++shared.answered;
  } catch (const std::exception& error) {
    std::snprintf(shared.thrown, sizeof shared.thrown, "%s", error.what());
    ::_exit(kUnexpected);
  }
  set_deadline(0);
  shared.longest_us = std::max(shared.longest_us, used_us() - before);
}

/// False for most seeds of a target of many on a push.
bool is_taken(const std::vector<std::string>& seeds, std::uint64_t number) {
  return number >= seeds.size() || seeds.size() < kManySeeds || test::is_drawn(number);
}

[[noreturn]] void work(const Target& target, const std::vector<std::string>& seeds, Shared& shared,
                       std::uint64_t end, Clock::time_point until) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (kBoundMemory) {
    const rlimit limit = {4ULL << 30U, 4ULL << 30U};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  try {
    target.run(seeds.front());  // what is set up once is no part of an input's time
  } catch (const Error&) {
    // Its turn comes.
  }
  while (shared.next < end && (shared.next < seeds.size() || Clock::now() < until)) {
    if (is_taken(seeds, shared.next)) run_one(target, make_input(seeds, shared.next), shared);
    ++shared.next;
  }
  ::_exit(0);
}

std::string describe(int status, const Shared& shared) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kUnexpected) {
    return std::string("threw: ") + shared.thrown;
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) {
    return "ran for more than a second (and one for each 4 MiB)";
  }
  if (WIFSIGNALED(status)) return std::string("died: ") + ::strsignal(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

void keep(const Options& options, std::uint64_t number, const std::string& input) {
  const auto found = options.values.find("--keep");
  const std::filesystem::path folder = found == options.values.end()
                                           ? std::filesystem::path(".")
                                           : std::filesystem::path(found->second);
  const std::filesystem::path path =
      folder / ("fault-" + std::string(options.target->name) + "-" + std::to_string(number));
  std::ofstream(path, std::ios::binary) << input;
  std::printf("  input %llu kept as %s\n", static_cast<unsigned long long>(number), path.c_str());
}

int fuzz(const Options& options) {
  const Target& target = *options.target;
  const std::vector<std::string> seeds = target.seeds();
  auto& shared = *static_cast<Shared*>(
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const std::uint64_t first = options.number("--first", 0);
  const bool soak = test::is_soak();  // 15,000 inputs of seven targets: more than 100,000 in all
  const std::uint64_t end = first + options.number("--inputs", soak ? 15'000 : 1ULL << 40U);
  const auto seconds = options.number("--seconds", soak                        ? 3600
                                                   : test::part_of_lists() > 1 ? 4
                                                                               : 10);
  const auto until = Clock::now() + std::chrono::seconds(seconds);
  shared.next = first;
  int faults = 0;
  while (faults < kMaxFaults && shared.next < end &&
         (shared.next < seeds.size() || Clock::now() < until)) {
    std::fflush(stdout);
    const pid_t worker = ::fork();
    if (worker == 0) work(target, seeds, shared, end, until);
    int status = 0;
    ::waitpid(worker, &status, 0);
    if (status != 0) {
      ++faults;
      std::printf("%s: input %llu %s\n", target.name.data(),
                  static_cast<unsigned long long>(shared.next), describe(status, shared).c_str());
      keep(options, shared.next, make_input(seeds, shared.next));
      ++shared.next;
    }
  }
  std::printf("%s: %llu inputs (%zu seeds), %llu refused, longest %ld ms, %d faults\n",
              target.name.data(), static_cast<unsigned long long>(shared.next - first),
              seeds.size(), static_cast<unsigned long long>(shared.answered),
              shared.longest_us / 1000, faults);
  return faults == 0 ? 0 : 1;
}

int run_file(const Options& options) {
  std::ifstream file(options.values.at("--file"), std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(file), {}};
  try {
    options.target->run(input);
    std::puts("taken");
  } catch (const Error& error) {
    std::printf("refused: %s\n", error.what());
  }
  return 0;
}

int write_seeds(const Options& options) {
  const std::filesystem::path folder = options.values.at("--write");
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : options.target->seeds()) {
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
  return 0;
}

int run(int argc, char** argv) {
  Options options;
  options.target = argc > 1 ? find_target(argv[1]) : nullptr;
  if (options.target == nullptr || argc % 2 != 0) {
    std::fprintf(stderr, "usage: fuzz_seeds TARGET [--OPTION VALUE...]; the targets:\n");
    for (const Target& target : targets()) {
      std::fprintf(stderr, "  %-12s %s\n", target.name.data(), target.input.data());
    }
    return 2;
  }
  for (int i = 2; i + 1 < argc; i += 2) options.values[argv[i]] = argv[i + 1];
  if (options.values.count("--file") > 0) return run_file(options);
  if (options.values.count("--write") > 0) return write_seeds(options);
  return fuzz(options);
}

}  // namespace
}  // namespace kiln::fuzz

int main(int argc, char** argv) { return kiln::fuzz::run(argc, argv); }
