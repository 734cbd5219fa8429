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

std::int64_t number_in(const nlohmann::json& kernel, const char* key) {
  const auto found = kernel.find(key);
  return found != kernel.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

KernelResources resources_of(const nlohmann::json& kernel) {
  KernelResources resources;
  const auto name = kernel.find(".name");
  if (name != kernel.end() && name->is_string()) resources.name = name->get<std::string>();
  resources.vector_registers = number_in(kernel, ".vgpr_count");
  resources.accumulators = number_in(kernel, ".agpr_count");
  resources.scalar_registers = number_in(kernel, ".sgpr_count");
  resources.spilled_vector_registers = number_in(kernel, ".vgpr_spill_count");
  resources.spilled_scalar_registers = number_in(kernel, ".sgpr_spill_count");
  resources.scratch_bytes = number_in(kernel, ".private_segment_fixed_size");
  resources.shared_bytes = number_in(kernel, ".group_segment_fixed_size");
  resources.wavefront = number_in(kernel, ".wavefront_size");
  return resources;
}

}  // namespace

std::vector<KernelResources> kernels_of_code_object(std::span<const std::byte> data) {
  const auto range = find_elf_note(data, kMetadataNote);
  if (!range) return {};
  const auto* first = reinterpret_cast<const std::uint8_t*>(data.data()) + range->offset;
  const auto metadata = nlohmann::json::from_msgpack(first, first + range->bytes, /*strict=*/false,
                                                     /*allow_exceptions=*/false);
  const auto kernels = metadata.find("amdhsa.kernels");
  if (!metadata.is_object() || kernels == metadata.end() || !kernels->is_array()) return {};
  std::vector<KernelResources> list;
  for (const auto& kernel : *kernels) {
    if (kernel.is_object()) list.push_back(resources_of(kernel));
  }
  return list;
}

std::vector<std::string> read_code_object(Binary& binary) {
  std::vector<std::string> names;
  for (const KernelResources& kernel : kernels_of_code_object(binary.data)) {
    if (!kernel.name.empty()) names.push_back(kernel.name);
    binary.registers = std::max(binary.registers, kernel.vector_registers);
    binary.spill_bytes =
        std::max(binary.spill_bytes, kernel.spilled_vector_registers * kRegisterBytes);
    binary.shared_bytes = std::max(binary.shared_bytes, kernel.shared_bytes);
  }
  return names;
}

}  // namespace kiln
