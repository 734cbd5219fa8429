// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/reference_gaps.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln {
namespace {

constexpr std::int64_t kElementsAtOnce = std::int64_t{1} << 22;

/// How many elements have a fault, and which is the first.
struct Found {
  std::int64_t count = 0;
  std::int64_t first = 0;
  void add(std::int64_t index) {
    if (count++ == 0) first = index;
  }
};

struct Gaps {
  Found left;    ///< not written, though nothing declares it
  Found extra;   ///< written, though `written` declares that they are left
  Found depend;  ///< NaN in one of the runs: they depend on memory that nobody wrote
};

bool is_poison(const HostArray& values, std::size_t index, Poison poison) {
  const std::size_t size = size_of(values.dtype);
  const auto byte = std::byte{poison_byte(values.dtype, poison)};
  const std::byte* from = values.data.data() + index * size;
  return std::all_of(from, from + size, [&](std::byte each) { return each == byte; });
}

void look_at(const HostArray& first, const HostArray& second, std::int64_t start,
             const std::vector<bool>& declared, Gaps& gaps) {
  for (std::size_t i = 0; i < first.count(); ++i) {
    const std::int64_t index = start + static_cast<std::int64_t>(i);
    const bool unwritten =
        is_poison(first, i, Poison::usual) && is_poison(second, i, Poison::other);
    const bool wanted = declared.empty() || declared[static_cast<std::size_t>(index)];
    if (unwritten && wanted) gaps.left.add(index);
    if (!unwritten && !wanted) gaps.extra.add(index);
    if (unwritten || !is_floating(first.dtype)) continue;
    if (std::isnan(first.get(i)) != std::isnan(second.get(i))) gaps.depend.add(index);
  }
}

std::string sentence(const Gaps& gaps, const ProblemData::Output& output) {
  const auto text = [&](const Found& found, std::string_view did, std::string_view hint) {
    return fmt::format("{} {} of {} elements of '{}'; the first is {}{}{}", did, found.count,
                       output.count, output.name, output.name, place_of(found.first, output.shape),
                       hint);
  };
  if (gaps.left.count > 0) {
    return text(gaps.left, "does not write",
                "; where a kernel writes a part of its output, [verify] written says which");
  }
  if (gaps.extra.count > 0)
    return text(gaps.extra, "writes", ", which [verify] written says are left");
  if (gaps.depend.count > 0) return text(gaps.depend, "reads memory that nothing wrote for", "");
  return {};
}

}  // namespace

std::string place_of(std::int64_t index, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    place[i] = index % std::max<std::int64_t>(shape[i], 1);
    index /= std::max<std::int64_t>(shape[i], 1);
  }
  return fmt::format("[{}]", fmt::join(place, ", "));
}

Result<std::string> gaps_of(Device& device, Toolbox& toolbox, const TwoRuns& runs,
                            const std::vector<bool>& declared) {
  const ProblemData::Output& output = runs.output;
  const Result<BufferDifference> same =
      toolbox.compare(runs.first, runs.second, output.dtype, output.count, Tolerance{});
  if (!same) return same.failure();
  // The usual case: all was written. Nothing is downloaded then.
  if (same->wrong == 0 && declared.empty()) return std::string();
  Gaps gaps;
  for (std::int64_t start = 0; start < output.count; start += kElementsAtOnce) {
    const std::int64_t count = std::min(kElementsAtOnce, output.count - start);
    const std::size_t offset = static_cast<std::size_t>(start) * size_of(output.dtype);
    HostArray first(output.dtype, {count});
    HostArray second(output.dtype, {count});
    if (Status status = device.download(runs.first, offset, first.data); !status)
      return status.failure();
    if (Status status = device.download(runs.second, offset, second.data); !status)
      return status.failure();
    look_at(first, second, start, declared, gaps);
  }
  return sentence(gaps, output);
}

}  // namespace kiln
