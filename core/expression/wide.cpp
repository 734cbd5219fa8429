// SPDX-License-Identifier: Apache-2.0
#include "core/expression/wide.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace kiln::expression {
namespace {

constexpr std::size_t kLimbBits = 32;
constexpr std::uint64_t kLimbMask = 0xFFFFFFFF;

std::uint64_t magnitude_of(std::int64_t number) {
  return number < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(number)
                    : static_cast<std::uint64_t>(number);
}

std::vector<std::uint32_t> limbs_of(std::uint64_t magnitude) {
  return {static_cast<std::uint32_t>(magnitude & kLimbMask),
          static_cast<std::uint32_t>(magnitude >> kLimbBits)};
}

bool bit_at(const std::vector<std::uint32_t>& limbs, std::size_t bit) {
  return ((limbs[bit / kLimbBits] >> (bit % kLimbBits)) & 1) != 0;
}

/// limbs = 2 * limbs + low
void shift_in(std::vector<std::uint32_t>& limbs, bool low) {
  std::uint32_t carry = low ? 1 : 0;
  for (std::uint32_t& limb : limbs) carry = std::exchange(limb, (limb << 1) | carry) >> 31;
  if (carry != 0) limbs.push_back(carry);
}

void drop_leading_zeros(std::vector<std::uint32_t>& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}

}  // namespace

Wide::Wide(bool negative, Limbs limbs) : negative_(negative), limbs_(std::move(limbs)) {
  drop_leading_zeros(limbs_);
  if (limbs_.empty()) negative_ = false;
}

Wide::Wide(std::int64_t number) : Wide(number < 0, limbs_of(magnitude_of(number))) {}

Wide Wide::from_double(double number) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  constexpr int kDigits = std::numeric_limits<double>::digits;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, kDigits));
  Wide whole(mantissa);
  const int shift = exponent - kDigits;
  whole = shift >= 0 ? whole.times(power_of_two(static_cast<std::size_t>(shift)))
                     : whole.divided_by(power_of_two(static_cast<std::size_t>(-shift))).quotient;
  return number < 0 ? whole.negated() : whole;
}

Wide Wide::power_of_two(std::size_t exponent) {
  Limbs limbs(exponent / kLimbBits + 1, 0);
  limbs.back() = std::uint32_t{1} << (exponent % kLimbBits);
  return {false, std::move(limbs)};
}

std::size_t Wide::bits() const {
  if (limbs_.empty()) return 0;
  return (limbs_.size() - 1) * kLimbBits + static_cast<std::size_t>(std::bit_width(limbs_.back()));
}

std::optional<std::int64_t> Wide::to_int64() const {
  if (limbs_.size() > 2) return std::nullopt;
  std::uint64_t magnitude = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) magnitude = (magnitude << kLimbBits) | limbs_[i];
  const std::uint64_t most = magnitude_of(std::numeric_limits<std::int64_t>::min());
  if (magnitude > (negative_ ? most : most - 1)) return std::nullopt;
  return static_cast<std::int64_t>(negative_ ? std::uint64_t{0} - magnitude : magnitude);
}

// The highest 64 bits, of which the last one stands for all that are dropped: it decides ties.
double Wide::to_double() const {
  const std::size_t count = bits();
  const std::size_t dropped = count > 64 ? count - 64 : 0;
  std::uint64_t top = 0;
  for (std::size_t bit = count; bit-- > dropped;) top = (top << 1) | (bit_at(limbs_, bit) ? 1 : 0);
  for (std::size_t bit = 0; bit < dropped; ++bit) top |= bit_at(limbs_, bit) ? 1 : 0;
  const double number = std::ldexp(static_cast<double>(top), static_cast<int>(dropped));
  return negative_ ? -number : number;
}

