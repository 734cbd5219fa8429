// How large the tests of the promises are, and where they keep their files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

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
