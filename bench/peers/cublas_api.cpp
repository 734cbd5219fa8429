// Loads cuBLAS from the places where it may be, and resolves the functions that the peers call.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/cublas_api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace kiln::peers {
namespace {

/// Where it is looked for: the loader's own path, the toolkit's folder, and what $CUDA_PATH names.
std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  std::vector<std::string> folders = {""};
  if (const char* root = std::getenv("CUDA_PATH")) folders.push_back(std::string(root) + "/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  for (const std::string& folder : folders) {
    // The version of the headers first: another one could differ in its enumerations.
    paths.push_back(folder + "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR));
    paths.push_back(folder + "libcublas.so");
  }
  return paths;
}

template <typename Function>
void resolve(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = std::string("libcublas has no ") + name;
}

CublasApi load() {
  CublasApi api;
  void* library = nullptr;
  for (const std::string& path : candidates()) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    if (api.missing.empty()) api.missing = dlerror();
  }
  if (library == nullptr) return api;
  api.missing.clear();
  resolve(library, "cublasCreate_v2", api.create, api.missing);
  resolve(library, "cublasDestroy_v2", api.destroy, api.missing);
  resolve(library, "cublasSetStream_v2", api.set_stream, api.missing);
  resolve(library, "cublasSgeam", api.sgeam, api.missing);
  resolve(library, "cublasDgeam", api.dgeam, api.missing);
  resolve(library, "cublasSgemm_v2", api.sgemm, api.missing);
  resolve(library, "cublasDgemm_v2", api.dgemm, api.missing);
  resolve(library, "cublasGemmEx", api.gemm_ex, api.missing);
  return api;
}

}  // namespace

const CublasApi& cublas_api() {
  static const CublasApi api = load();
  return api;
}

void check_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": cuBLAS status " +
                             std::to_string(static_cast<int>(status)));
  }
}

}  // namespace kiln::peers
