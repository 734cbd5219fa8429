// Packs rows into bits, and finds them by a binary search in one column after the other.
// SPDX-License-Identifier: Apache-2.0
#include "search/row_list.hpp"

#include <bit>

namespace kiln {
namespace {

// A value of 17 bits at most may begin at any bit of a byte: it lies in these.
constexpr std::size_t kWindowBytes = 3;

}  // namespace

RowList::RowList(std::span<const ValueIndex> rows, std::span<const std::size_t> value_counts) {
  std::vector<bool> is_absent(value_counts.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == kAbsent) is_absent[i % value_counts.size()] = true;
  }
  for (std::size_t c = 0; c < value_counts.size(); ++c) {
    // Where it occurs kAbsent has a code of its own and sorts behind the values.
    const std::size_t most = is_absent[c] ? value_counts[c] : value_counts[c] - 1;
    const auto bits = static_cast<std::uint32_t>(std::bit_width(most));
    const ValueIndex absent = is_absent[c] ? static_cast<ValueIndex>(most) : kAbsent;
    columns_.push_back({static_cast<std::uint32_t>(row_bits_), bits, absent});
    row_bits_ += bits;
  }
  if (columns_.empty()) return;
  size_ = rows.size() / columns_.size();
  packed_.resize((size_ * row_bits_ + 7) / 8 + kWindowBytes);
  for (std::uint64_t row = 0; row < size_; ++row) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const ValueIndex value = rows[row * columns_.size() + c];
      const std::uint64_t bit = row * row_bits_ + column.first_bit;
      const std::uint32_t code = std::uint32_t{value == kAbsent ? column.absent : value}
                                 << (bit % 8);
      for (std::size_t i = 0; i < kWindowBytes; ++i)
        packed_[bit / 8 + i] |= static_cast<std::uint8_t>(code >> (8 * i));
    }
  }
}

std::uint32_t RowList::code(std::uint64_t row, const Column& column) const {
  const std::uint64_t bit = row * row_bits_ + column.first_bit;
  std::uint32_t window = 0;
  for (std::size_t i = 0; i < kWindowBytes; ++i)
    window |= std::uint32_t{packed_[bit / 8 + i]} << (8 * i);
  return (window >> (bit % 8)) & ((std::uint32_t{1} << column.bits) - 1);
}

ValueIndex RowList::value(std::uint64_t row, std::size_t column) const {
  const std::uint32_t found = code(row, columns_[column]);
  return found == columns_[column].absent ? kAbsent : static_cast<ValueIndex>(found);
}

RowList::Range RowList::within(Range rows, std::size_t column, ValueIndex value) const {
  const Column& at = columns_[column];
  const std::uint32_t wanted = value == kAbsent ? at.absent : value;
  // The first row whose code is not below `least`.
  const auto first_from = [&](std::uint64_t first, std::uint32_t least) {
    std::uint64_t last = rows.last;
    while (first < last) {
      const std::uint64_t middle = first + (last - first) / 2;
      if (code(middle, at) < least) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  };
  const std::uint64_t first = first_from(rows.first, wanted);
  return {first, first_from(first, wanted + 1)};
}

std::size_t RowList::bytes() const { return packed_.size() + columns_.size() * sizeof(Column); }

}  // namespace kiln
