// SPDX-License-Identifier: Apache-2.0
#include "backends/last_level_override.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr const char* kVariable = "KILN_LAST_LEVEL_BYTES";
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // twice as much is filled before each sample

}  // namespace

void override_last_level(DeviceInfo& device) {
  const char* value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return;
  const std::string_view text = value;
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() || bytes <= 0 || bytes > kMost) {
    throw UsageError(fmt::format("{} is '{}': expected a whole number of bytes from 1 to 2^40",
                                 kVariable, text));
  }
  device.last_level_bytes = bytes;
}

}  // namespace kiln
