// What a command prints, for tests of programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace kiln::test {

/// The output of a shell command; how it ended is not told.
inline std::string command_output(const std::string& command) {
  FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("popen failed");
  std::string text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), output) != nullptr) {
    text += part.data();
  }
  ::pclose(output);
  return text;
}

}  // namespace kiln::test
