// Is a code object whole? Drivers take sizes from the image itself, so a truncated one could crash
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kiln {

/// True for a little-endian ELF64 file whose header tables lie within it.
[[nodiscard]] bool is_whole_elf(std::span<const std::byte> image);

/// A part of an ELF file, in bytes from its start.
struct ElfRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The descriptor of the first note of type `type`; nullopt when there is none or it leaves the
/// file.
[[nodiscard]] std::optional<ElfRange> find_elf_note(std::span<const std::byte> image,
                                                    std::uint32_t type);

}  // namespace kiln
