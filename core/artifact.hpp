// Source and Binary: what rendering hands to a compiler, and what a compiler hands back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/fields.hpp"

namespace kiln {

/// One rendered translation unit.
struct Source {
  std::string name;                  ///< for compiler messages, e.g. "transpose.tile.cu"
  std::string text;                  ///< dialect prelude and kernel
  std::vector<std::string> entries;  ///< kernels that the steps launch
  /// The entries are C++ names, "conv<16, true>", and the compiler says which symbols they become.
  /// Otherwise they are symbols.
  bool has_cpp_names = false;
  std::vector<std::string> options;  ///< extra compiler options of the variant
  /// origins[i]: where rendered line i+1 came from ("tile.inja:42"), empty when unknown; for
  /// messages.
  std::vector<std::string> origins;

  friend bool operator==(const Source&, const Source&) = default;
};

KILN_FIELDS(Source, name, text, entries, has_cpp_names, options, origins);

/// A compiled source, for one backend and architecture.
struct Binary {
  std::vector<std::byte> data;     ///< cubin, code object or OpenCL program binary
  std::string log;                 ///< warnings and resource report of the compiler
  std::int64_t registers = -1;     ///< per thread, largest over the entries; -1: not known
  std::int64_t spill_bytes = -1;   ///< per thread
  std::int64_t shared_bytes = -1;  ///< static, per block
  std::map<std::string, std::string> symbols;  ///< entry -> symbol, where Source::has_cpp_names
};

/// All but `data`.
KILN_FIELDS(Binary, log, registers, spill_bytes, shared_bytes, symbols);

/// What a binary is made for. Only PoCL, which generates code when a block size is known, makes
/// them differently.
enum class BinaryUse {
  kept,  ///< many loads in other processes
  once,  ///< about one load: code that a launch generates anyway is left to the launch
  /// As kept, but a launch has nothing left to compile. Sets an environment variable while it
  /// compiles, so no other thread of the process may read the environment.
  ready,
};

/// Returns the key of a binary (hex, 32 characters) from the text without comments, the options,
/// the C++ names, backend, architecture and compiler. Comments do not count, since some contain the
/// docs of tunables.
[[nodiscard]] std::string binary_key(const Source& source, const std::string& backend,
                                     const std::string& architecture, const std::string& compiler);

}  // namespace kiln
