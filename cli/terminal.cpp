// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace kiln::cli {

std::optional<std::size_t> terminal_width(int file) {
  if (::isatty(file) == 0) return std::nullopt;
  constexpr std::size_t kUsual = 80;  // of a terminal that does not say
  winsize size{};
  const bool known = ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

}  // namespace kiln::cli