std::string Wide::text() const {
  std::string digits;
  Limbs rest = limbs_;
  while (!rest.empty()) {
    std::uint64_t remainder = 0;
    for (std::size_t i = rest.size(); i-- > 0;) {
      const std::uint64_t part = (remainder << kLimbBits) | rest[i];
      rest[i] = static_cast<std::uint32_t>(part / 10);
      remainder = part % 10;
    }
    digits += static_cast<char>('0' + remainder);
    drop_leading_zeros(rest);
  }
  if (digits.empty()) digits = "0";
  if (negative_) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Wide Wide::negated() const { return {!negative_, limbs_}; }

std::strong_ordering Wide::compare_magnitudes(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return std::lexicographical_compare_three_way(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

Wide::Limbs Wide::add_magnitudes(const Limbs& a, const Limbs& b) {
  Limbs sum(std::max(a.size(), b.size()) + 1, 0);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    carry += (i < a.size() ? a[i] : 0ULL) + (i < b.size() ? b[i] : 0ULL);
    sum[i] = static_cast<std::uint32_t>(carry & kLimbMask);
    carry >>= kLimbBits;
  }
  return sum;
}

/// a is not less than b.
Wide::Limbs Wide::subtract_magnitudes(const Limbs& a, const Limbs& b) {
  Limbs difference(a.size(), 0);
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t taken = (i < b.size() ? b[i] : 0ULL) + borrow;
    borrow = a[i] < taken ? 1 : 0;
    difference[i] = static_cast<std::uint32_t>((a[i] + (borrow << kLimbBits) - taken) & kLimbMask);
  }
  drop_leading_zeros(difference);
  return difference;
}

Wide Wide::plus(const Wide& other) const {
  if (negative_ == other.negative_) return {negative_, add_magnitudes(limbs_, other.limbs_)};
  if (std::is_lt(compare_magnitudes(limbs_, other.limbs_))) {
    return {other.negative_, subtract_magnitudes(other.limbs_, limbs_)};
  }
  return {negative_, subtract_magnitudes(limbs_, other.limbs_)};
}

Wide Wide::times(const Wide& other) const {
  Limbs product(limbs_.size() + other.limbs_.size() + 1, 0);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < other.limbs_.size() || carry != 0; ++j) {
      const std::uint64_t factor = j < other.limbs_.size() ? other.limbs_[j] : 0;
      carry += product[i + j] + limbs_[i] * factor;
      product[i + j] = static_cast<std::uint32_t>(carry & kLimbMask);
      carry >>= kLimbBits;
    }
  }
  return {negative_ != other.negative_, std::move(product)};
}

/// Bit by bit: numbers are short, and few come here.
Wide::Limbs Wide::divide_magnitudes(const Limbs& a, const Limbs& b, Limbs& remainder) {
  Limbs quotient(a.size(), 0);
  remainder.clear();
  for (std::size_t bit = a.size() * kLimbBits; bit-- > 0;) {
    shift_in(remainder, bit_at(a, bit));
    drop_leading_zeros(remainder);
    if (std::is_lt(compare_magnitudes(remainder, b))) continue;
    remainder = subtract_magnitudes(remainder, b);
    quotient[bit / kLimbBits] |= std::uint32_t{1} << (bit % kLimbBits);
  }
  return quotient;
}

Wide::Division Wide::divided_by(const Wide& divisor) const {
  Limbs rest;
  Wide quotient(negative_ != divisor.negative_, divide_magnitudes(limbs_, divisor.limbs_, rest));
  Wide remainder(negative_, std::move(rest));
  if (!remainder.is_zero() && negative_ != divisor.negative_) {
    quotient = quotient.plus(Wide(-1));
    remainder = remainder.plus(divisor);
  }
  return {std::move(quotient), std::move(remainder)};
}

double Wide::quotient(const Wide& a, const Wide& b) {
  // Enough bits that the last one may stand for the remainder.
  constexpr std::size_t kWanted = 70;
  const std::size_t shift = b.bits() + kWanted > a.bits() ? b.bits() + kWanted - a.bits() : 0;
  Limbs rest;
  Limbs digits = divide_magnitudes(a.times(power_of_two(shift)).limbs_, b.limbs_, rest);
  if (!rest.empty() && !digits.empty()) digits.front() |= 1;
  const Wide scaled(a.negative_ != b.negative_, std::move(digits));
  return std::ldexp(scaled.to_double(), -static_cast<int>(shift));
}

std::strong_ordering Wide::operator<=>(const Wide& other) const {
  if (negative_ != other.negative_) return other.negative_ <=> negative_;
  return negative_ ? compare_magnitudes(other.limbs_, limbs_)
                   : compare_magnitudes(limbs_, other.limbs_);
}

const Wide* intern(Wide number) {
  static std::mutex mutex;
  static std::set<Wide> pool;
  static std::size_t bytes = 0;
  constexpr std::size_t kOverhead = 96;  // of an entry, about
  if (number.bits() > kMaxWideBits) return nullptr;
  const std::scoped_lock lock(mutex);
  const auto known = pool.find(number);
  if (known != pool.end()) return &*known;
  bytes += number.bits() / 8 + kOverhead;
  return bytes <= kMaxWideBytes ? &*pool.insert(std::move(number)).first : nullptr;
}

}  // namespace kiln::expression
