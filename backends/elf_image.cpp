// The few fields of ELF64 that are needed, read with bounds.
// SPDX-License-Identifier: Apache-2.0
#include "backends/elf_image.hpp"

#include <elf.h>

#include <cstring>

namespace kiln {
namespace {

template <typename T>
std::optional<T> read_at(std::span<const std::byte> image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

std::optional<Elf64_Ehdr> header_of(std::span<const std::byte> image) {
  const auto header = read_at<Elf64_Ehdr>(image, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  return header;
}

bool table_fits(std::size_t image_bytes, std::uint64_t offset, std::uint64_t count,
                std::uint64_t entry_bytes) {
  return offset <= image_bytes && count * entry_bytes <= image_bytes - offset;
}

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// Walks the notes of one segment.
std::optional<ElfRange> find_note_in(std::span<const std::byte> image, std::uint64_t at,
                                     std::uint64_t end, std::uint32_t type) {
  while (at < end) {
    const auto note = read_at<Elf64_Nhdr>(image, at);
    if (!note) return std::nullopt;
    const std::uint64_t descriptor = at + sizeof(Elf64_Nhdr) + padded(note->n_namesz);
    if (!table_fits(image.size(), descriptor, note->n_descsz, 1)) return std::nullopt;
    if (note->n_type == type) return ElfRange{descriptor, note->n_descsz};
    at = descriptor + padded(note->n_descsz);
  }
  return std::nullopt;
}

}  // namespace

bool is_whole_elf(std::span<const std::byte> image) {
  const auto header = header_of(image);
  return header &&
         table_fits(image.size(), header->e_shoff, header->e_shnum, header->e_shentsize) &&
         table_fits(image.size(), header->e_phoff, header->e_phnum, header->e_phentsize);
}

std::optional<ElfRange> find_elf_note(std::span<const std::byte> image, std::uint32_t type) {
  if (!is_whole_elf(image)) return std::nullopt;
  const auto header = header_of(image);
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(image, header->e_phoff + i * header->e_phentsize);
    if (!segment || segment->p_type != PT_NOTE) continue;
    if (!table_fits(image.size(), segment->p_offset, segment->p_filesz, 1)) continue;
    const auto found =
        find_note_in(image, segment->p_offset, segment->p_offset + segment->p_filesz, type);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace kiln
