// SPDX-License-Identifier: Apache-2.0
#include "search/state_layer.hpp"

#include <algorithm>
#include <utility>

#include "core/expression/numbers.hpp"
#include "search/saturating.hpp"
#include "search/word_hash.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::CellKind;

constexpr std::uint32_t kFree = 0xFFFFFFFF;
constexpr std::size_t kKindBits = 4;
constexpr std::size_t kKindsPerWord = 64 / kKindBits;

std::uint64_t hash_of(std::span<const std::uint64_t> words) {
  std::uint64_t hash = words.size();
  for (const std::uint64_t word : words) hash = mix(hash, word);
  return hash;
}

}  // namespace

StateLayer::StateLayer(std::vector<expression::Register> live)
    : live_(std::move(live)),
      words_(live_.size() + (live_.size() + kKindsPerWord - 1) / kKindsPerWord),
      packed_(words_),
      table_(64, kFree) {}

std::uint32_t StateLayer::add(const Cell* registers, std::uint64_t weight) {
  pack(registers);
  if (2 * (size() + 1) > table_.size()) grow();
  std::size_t place = hash_of(packed_) & (table_.size() - 1);
  for (; table_[place] != kFree; place = (place + 1) & (table_.size() - 1)) {
    const std::uint32_t state = table_[place];
    if (std::equal(packed_.begin(), packed_.end(), keys_.data() + state * words_)) {
      weights_[state] = saturating_add(weights_[state], weight);
      return state;
    }
  }
  const auto state = static_cast<std::uint32_t>(size());
  table_[place] = state;
  keys_.insert(keys_.end(), packed_.begin(), packed_.end());
  weights_.push_back(weight);
  return state;
}

void StateLayer::load(std::size_t state, Cell* registers) const {
  const std::uint64_t* key = keys_.data() + state * words_;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const std::uint64_t kinds = key[live_.size() + i / kKindsPerWord];
    const auto kind = static_cast<CellKind>((kinds >> (kKindBits * (i % kKindsPerWord))) & 0xF);
    registers[live_[i]] = expression::cell_of(kind, key[i]);
  }
}

void StateLayer::pack(const Cell* registers) {
  std::fill(packed_.begin() + static_cast<std::ptrdiff_t>(live_.size()), packed_.end(), 0);
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const Cell cell = expression::narrowed(registers[live_[i]]);
    packed_[i] = expression::bits_of(cell);
    const auto kind = static_cast<std::uint64_t>(cell.kind);
    packed_[live_.size() + i / kKindsPerWord] |= kind << (kKindBits * (i % kKindsPerWord));
  }
}

void StateLayer::grow() {
  table_.assign(2 * table_.size(), kFree);
  for (std::size_t state = 0; state < size(); ++state) {
    const std::span key(keys_.data() + state * words_, words_);
    std::size_t place = hash_of(key) & (table_.size() - 1);
    while (table_[place] != kFree) place = (place + 1) & (table_.size() - 1);
    table_[place] = static_cast<std::uint32_t>(state);
  }
}

}  // namespace kiln
