// SPDX-License-Identifier: Apache-2.0
#include "blas/settings.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "db/store.hpp"

namespace kiln::blas {
namespace {

std::string environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

Settings read_settings() {
  Settings read;
  if (::getauxval(AT_SECURE) != 0) {
    read.mode = Settings::Mode::off;
    return read;
  }
  const std::string words = environment("KILN_BLAS");
  std::string_view left = words;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(word.size() == left.size() ? word.size() : word.size() + 1);
    if (word == "off") read.mode = Settings::Mode::off;
    if (word == "check") read.mode = Settings::Mode::check;
    if (word == "quiet") read.quiet = true;
  }
  read.record = environment("KILN_BLAS_RECORD");
  read.database = default_database_path().string();
  read.tf32_forbidden = environment("NVIDIA_TF32_OVERRIDE") == "0";
  return read;
}

}  // namespace

const Settings& settings() noexcept {
  static const Settings& kSettings = *new Settings(read_settings());
  return kSettings;
}

void tell(const std::string& message) noexcept {
  if (settings().quiet) return;
  const std::string line = "kiln_blas: " + message + "\n";
  // One write, so that lines of several threads do not mix.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace kiln::blas
