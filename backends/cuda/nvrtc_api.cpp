// Loading NVRTC.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvrtc_api.hpp"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

/// NVRTC opens libnvrtc-builtins by its bare name, which the loader finds in a wheel's folder only
/// when it is loaded already.
void load_builtins_beside(const fs::path& library) {
  if (!library.has_parent_path()) return;
  glob_t found{};
  const std::string pattern = (library.parent_path() / "libnvrtc-builtins.so.[0-9]*").string();
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i)
      ::dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
  }
  ::globfree(&found);
}

/// The file that a loaded symbol came from: the whole path also of a library found by its bare
/// name.
std::string file_of(const void* address, const std::string& otherwise) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

/// KILN_CUDA_INCLUDE, or the headers that lie where toolkits and wheels put them beside the
/// library.
std::string include_folder_of(const fs::path& library) {
  if (const char* chosen = std::getenv("KILN_CUDA_INCLUDE"); chosen != nullptr && *chosen != '\0')
    return chosen;
  const fs::path parent = library.parent_path().parent_path();
  for (const fs::path& folder :
       {parent / "include", parent / "../../include", parent / "../cuda_runtime/include"}) {
    std::error_code ignored;
    if (fs::exists(folder / "cuda_fp16.h", ignored)) return folder.lexically_normal().string();
  }
  return {};
}

NvrtcApi load_nvrtc() {
  const std::vector<std::string> candidates = nvrtc_candidates();
  const DynamicLibrary library("NVRTC", candidates);
  NvrtcApi api;
#define KILN_BIND_CALL(result, member, symbol, signature) library.bind(api.member, #symbol);
  KILN_NVRTC_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  api.path = file_of(reinterpret_cast<const void*>(api.version), library.path());
  load_builtins_beside(api.path);
  api.include_folder = include_folder_of(api.path);
  int count = 0;
  if (api.version(&api.major, &api.minor) != 0 || api.get_num_supported_archs(&count) != 0) {
    throw DeviceError(fmt::format("unavailable: NVRTC library {} does not answer", api.path));
  }
  api.architectures.resize(static_cast<std::size_t>(count));
  if (count > 0) api.get_supported_archs(api.architectures.data());
  return api;
}

}  // namespace

const NvrtcApi& nvrtc() {
  static const NvrtcApi kApi = load_nvrtc();
  return kApi;
}

}  // namespace kiln
