// SPDX-License-Identifier: Apache-2.0
#include "wisdom/shipped.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/hash.hpp"
#include "wisdom/wisdom.hpp"

namespace kiln {
namespace {

/// The lines of one kernel, and those that are no bests. write_wisdom() puts a best's kernel first
/// and its evidence last: lines of other kernels, most of a file, are left unparsed, and so is the
/// evidence, most of a line, which a lookup reads of some neighbours alone.
struct LinesOfKernel {
  std::string text;                         ///< without evidence
  std::vector<std::string_view> evidences;  ///< of each line of `text`; empty: of no best

  LinesOfKernel(std::string_view file, const std::string& kernel) {
    const std::string this_kernel = fmt::format("{}\"{}\"", kAnyKernel, kernel);
    for (; !file.empty(); file.remove_prefix(std::min(file.find('\n'), file.size() - 1) + 1)) {
      const std::string_view line = file.substr(0, file.find('\n'));
      if (!line.starts_with(kAnyKernel) || line.starts_with(this_kernel)) add(line);
    }
  }

 private:
  static constexpr std::string_view kAnyKernel = "{\"kernel\":";
  static constexpr std::string_view kEvidence = ",\"evidence\":";

  void add(std::string_view line) {
    const std::size_t head = line.find(kEvidence);
    if (head == std::string_view::npos) {
      text.append(line).push_back('\n');
      evidences.emplace_back();
      return;
    }
    text.append(line.substr(0, head)).append(kEvidence).append("{\"finalists\":[]}}\n");
    line.remove_prefix(head + kEvidence.size());
    evidences.push_back(line.substr(0, line.rfind('}')));
  }
};

}  // namespace

std::vector<BestRecord> shipped_bests(const std::string& kernel) {
  std::vector<BestRecord> bests;
  for (const EmbeddedFile& part : shipped_parts()) {
    if (part.path.substr(part.path.rfind('/') + 1) != kernel) continue;
    std::vector<BestRecord> found = shipped_bests(kernel, part.text(), std::string(part.path));
    std::move(found.begin(), found.end(), std::back_inserter(bests));
  }
  return bests;
}

std::vector<BestRecord> shipped_bests(const std::string& kernel, std::string_view text,
                                      const std::string& file) {
  std::vector<BestRecord> bests;
  const LinesOfKernel lines(text, kernel);
  WisdomText read = read_wisdom(lines.text, file);
  for (WisdomEntry& entry : read.entries) {
    if (entry.best.key.kernel != kernel) continue;
    entry.best.layer = kShippedLayer;
    entry.best.evidence = lines.evidences.at(static_cast<std::size_t>(entry.where.line) - 1);
    bests.push_back(std::move(entry.best));
  }
  return bests;
}

std::vector<std::string> shipped_kernels() {
  std::set<std::string> kernels;
  for (const EmbeddedFile& part : shipped_parts()) {
    kernels.emplace(part.path.substr(part.path.rfind('/') + 1));
  }
  return {kernels.begin(), kernels.end()};
}

std::string shipped_hash() {
  std::string hashes;
  for (const EmbeddedFile& part : shipped_parts()) {
    hashes += std::string(part.path) + ' ' + hash128_hex(part.text()) + '\n';
  }
  return hash128_hex(hashes);
}

}  // namespace kiln
