// Reads lines such as
//   ptxas info    : Compiling entry function 'add' for 'sm_90a'
//       0 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
//   ptxas info    : Used 40 registers, used 1 barriers, 400 bytes smem
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/ptxas_log.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace kiln {
namespace {

/// Raises `largest` to each number that stands right before `words` ("40 registers").
void raise_to(std::int64_t& largest, std::string_view log, std::string_view words) {
  for (std::size_t at = log.find(words); at != std::string_view::npos;
       at = log.find(words, at + 1)) {
    std::size_t first = at;
    while (first > 0 && std::isdigit(static_cast<unsigned char>(log[first - 1]))) --first;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(log.data() + first, log.data() + at, number);
    if (error == std::errc{} && end == log.data() + at) largest = std::max(largest, number);
  }
}

}  // namespace

void read_ptxas_resources(std::string_view log, Binary& binary) {
  raise_to(binary.registers, log, " registers");
  raise_to(binary.spill_bytes, log, " bytes spill stores");
  raise_to(binary.shared_bytes, log, " bytes smem");
  // A kernel without shared memory has no such words.
  if (binary.registers >= 0) binary.shared_bytes = std::max<std::int64_t>(binary.shared_bytes, 0);
}

std::vector<std::string> ptxas_entries(std::string_view log) {
  constexpr std::string_view kBefore = "Compiling entry function '";
  std::vector<std::string> names;
  for (std::size_t at = log.find(kBefore); at != std::string_view::npos;
       at = log.find(kBefore, at)) {
    at += kBefore.size();
    const std::size_t end = log.find('\'', at);
    if (end == std::string_view::npos) break;
    names.emplace_back(log.substr(at, end - at));
  }
  return names;
}

}  // namespace kiln
