// The note NT_AMDGPU_METADATA: msgpack, documented in LLVM's AMDGPUUsage ("Code Object V3
// Metadata").
// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/code_object.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "backends/elf_image.hpp"

namespace kiln {
namespace {

constexpr std::uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA
constexpr std::int64_t kRegisterBytes = 4;   // of one lane

}  // namespace

std::vector<std::string> read_code_object(Binary& binary) {
  const auto range = find_elf_note(binary.data, kMetadataNote);
  if (!range) return {};
  const auto* first = reinterpret_cast<const std::uint8_t*>(binary.data.data()) + range->offset;
  const auto metadata = nlohmann::json::from_msgpack(first, first + range->bytes, /*strict=*/false,
                                                     /*allow_exceptions=*/false);
  const auto kernels = metadata.find("amdhsa.kernels");
  if (!metadata.is_object() || kernels == metadata.end() || !kernels->is_array()) return {};

  std::vector<std::string> names;
  for (const auto& kernel : *kernels) {
    if (!kernel.is_object()) continue;
    const auto number = [&kernel](const char* key) {
      const auto found = kernel.find(key);
      return found != kernel.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
    };
    const auto name = kernel.find(".name");
    if (name != kernel.end() && name->is_string()) names.push_back(name->get<std::string>());
    binary.registers = std::max(binary.registers, number(".vgpr_count"));
    binary.spill_bytes = std::max(binary.spill_bytes, number(".vgpr_spill_count") * kRegisterBytes);
    binary.shared_bytes = std::max(binary.shared_bytes, number(".group_segment_fixed_size"));
  }
  return names;
}

}  // namespace kiln
