// SPDX-License-Identifier: Apache-2.0
#include "db/shipped.hpp"

#include <algorithm>

#include "db/wisdom.hpp"

namespace kiln {
namespace {

// Lines of other kernels are most of a file and left unparsed: write_wisdom() puts the kernel
// first.
std::string without_other_kernels(std::string_view text, const std::string& kernel) {
  constexpr std::string_view kAnyKernel = "{\"kernel\":";
  const std::string this_kernel = std::string(kAnyKernel) + '"' + kernel + '"';
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (!line.starts_with(kAnyKernel) || line.starts_with(this_kernel)) kept += line;
    text.remove_prefix(end);
  }
  return kept;
}

}  // namespace

std::vector<BestRecord> shipped_bests(const std::string& kernel) {
  return shipped_bests(kernel, shipped_files());
}

std::vector<BestRecord> shipped_bests(const std::string& kernel,
                                      std::span<const EmbeddedFile> files) {
  std::vector<BestRecord> bests;
  for (const EmbeddedFile& file : files) {
    WisdomText text = read_wisdom(without_other_kernels(file.text, kernel), std::string(file.path));
    for (WisdomEntry& entry : text.entries) {
      if (entry.best.key.kernel != kernel) continue;
      entry.best.layer = kShippedLayer;
      bests.push_back(std::move(entry.best));
    }
  }
  return bests;
}

}  // namespace kiln
