// CachedCompiler: a compiler whose binaries are kept in the user's cache, for the kernels that
// every session needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/backend.hpp"
#include "backends/binary_cache.hpp"

namespace kiln {

class CachedCompiler final : public Compiler {
 public:
  /// `compiler` compiles for `target`, with the backend's `compiler_options`. Binaries are made
  /// with BinaryUse::ready. A cache that cannot be used finds nothing.
  CachedCompiler(std::unique_ptr<Compiler> compiler, const DeviceInfo& target,
                 const std::string& compiler_options);

  [[nodiscard]] Result<Binary> compile(const Source& source) override;

 private:
  std::unique_ptr<Compiler> compiler_;
  std::string backend_;
  std::string architecture_;
  std::string version_;  ///< of the compiler, for people
  std::string made_by_;
  BinaryCache cache_;
};

}  // namespace kiln
