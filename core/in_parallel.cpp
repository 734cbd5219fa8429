// SPDX-License-Identifier: Apache-2.0
#include "core/in_parallel.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace kiln {
namespace {

constexpr std::size_t kLeastElements = 1 << 16;  // a thread costs as much as some thousand

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(count / kLeastElements, 1, cores);
  std::vector<std::exception_ptr> faults(parts);
  const auto run_part = [&](std::size_t part) noexcept {
    try {
      work(count / parts * part, part + 1 == parts ? count : count / parts * (part + 1));
    } catch (...) {
      faults[part] = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) threads.emplace_back(run_part, part);
  run_part(0);
  threads.clear();
  for (const std::exception_ptr& fault : faults) {
    if (fault) std::rethrow_exception(fault);
  }
}

}  // namespace kiln
