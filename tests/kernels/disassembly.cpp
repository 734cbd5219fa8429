// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/disassembly.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/errors.hpp"

namespace kiln::test {
namespace {

/// amd_comgr_disassembly_info_t.
struct Handle {
  std::uint64_t value = 0;
};

/// The calls of comgr's disassembler, as amd_comgr.h declares them; 0 is success.
struct Disassembler {
  int (*create)(const char* isa, std::uint64_t (*read)(std::uint64_t, char*, std::uint64_t, void*),
                void (*print)(const char*, void*), void (*annotate)(std::uint64_t, void*),
                Handle* handle) = nullptr;
  int (*destroy)(Handle handle) = nullptr;
  int (*step)(Handle handle, std::uint64_t address, void* user, std::uint64_t* bytes) = nullptr;
};

/// Of the comgr that this process has loaded: a second one would be a second LLVM.
Disassembler loaded_disassembler() {
  for (const char* name : {"libamd_comgr.so.3", "libamd_comgr.so.2"}) {
    void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    Disassembler found;
    const auto bind = [library](auto& target, const char* symbol) {
      target = reinterpret_cast<std::decay_t<decltype(target)>>(::dlsym(library, symbol));
      return target != nullptr;
    };
    if (bind(found.create, "amd_comgr_create_disassembly_info") &&
        bind(found.destroy, "amd_comgr_destroy_disassembly_info") &&
        bind(found.step, "amd_comgr_disassemble_instruction"))
      return found;
  }
  throw DeviceError("no comgr with a disassembler is loaded");
}

/// The executable segment, and the name of the instruction read last.
struct Reading {
  std::span<const std::byte> code;
  std::string instruction;
};

std::span<const std::byte> code_of(std::span<const std::byte> image) {
  Elf64_Ehdr header{};
  if (image.size() < sizeof header) throw DeviceError("no code object");
  std::memcpy(&header, image.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at + sizeof segment > image.size()) break;
    std::memcpy(&segment, image.data() + at, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    return image.subspan(segment.p_offset, segment.p_filesz);
  }
  throw DeviceError("a code object without code");
}

std::uint64_t read_code(std::uint64_t from, char* to, std::uint64_t bytes, void* user) {
  const std::span<const std::byte> code = static_cast<Reading*>(user)->code;
  if (from >= code.size()) return 0;
  const std::uint64_t count = std::min<std::uint64_t>(bytes, code.size() - from);
  std::memcpy(to, code.data() + from, count);
  return count;
}

void take_instruction(const char* text, void* user) {
  std::string_view words = text;
  words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
  static_cast<Reading*>(user)->instruction = words.substr(0, words.find_first_of(" \t\n"));
}

}  // namespace

std::map<std::string, int> count_instructions(std::span<const std::byte> code_object,
                                              const std::string& architecture) {
  const Disassembler disassembler = loaded_disassembler();
  const std::string isa = "amdgcn-amd-amdhsa--" + architecture;
  Handle handle;
  if (disassembler.create(
          isa.c_str(), read_code, take_instruction, [](std::uint64_t, void*) {}, &handle) != 0)
    throw DeviceError("comgr does not disassemble for " + architecture);
  Reading reading{code_of(code_object), {}};
  std::map<std::string, int> counts;
  constexpr std::uint64_t kWord = 4;
  for (std::uint64_t at = 0; at < reading.code.size();) {
    std::uint64_t bytes = 0;
    const bool is_known = disassembler.step(handle, at, &reading, &bytes) == 0 && bytes > 0;
    if (is_known) ++counts[reading.instruction];
    at += is_known ? bytes : kWord;  // what lies between kernels need not be an instruction
  }
  disassembler.destroy(handle);
  return counts;
}

int matrix_instructions(const std::map<std::string, int>& counts) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"v_mfma_", "v_smfmac_", "v_wmma_",
                                                         "v_swmmac_"};
  int sum = 0;
  for (const auto& [name, count] : counts) {
    const bool is_matrix = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                       [&](auto prefix) { return name.starts_with(prefix); });
    if (is_matrix) sum += count;
  }
  return sum;
}

}  // namespace kiln::test
