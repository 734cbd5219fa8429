// SPDX-License-Identifier: Apache-2.0
#include "core/scratch_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/errors.hpp"

namespace kiln {

std::filesystem::path make_folder(const std::filesystem::path& parent) {
  std::string name = (parent / "kiln-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ExitCode::failed, "cannot make a folder " + name + ": " + std::strerror(errno));
  }
  return name;
}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent) : path_(make_folder(parent)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kiln
