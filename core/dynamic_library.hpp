// Vendor libraries, loaded at run time: a missing one is a reason in words, never a link error.
//
// A library stays loaded until the process ends: drivers start threads and do not survive dlclose.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kiln {

class DynamicLibrary {
 public:
  /// Opens the first of `candidates` (file names for the loader's search path, or whole paths) that
  /// can be opened. Throws DeviceError("unavailable: ...") naming `purpose` ("OpenCL") and what was
  /// tried.
  DynamicLibrary(std::string purpose, std::span<const std::string> candidates);

  /// The address of `symbol`, or nullptr.
  [[nodiscard]] void* find(const char* symbol) const;

  /// Fills a function pointer. Throws DeviceError when the library has no such symbol: it is too
  /// old.
  template <typename Function>
  void bind(Function*& target, const char* symbol) const {
    target = reinterpret_cast<Function*>(require(symbol));
  }

  /// The same for a symbol that only newer libraries have: nullptr when absent.
  template <typename Function>
  void bind_optional(Function*& target, const char* symbol) const {
    target = reinterpret_cast<Function*>(find(symbol));
  }

  /// The file that the loader chose.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] void* require(const char* symbol) const;

  std::string purpose_;
  std::string path_;
  void* handle_ = nullptr;
};

/// Candidates for a library: only the file that the environment variable `override_variable` names,
/// when it is set; otherwise `names`.
[[nodiscard]] std::vector<std::string> library_candidates(const char* override_variable,
                                                          std::vector<std::string> names);

}  // namespace kiln
