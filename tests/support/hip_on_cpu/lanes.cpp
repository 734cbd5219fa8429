// Fibers by ucontext; switches by _setjmp and _longjmp, which make no system call.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hip_on_cpu/lanes.hpp"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace kiln::hip_on_cpu {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr unsigned kMostThreads = 1024;

enum class State { ready, at_barrier, at_exchange, ended };

struct Lane {
  KilnIds thread{};
  State state = State::ready;
  bool begun = false;
  jmp_buf place{};
  const void* mine = nullptr;  ///< handed in
  int bytes = 0;
  void* site = nullptr;  ///< of the exchange, in the code
};

struct Block {
  std::vector<Lane> lanes;
  std::vector<std::byte> exchanged;  ///< by each wavefront: the lanes' values
  std::vector<unsigned long long> present;
};

KilnLaneHooks the_hooks;
Block block;
std::size_t current = 0;
jmp_buf scheduler;
KilnCpuKernel the_kernel = nullptr;
void** the_arguments = nullptr;

constexpr std::size_t kMostBytes = 128;  // of a lane's value

std::size_t wave_of(std::size_t lane) {
  return lane / static_cast<std::size_t>(the_hooks.wavefront);
}

std::byte* values_of(std::size_t wave) {
  return block.exchanged.data() + wave * kMostBytes * static_cast<std::size_t>(the_hooks.wavefront);
}

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "HIP on the CPU: %s (block %u %u %u, thread %u %u %u)\n", why,
               the_hooks.block.x, the_hooks.block.y, the_hooks.block.z, the_hooks.thread.x,
               the_hooks.thread.y, the_hooks.thread.z);
  std::abort();
}

void wait_as(State state) {
  Lane& lane = block.lanes[current];
  lane.state = state;
  if (_setjmp(lane.place) == 0) _longjmp(scheduler, 1);
}

void barrier() { wait_as(State::at_barrier); }

const void* gather(const void* mine, int bytes) {
  if (static_cast<std::size_t>(bytes) > kMostBytes) refuse("an exchange of too many bytes");
  Lane& lane = block.lanes[current];
  lane.mine = mine;
  lane.bytes = bytes;
  lane.site = __builtin_return_address(0);
  wait_as(State::at_exchange);
  the_hooks.present = block.present[wave_of(current)];
  return values_of(wave_of(current));
}

void run_lane() {
  the_kernel(the_arguments);
  block.lanes[current].state = State::ended;
  _longjmp(scheduler, 1);
}

std::byte* stack_of(std::size_t lane) {
  static std::byte* const kStacks =
      static_cast<std::byte*>(::mmap(nullptr, kMostThreads * kStackBytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (kStacks == MAP_FAILED) refuse("no memory for the stacks of a block");
  return kStacks + lane * kStackBytes;
}

/// Runs the lane until it waits or ends.
void go_on(std::size_t index) {
  Lane& lane = block.lanes[index];
  current = index;
  the_hooks.thread = lane.thread;
  the_hooks.lane = static_cast<int>(index % static_cast<std::size_t>(the_hooks.wavefront));
  if (_setjmp(scheduler) != 0) return;
  if (lane.begun) _longjmp(lane.place, 1);
  lane.begun = true;
  ucontext_t fiber;
  ::getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack_of(index);
  fiber.uc_stack.ss_size = kStackBytes;
  fiber.uc_link = nullptr;
  ::makecontext(&fiber, run_lane, 0);
  ::setcontext(&fiber);
}

/// Lets the lanes go on that came to the exchange of the first one that waits at any. False: none
/// does.
bool exchange(std::size_t wave) {
  const auto width = static_cast<std::size_t>(the_hooks.wavefront);
  const std::size_t first = wave * width;
  const std::size_t end = std::min(first + width, block.lanes.size());
  std::size_t leader = first;
  while (leader < end && block.lanes[leader].state != State::at_exchange) ++leader;
  if (leader == end) return false;
  const void* site = block.lanes[leader].site;
  const auto bytes = static_cast<std::size_t>(block.lanes[leader].bytes);
  std::byte* values = values_of(wave);
  std::memset(values, 0xff, bytes * width);
  block.present[wave] = 0;
  for (std::size_t i = leader; i < end; ++i) {
    Lane& lane = block.lanes[i];
    if (lane.state != State::at_exchange || lane.site != site) continue;
    if (bytes > 0) std::memcpy(values + (i - first) * bytes, lane.mine, bytes);
    block.present[wave] |= 1ULL << (i - first);
    lane.state = State::ready;
  }
  return true;
}

bool any_is(State state) {
  return std::any_of(block.lanes.begin(), block.lanes.end(),
                     [&](const Lane& lane) { return lane.state == state; });
}

/// A wavefront until all of its lanes wait at a barrier or have ended.
void run_wave(std::size_t wave) {
  const auto width = static_cast<std::size_t>(the_hooks.wavefront);
  const std::size_t end = std::min((wave + 1) * width, block.lanes.size());
  do {
    for (std::size_t i = wave * width; i < end; ++i) {
      if (block.lanes[i].state == State::ready) go_on(i);
    }
  } while (exchange(wave));
}

void run_block(const std::array<unsigned, 3>& threads) {
  const auto width = static_cast<std::size_t>(the_hooks.wavefront);
  const std::size_t count = std::size_t{threads[0]} * threads[1] * threads[2];
  if (count > kMostThreads) refuse("a block of more than 1024 threads");
  const std::size_t waves = (count - 1) / width + 1;
  block.lanes.assign(count, {});
  block.exchanged.resize(waves * width * kMostBytes);
  block.present.assign(waves, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<unsigned>(i);
    block.lanes[i].thread = {at % threads[0], at / threads[0] % threads[1],
                             at / threads[0] / threads[1]};
  }
  while (any_is(State::ready)) {
    for (std::size_t wave = 0; wave < waves; ++wave) run_wave(wave);
    for (Lane& lane : block.lanes) {
      if (lane.state == State::at_barrier) lane.state = State::ready;
    }
  }
}

}  // namespace

KilnLaneHooks& hooks() { return the_hooks; }

void run_grid(const Grid& grid, int wavefront, KilnCpuKernel kernel, void** arguments) {
  the_kernel = kernel;
  the_arguments = arguments;
  the_hooks.barrier = barrier;
  the_hooks.gather = gather;
  the_hooks.refuse = refuse;
  the_hooks.wavefront = wavefront;
  the_hooks.grid = {grid.blocks[0], grid.blocks[1], grid.blocks[2]};
  the_hooks.block_size = {grid.threads[0], grid.threads[1], grid.threads[2]};
  for (unsigned z = 0; z < grid.blocks[2]; ++z) {
    for (unsigned y = 0; y < grid.blocks[1]; ++y) {
      for (unsigned x = 0; x < grid.blocks[0]; ++x) {
        the_hooks.block = {x, y, z};
        run_block(grid.threads);
      }
    }
  }
}

}  // namespace kiln::hip_on_cpu
