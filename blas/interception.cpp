// SPDX-License-Identifier: Apache-2.0
#include "blas/interception.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>

#include "backends/cublas/cublas_library.hpp"

namespace kiln::blas {
namespace {

constexpr std::array<std::string_view, 2> kStems = {"libcublas.so", "libcublasLt.so"};

std::string_view stem_of(Family family) { return kStems[static_cast<std::size_t>(family)]; }

/// "libcublas.so.13" is a release of "libcublas.so".
bool is_release_of(std::string_view file, std::string_view stem) {
  const std::size_t slash = file.find_last_of('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return file == stem || (file.substr(0, stem.size()) == stem && file.size() > stem.size() &&
                          file[stem.size()] == '.');
}

/// Opens what is loaded already, by its name or path; null: it is not loaded.
void* loaded(const std::string& name) { return ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD); }

/// What the object of `caller` names among the libraries that it needs.
void* needed_by(const void* caller, std::string_view stem) {
  Dl_info info{};
  void* extra = nullptr;
  if (::dladdr1(caller, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return nullptr;
  const auto* object = static_cast<const link_map*>(extra);
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  if (names == nullptr) return nullptr;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char* name = names + entry->d_un.d_val;
    if (!is_release_of(name, stem)) continue;
    if (void* handle = loaded(name)) return handle;
  }
  return nullptr;
}

void* any_loaded(std::string_view stem) {
  struct Release {
    std::string_view stem;
    std::string file;
  } release{stem, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Release*>(data);
        if (info->dlpi_name == nullptr || !is_release_of(info->dlpi_name, wanted.stem)) return 0;
        wanted.file = info->dlpi_name;
        return 1;
      },
      &release);
  return release.file.empty() ? nullptr : loaded(release.file);
}

template <typename Function>
void bind(void* handle, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, symbol));
}

void bind_all(void* handle, RealLibrary& real) {
  bind(handle, "cublasSgemm_v2", real.sgemm);
  bind(handle, "cublasDgemm_v2", real.dgemm);
  bind(handle, "cublasSgemm_v2_64", real.sgemm_64);
  bind(handle, "cublasDgemm_v2_64", real.dgemm_64);
  bind(handle, "cublasSgemmStridedBatched", real.sgemm_strided);
  bind(handle, "cublasDgemmStridedBatched", real.dgemm_strided);
  bind(handle, "cublasSgemmStridedBatched_64", real.sgemm_strided_64);
  bind(handle, "cublasDgemmStridedBatched_64", real.dgemm_strided_64);
  bind(handle, "cublasGemmEx", real.gemm_ex);
  bind(handle, "cublasGemmEx_64", real.gemm_ex_64);
  bind(handle, "cublasGemmStridedBatchedEx", real.gemm_strided_ex);
  bind(handle, "cublasGemmStridedBatchedEx_64", real.gemm_strided_ex_64);
  bind(handle, "cublasGetStream_v2", real.get_stream);
  bind(handle, "cublasGetPointerMode_v2", real.get_pointer_mode);
  bind(handle, "cublasGetMathMode", real.get_math_mode);
  bind(handle, "cublasGetSmCountTarget", real.get_sm_count_target);
  bind(handle, "cublasGetProperty", real.get_property);
  if (real.get_property == nullptr) bind(handle, "cublasLtGetProperty", real.get_property);
  bind(handle, "cublasLtMatmul", real.lt_matmul);
  bind(handle, "cublasLtMatmulDescGetAttribute", real.lt_description);
  bind(handle, "cublasLtMatrixLayoutGetAttribute", real.lt_layout);
}

std::string path_of(void* handle) {
  link_map* object = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &object) != 0 || object == nullptr) return {};
  return object->l_name;
}

/// All libraries that were found, for ever. Made by the first call, destroyed by none: programs
/// call cuBLAS until they end.
struct Found {
  std::mutex mutex;
  std::deque<std::pair<void*, RealLibrary>> libraries;
};

const RealLibrary* find(Family family, const void* caller) {
  void* handle = needed_by(caller, stem_of(family));
  if (handle == nullptr) handle = any_loaded(stem_of(family));
  if (handle == nullptr) return nullptr;
  static Found& found = *new Found;
  const std::lock_guard held(found.mutex);
  for (const auto& [known, library] : found.libraries) {
    if (known == handle) return &library;
  }
  RealLibrary& real = found.libraries.emplace_back(handle, RealLibrary()).second;
  real.path = path_of(handle);
  bind_all(handle, real);
  real.release = cublas_release(real.get_property);
  for (std::size_t i = 0; !real.release.empty() && i < found.libraries.size(); ++i) {
    if (found.libraries[i].second.release != real.release) continue;
    real.release_number = static_cast<std::uint32_t>(i) + 1;
    break;
  }
  return &real;
}

}  // namespace

const RealLibrary* real_library(Family family, const void* caller) noexcept {
  struct Site {
    const void* caller = nullptr;
    const RealLibrary* library = nullptr;
  };
  constexpr std::size_t kSites = 16;  // of a thread and family; others are searched again
  thread_local std::array<std::array<Site, kSites>, 2> known;
  const auto place = reinterpret_cast<std::uintptr_t>(caller) >> 2U;
  Site& site = known[static_cast<std::size_t>(family)][place % kSites];
  if (site.caller == caller) return site.library;
  try {
    const RealLibrary* library = find(family, caller);
    if (library != nullptr) site = {caller, library};
    return library;
  } catch (...) {
    return nullptr;  // no memory
  }
}

}  // namespace kiln::blas
