// Does implementation.cpp hold all that this version of {fmt} needs? It links, or it does not.
// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <locale>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

int main(int count, char** words) {
  const double number = count / 3.0;
  std::string text = fmt::format("{} {:.3g} {:>{}} {:#x} {}", number, static_cast<float>(number),
                                 words[0], 10, count, true);
  fmt::format_to(std::back_inserter(text), "{:02}{}", count,
                 fmt::join(std::vector<double>{number}, ", "));
  text += fmt::format(std::locale::classic(), "{:L}", 1000 * count);
  try {
    text += fmt::format(fmt::runtime(words[0]), number);
  } catch (const fmt::format_error& error) {
    text += error.what();
  }
  fmt::print("{}\n", text);
  return text.empty() ? 1 : 0;
}
