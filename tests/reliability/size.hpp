// How large the tests of the promises are, and where they keep their files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace kiln::test {

/// True when scripts/soak asks for the full size (KILN_SOAK=1).
inline bool is_soak() {
  const char* value = std::getenv("KILN_SOAK");
  return value != nullptr && std::string_view(value) == "1";
}

/// Does this run take case `number` of a long list? .ci/run sets KILN_PART=6: a push takes a sixth
/// of such lists, another one for each commit (KILN_MUTANTS_SEED). All of them without it, and with
/// KILN_SOAK=1.
inline bool is_drawn(std::size_t number) {
  const char* part = std::getenv("KILN_PART");
  const char* seed = std::getenv("KILN_MUTANTS_SEED");
  const std::size_t one_of = part == nullptr ? 1 : std::strtoull(part, nullptr, 10);
  if (is_soak() || one_of <= 1) return true;
  return (number + (seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10))) % one_of == 0;
}

/// A fresh folder in memory where the machine has such (a sync costs nothing there), removed at the
/// end.
class MemoryFolder {
 public:
  MemoryFolder() {
    std::error_code error;
    const bool shared = std::filesystem::is_directory("/dev/shm", error);
    std::string name =
        (shared ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/kiln-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~MemoryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kiln::test
