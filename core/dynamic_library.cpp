// dlopen and dlsym, with the loader's own words in the reason.
// SPDX-License-Identifier: Apache-2.0
#include "core/dynamic_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/errors.hpp"

namespace kiln {

DynamicLibrary::DynamicLibrary(std::string purpose, std::span<const std::string> candidates)
    : purpose_(std::move(purpose)) {
  std::string reason;
  for (const std::string& candidate : candidates) {
    handle_ = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = candidate;
      return;
    }
    // A file that is there but does not load says more than one that is not there.
    const char* said = ::dlerror();
    const std::string text = said != nullptr ? said : "";
    if (reason.empty() && text.find("No such file") == std::string::npos) reason = text;
  }
  if (reason.empty()) reason = fmt::format("no {}", fmt::join(candidates, ", "));
  throw DeviceError(fmt::format("unavailable: {} library not found ({})", purpose_, reason));
}

void* DynamicLibrary::find(const char* symbol) const { return ::dlsym(handle_, symbol); }

void* DynamicLibrary::require(const char* symbol) const {
  void* address = find(symbol);
  if (address == nullptr) {
    throw DeviceError(fmt::format("unavailable: {} library {} is too old or not one: it lacks {}",
                                  purpose_, path_, symbol));
  }
  return address;
}

std::vector<std::string> library_candidates(const char* override_variable,
                                            std::vector<std::string> names) {
  const char* path = std::getenv(override_variable);
  if (path != nullptr && *path != '\0') return {path};
  return names;
}

}  // namespace kiln
