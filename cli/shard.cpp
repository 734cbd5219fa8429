// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.hpp"

#include <charconv>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/hash.hpp"

namespace kiln::cli {
namespace {

/// The whole text as a number; 0 if it is none.
std::uint64_t count_in(const std::string& text) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? number : 0;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const Shard shard{count_in(text.substr(0, slash)), count_in(text.substr(slash + 1))};
    if (shard.index >= 1 && shard.index <= shard.count) return shard;
  }
  throw UsageError(
      fmt::format("--shard '{}': expected a part and the number of parts, from 1/N to N/N", text));
}

bool has(const Shard& shard, const KernelSpec& spec, const Problem& problem) {
  return hash64(spec.name + ' ' + problem.text()) % shard.count + 1 == shard.index;
}

}  // namespace kiln::cli
