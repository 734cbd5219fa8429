// SPDX-License-Identifier: Apache-2.0
#include "backends/cached_compiler.hpp"

#include <utility>

namespace kiln {

CachedCompiler::CachedCompiler(std::unique_ptr<Compiler> compiler, const DeviceInfo& target,
                               const std::string& compiler_options)
    : compiler_(std::move(compiler)),
      backend_(target.backend),
      architecture_(target.architecture),
      version_(target.compiler),
      made_by_(compiler_options + "; " + target.compiler + "; " + target.driver + "; ready"),
      cache_(default_cache_folder(), default_cache_limit().bytes) {
  compiler_->prepare_for(BinaryUse::ready);
}

Result<Binary> CachedCompiler::compile(const Source& source) {
  const std::string key = binary_key(source, backend_, architecture_, made_by_);
  if (std::optional<CachedBinary> known = cache_.find(key)) return std::move(known->binary);
  Result<Binary> binary = compiler_->compile(source);
  if (binary) static_cast<void>(cache_.store(key, *binary, version_));
  return binary;
}

}  // namespace kiln
