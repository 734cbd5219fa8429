// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/library_places.hpp"

#include <glob.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "backends/cuda/nvrtc_api.hpp"

namespace kiln {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Adds the files that match `pattern`, the last in order first: the newest version.
void add_matches(std::vector<std::string>& files, const std::string& pattern) {
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = found.gl_pathc; i > 0; --i) files.emplace_back(found.gl_pathv[i - 1]);
  }
  ::globfree(&found);
}

void add_toolkit(std::vector<std::string>& files, const CudaLibraryNames& names,
                 const std::string& root) {
  if (root.empty()) return;
  for (const std::string_view folder : {"lib64", "lib", "targets/*/lib"}) {
    for (const std::string_view name : names.versions)
      add_matches(files, fmt::format("{}/{}/{}", root, folder, name));
  }
}

void add_wheels(std::vector<std::string>& files, const CudaLibraryNames& names,
                const std::string& packages) {
  for (const std::string_view folder : names.wheels) {
    for (const std::string_view name : names.versions)
      add_matches(files, fmt::format("{}/{}/{}", packages, folder, name));
  }
}

}  // namespace

std::vector<std::string> cuda_library_candidates(const CudaLibraryNames& names) {
  const std::string chosen = variable(names.override_variable);
  if (!chosen.empty()) return {chosen};

  std::vector<std::string> files;
  add_toolkit(files, names, variable("CUDA_PATH"));
  add_toolkit(files, names, variable("CUDA_HOME"));
  for (const std::string_view name : names.versions) files.emplace_back(name);
  if (!names.others.empty()) files.emplace_back(names.others);
  add_toolkit(files, names, "/usr/local/cuda");
  add_toolkit(files, names, "/usr/local/cuda-*");

  const std::string home = variable("HOME");
  const std::string data =
      variable("XDG_DATA_HOME").empty() ? home + "/.local/share" : variable("XDG_DATA_HOME");
  add_wheels(files, names, data + "/kiln/nvrtc");
  for (const char* environment : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (!variable(environment).empty())
      add_wheels(files, names, variable(environment) + "/lib/python3*/site-packages");
  }
  for (const std::string& packages : {home + "/.local/lib/python3*/site-packages",
                                      std::string("/usr/local/lib/python3*/*-packages"),
                                      std::string("/usr/lib/python3*/*-packages"),
                                      std::string("/opt/*/lib/python3*/site-packages"),
                                      std::string("/opt/*/.venv/lib/python3*/site-packages")}) {
    add_wheels(files, names, packages);
  }
  return files;
}

std::vector<std::string> nvrtc_candidates() {
  constexpr std::array<std::string_view, 2> kNames = {"libnvrtc.so.13", "libnvrtc.so.12"};
  constexpr std::array<std::string_view, 2> kWheels = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
  return cuda_library_candidates({"KILN_NVRTC_PATH", kNames, kWheels, "libnvrtc.so"});
}

}  // namespace kiln
