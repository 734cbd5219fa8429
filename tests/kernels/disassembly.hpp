// The instructions of an AMD code object, read by the disassembler of AMD's comgr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace kiln::test {

/// How often each instruction stands in the code, by its name: {"v_mfma_f32_16x16x16_f16": 64,
/// ...}. hipRTC must have been used before, for its comgr is the one that is asked. Throws
/// DeviceError when that has no disassembler or does not know the architecture.
[[nodiscard]] std::map<std::string, int> count_instructions(std::span<const std::byte> code_object,
                                                            const std::string& architecture);

/// Those of them that matrix units run.
[[nodiscard]] int matrix_instructions(const std::map<std::string, int>& counts);

}  // namespace kiln::test
