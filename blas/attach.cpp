// SPDX-License-Identifier: Apache-2.0
#include "blas/attach.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace kiln::blas {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlots[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#elif defined(__aarch64__)
constexpr std::uint32_t kSlots[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr std::uint32_t kSlots[] = {0};
#endif

/// The tables of one object.
struct Tables {
  std::uintptr_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> functions;
  std::span<const ElfW(Rela)> others;
  std::uintptr_t sealed_from = 0;  ///< read-only after loading
  std::uintptr_t sealed_to = 0;
};

Tables tables_of(const dl_phdr_info& info) {
  Tables tables;
  tables.base = info.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + part.p_vaddr);
    if (part.p_type == PT_GNU_RELRO) {
      tables.sealed_from = info.dlpi_addr + part.p_vaddr;
      tables.sealed_to = tables.sealed_from + part.p_memsz;
    }
  }
  std::uintptr_t functions = 0;
  std::uintptr_t others = 0;
  std::size_t function_bytes = 0;
  std::size_t other_bytes = 0;
  // The loader has added the base to these addresses, but not in the kernel's own object.
  const auto address = [&](const ElfW(Dyn) & entry) {
    const std::uintptr_t at = entry.d_un.d_ptr;
    return at < info.dlpi_addr ? at + info.dlpi_addr : at;
  };
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address(*dynamic));
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(address(*dynamic));
        break;
      case DT_JMPREL:
        functions = address(*dynamic);
        break;
      case DT_PLTRELSZ:
        function_bytes = dynamic->d_un.d_val;
        break;
      case DT_RELA:
        others = address(*dynamic);
        break;
      case DT_RELASZ:
        other_bytes = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (functions != 0)
    tables.functions = {reinterpret_cast<const ElfW(Rela)*>(functions),
                        function_bytes / sizeof(ElfW(Rela))};
  if (others != 0)
    tables.others = {reinterpret_cast<const ElfW(Rela)*>(others), other_bytes / sizeof(ElfW(Rela))};
  return tables;
}

/// False: the page could not be made writable.
bool write_slot(const Tables& tables, std::uintptr_t slot, void* function) {
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t page = slot / page_bytes * page_bytes;
  const bool is_sealed = slot >= tables.sealed_from && slot < tables.sealed_to;
  auto* const memory = reinterpret_cast<void*>(page);
  if (is_sealed && ::mprotect(memory, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref<void*>(*reinterpret_cast<void**>(slot)).store(function);
  if (is_sealed) (void)::mprotect(memory, page_bytes, PROT_READ);
  return true;
}

struct Search {
  std::span<const Replacement> replacements;
  std::uintptr_t own_base = 0;
  int written = 0;
};

int rewrite(dl_phdr_info* info, std::size_t /*bytes*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::string_view file = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (info->dlpi_addr == search.own_base || file.find("/libcublas") != std::string_view::npos)
    return 0;
  const Tables tables = tables_of(*info);
  if (tables.symbols == nullptr || tables.names == nullptr) return 0;
  for (const std::span<const ElfW(Rela)> entries : {tables.functions, tables.others}) {
    for (const ElfW(Rela) & entry : entries) {
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
      if (std::find(std::begin(kSlots), std::end(kSlots), type) == std::end(kSlots)) continue;
      const std::string_view name =
          tables.names + tables.symbols[ELF64_R_SYM(entry.r_info)].st_name;
      for (const Replacement& each : search.replacements) {
        if (each.name != name) continue;
        if (write_slot(tables, tables.base + entry.r_offset, each.function)) ++search.written;
      }
    }
  }
  return 0;
}

}  // namespace

int attach(std::span<const Replacement> replacements) noexcept {
  Search search{replacements, 0, 0};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const auto here = reinterpret_cast<std::uintptr_t>(&attach);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          const std::uintptr_t from = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || here < from || here >= from + part.p_memsz) continue;
          static_cast<Search*>(data)->own_base = info->dlpi_addr;
          return 1;
        }
        return 0;
      },
      &search);
  ::dl_iterate_phdr(rewrite, &search);
  return search.written;
}

}  // namespace kiln::blas
