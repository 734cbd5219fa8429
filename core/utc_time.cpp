// SPDX-License-Identifier: Apache-2.0
#include "core/utc_time.hpp"

#include <array>
#include <ctime>

namespace kiln {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace kiln
