// SPDX-License-Identifier: Apache-2.0
#include "core/artifact.hpp"

#include "core/hash.hpp"
#include "core/source_text.hpp"

namespace kiln {

std::string binary_key(const Source& source, const std::string& backend,
                       const std::string& architecture, const std::string& compiler) {
  KeyText key;
  key.add(without_comments(source.text));
  for (const std::string& option : source.options) key.add(option);
  if (source.has_cpp_names) {  // the compiler makes an instance of each
    for (const std::string& entry : source.entries) key.add(entry);
  }
  key.add(backend);
  key.add(architecture);
  key.add(compiler);
  return hash128_hex(key.text());
}

}  // namespace kiln
