// SPDX-License-Identifier: Apache-2.0
#include "cli/print.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/shown_text.hpp"

namespace kiln::cli {
namespace {

void write_all(std::FILE* stream, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) < text.size())
    throw std::system_error(errno, std::generic_category(), "cannot write");
}

}  // namespace

void print_text(std::FILE* stream, std::string_view text) {
  const std::string shown = shown_text(text);
  write_all(stream, stream == stderr ? hidden_passwords(shown) : shown);
}

void print_data(std::string_view text) {
  if (::isatty(STDOUT_FILENO) != 0) {
    print_text(stdout, text);
  } else {
    write_all(stdout, text);
  }
}

}  // namespace kiln::cli
