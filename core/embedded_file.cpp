// SPDX-License-Identifier: Apache-2.0
#include "core/embedded_file.hpp"

#include <zlib.h>

#include <stdexcept>

namespace kiln {

std::string EmbeddedFile::text() const {
  std::string text(bytes, '\0');
  auto size = static_cast<uLongf>(bytes);
  const int code = ::uncompress(reinterpret_cast<Bytef*>(text.data()), &size, deflated,
                                static_cast<uLong>(deflated_bytes));
  if (code != Z_OK || size != bytes) {
    throw std::logic_error("the file " + std::string(path) + " inside this program is damaged");
  }
  return text;
}

}  // namespace kiln
