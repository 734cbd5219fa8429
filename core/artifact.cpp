// SPDX-License-Identifier: Apache-2.0
#include "core/artifact.hpp"

#include <string_view>

#include "core/hash.hpp"
#include "core/source_text.hpp"

namespace kiln {

std::string binary_key(const Source& source, const std::string& backend,
                       const std::string& architecture, const std::string& compiler) {
  std::string key;
  const auto add = [&key](std::string_view part) {  // sized, so that no two lists give one text
    key += std::to_string(part.size());
    key += ':';
    key += part;
  };
  add(without_comments(source.text));
  for (const std::string& option : source.options) add(option);
  if (source.has_cpp_names) {  // the compiler makes an instance of each
    for (const std::string& entry : source.entries) add(entry);
  }
  add(backend);
  add(architecture);
  add(compiler);
  return hash128_hex(key);
}

}  // namespace kiln
