// Where toolkits, distributions and Python wheels put a library of CUDA.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct CudaLibraryNames {
  const char* override_variable;               ///< names the file, and no other is tried
  std::span<const std::string_view> versions;  ///< file names, the best first
  std::span<const std::string_view> wheels;    ///< folders in site-packages
  std::string_view others = {};                ///< a file name to ask the loader for last
};

/// Where the library may be, best first: only the override when it is set; otherwise CUDA_PATH and
/// CUDA_HOME, the loader's path, the usual toolkit folders and the folders of Python wheels. Files
/// that are not there are left out; names for the loader stay.
[[nodiscard]] std::vector<std::string> cuda_library_candidates(const CudaLibraryNames& names);

}  // namespace kiln
