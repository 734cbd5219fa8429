// The products for which a final on this device said that Kiln's kernel is faster than the
// library's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/spec.hpp"

namespace kiln::blas {

struct KnownProduct {
  Config config;
  std::string library;  ///< release that it was measured against: "cublas 13.1.0"
};

/// By the text of the problem.
using KnownProducts = std::unordered_map<std::string, KnownProduct>;

/// Reads the bests of `matmul` that count: of this device and driver, of an unchanged source, timed
/// eagerly, and `faster` than a library (RivalVerdict). `why_none`: set if the database cannot be
/// used. It must be a file that belongs to the user of this process.
[[nodiscard]] KnownProducts read_known_products(const std::filesystem::path& database,
                                                const KernelSpec& matmul, const DeviceInfo& device,
                                                std::string& why_none);

}  // namespace kiln::blas
