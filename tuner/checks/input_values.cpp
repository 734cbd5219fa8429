// Computes values at and next to edges, and places them in arrays and around them.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/input_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/integer_range.hpp"

namespace kiln {
namespace {

constexpr std::uint64_t kEveryFourth = 4;
constexpr std::uint64_t kLongestVector = 16;  // elements that a kernel may load at a time
constexpr std::int64_t kOddNumbers = 4;       // that the fill "integers" draws from

/// `value` as an element of `dtype` holds it.
double rounded_value(DType dtype, double value) {
  HostArray element(dtype, {1});
  element.set(0, value);
  return element.get(0);
}

/// The nearest element of `dtype` above (`direction` 1) or below (-1) `value`, which is one.
/// `value` itself where there is none.
double next_to(DType dtype, double value, int direction) {
  if (!is_floating(dtype)) return value + direction;
  if (dtype == DType::f64) return std::nextafter(value, direction * HUGE_VAL);
  // Half a step rounds to one of the neighbours; from zero to the smallest number that is normal in
  // f32, or to the smallest of all where that is larger.
  constexpr double kLeast = std::numeric_limits<float>::min();
  double step = std::max(std::abs(value) * epsilon_of(dtype) / 4, kLeast);
  for (; std::isfinite(step); step *= 2) {
    const double next = rounded_value(dtype, value + direction * step);
    if (next != value) return next;
  }
  return value;  // the last one, or infinite
}

double lowest(DType dtype) {
  return is_floating(dtype) ? -HUGE_VAL : static_cast<double>(integer_range(dtype).low);
}

double largest(DType dtype) {
  if (is_floating(dtype)) return HUGE_VAL;
  if (size_of(dtype) == sizeof(std::int64_t))
    return 9223372036854774784.0;  // the largest f64 that an i64 holds
  return static_cast<double>(integer_range(dtype).high);
}

double plausible(const Fill& fill, DType dtype, std::mt19937_64& random) {
  if (fill.kind == "integers") {
    const auto odd = static_cast<double>(static_cast<std::int64_t>(random() % kOddNumbers) * 2);
    return odd + (lowest(dtype) < 0 ? -3 : 1);
  }
  const double part = static_cast<double>(random() >> 11) * 0x1p-53;
  const double value = fill.low + part * (fill.high - fill.low);
  return is_floating(dtype) ? value : std::floor(value);
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15;
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9;
  number = (number ^ number >> 27) * 0x94D049BB133111EB;
  return number ^ number >> 31;
}

/// At a multiple of a power of two or next to it, where vectors, tiles and passes begin and end.
std::size_t place_at_border(std::uint64_t number, std::size_t length) {
  constexpr int kLeast = 3;  // every place is next to a multiple of a lesser one
  const int units = std::max(static_cast<int>(std::bit_width(length)) - kLeast, 1);
  const std::size_t unit = std::size_t{1} << (kLeast + number % static_cast<unsigned>(units));
  const std::size_t border = mixed(number) % (length / unit + 1) * unit;
  const std::size_t past = border + mixed(number + 1) % 3;  // one more than the place
  return std::clamp<std::size_t>(past, 1, length) - 1;
}

/// One turn in two walks through all places in a vector, vector by vector.
std::size_t place_of_extreme(std::uint64_t turn, std::size_t length) {
  const std::uint64_t step = turn / 2;
  if (turn % 2 == 1) return place_at_border(mixed(step), length);
  const std::size_t vectors = std::max<std::size_t>(length / kLongestVector, 1);
  return (step / kLongestVector % vectors * kLongestVector + step % kLongestVector) % length;
}

enum class RowKind : std::uint8_t { as_it_is, from_zero, up_to_zero, above_zero, below_zero };
constexpr std::uint64_t kRowKinds = 5;

struct RowSpan {
  double smallest;
  double size;  // the largest less the smallest
};

RowSpan span_of(const HostArray& array, std::size_t begin, std::size_t length) {
  double smallest = array.get(begin);
  double biggest = smallest;
  for (std::size_t i = begin; i < begin + length; ++i) {
    smallest = std::min(smallest, array.get(i));
    biggest = std::max(biggest, array.get(i));
  }
  return {smallest, biggest - smallest};
}

/// Of -3, -1, 1 and 3.
double shifted_whole(double value, RowKind kind) {
  const double size = std::abs(value);
  switch (kind) {
    case RowKind::from_zero:
      return size - 1;
    case RowKind::up_to_zero:
      return 1 - size;
    case RowKind::above_zero:
      return size;
    case RowKind::below_zero:
      return -size;
    case RowKind::as_it_is:
      break;
  }
  return value;
}

/// Scaled by a power of two, so that one and a half spans fit on either side of zero.
double shifted_real(double value, RowKind kind, const RowSpan& span, const Fill& fill) {
  if (span.size <= 0) return value;
  const double room = std::min(fill.high, -fill.low) / (1.5 * span.size);
  const double scale = std::exp2(std::floor(std::log2(room)));
  const double size = span.size * scale;
  const double above_smallest = (value - span.smallest) * scale;
  switch (kind) {
    case RowKind::from_zero:
      return above_smallest;
    case RowKind::up_to_zero:
      return above_smallest - size;
    case RowKind::above_zero:
      return above_smallest + size / 2;
    case RowKind::below_zero:
      return above_smallest - 1.5 * size;
    case RowKind::as_it_is:
      break;
  }
  return value;
}

}  // namespace

std::vector<double> edge_values(const Fill& fill, DType dtype, std::span<const double> thresholds) {
  std::vector<double> edges = {fill.low, fill.high, 0};
  edges.insert(edges.end(), thresholds.begin(), thresholds.end());
  std::vector<double> values;
  for (const double edge : edges) {
    const double at = rounded_value(dtype, edge);
    for (const double value : {at, next_to(dtype, at, -1), next_to(dtype, at, 1)}) {
      const bool inside =
          value >= fill.low && (is_floating(dtype) ? value < fill.high : value <= fill.high);
      const bool is_new = std::find(values.begin(), values.end(), value) == values.end();
      if (inside && is_new && rounded_value(dtype, value) == value) values.push_back(value);
    }
  }
  return values;
}

void place_values(HostArray& array, std::span<const double> values, std::uint64_t seed) {
  const std::size_t count = array.count();
  if (values.empty() || count == 0) return;
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = random();
    const bool is_end = i == 0 || i + 1 == count;
    if (is_end || number % kEveryFourth == 0)
      array.set(i, values[number / kEveryFourth % values.size()]);
  }
}

void scatter_values(HostArray& array, std::span<const double> values, Scatter scatter,
                    std::uint64_t seed) {
  constexpr std::size_t kOneOf = 61;
  const std::size_t count = array.count();
  if (values.empty() || count == 0) return;
  std::mt19937_64 random(seed);
  const std::size_t few = std::min(values.size(), count);
  const std::size_t places = scatter == Scatter::few ? few : std::max(count / kOneOf, few);
  for (std::size_t i = 0; i < places; ++i) array.set(random() % count, values[i % values.size()]);
  const auto length = static_cast<std::size_t>(array.shape.back());
  if (scatter == Scatter::few || count < 3 * length) return;
  const std::size_t row = random() % (count / length) * length;
  for (std::size_t i = row; i < row + length; ++i) array.set(i, values.back());
}

void alter_few(HostArray& array, std::uint64_t seed) {
  const std::size_t count = array.count();
  if (count < 3) return;
  std::mt19937_64 random(seed);
  for (const std::size_t from : {count - 1, std::size_t{0}, random() % count})
    array.set(1 + random() % (count - 2), array.get(from));
}

SpecialValues special_values(DType dtype) {
  if (dtype == DType::i64 || dtype == DType::u64)  // a double holds these; references are in i64
    return {{}, {}, {}, {0x1p62, dtype == DType::i64 ? -0x1p62 : 0}};
  if (!is_floating(dtype)) {
    SpecialValues values;
    if (lowest(dtype) < 0) values.limits.push_back(-1);
    values.limits.push_back(largest(dtype));
    values.limits.push_back(lowest(dtype));
    return values;
  }
  // Smallest normal number and largest number, of each type.
  struct Range {
    double smallest;
    double largest;
  };
  const Range range = dtype == DType::e4m3   ? Range{0x1p-6, 448}
                      : dtype == DType::e5m2 ? Range{0x1p-14, 57344}
                      : dtype == DType::f16  ? Range{0x1p-14, 65504}
                      : dtype == DType::bf16 ? Range{0x1p-126, 0x1.fep127}
                      : dtype == DType::f32  ? Range{0x1p-126, std::numeric_limits<float>::max()}
                                             : Range{std::numeric_limits<double>::min(),
                                                    std::numeric_limits<double>::max()};
  SpecialValues values{{std::numeric_limits<double>::quiet_NaN()},
                       {HUGE_VAL, -HUGE_VAL},
                       {-0.0, range.smallest / 4, -range.smallest / 2},
                       {range.largest, -range.largest}};
  if (dtype == DType::e4m3) values.infinities.clear();  // it has none
  return values;
}

void exchange_ends(HostArray& array, std::uint64_t seed) {
  if (array.count() == 0 || array.shape.empty()) return;
  const auto length = static_cast<std::size_t>(array.shape.back());
  const auto exchange = [&](std::size_t a, std::size_t b) {
    const double held = array.get(a);
    array.set(a, array.get(b));
    array.set(b, held);
  };
  for (std::size_t row = 0; row * length < array.count(); ++row) {
    const std::size_t place = place_of_extreme(seed + row, length);
    const std::size_t first = row * length;
    exchange(first + length - 1, first + place);
    exchange(first, first + (place + length / 2) % length);
  }
}

void shift_rows(HostArray& array, const Fill& fill) {
  const bool whole = fill.kind == "integers";
  const bool has_sign =
      whole ? lowest(array.dtype) < 0 : is_floating(array.dtype) && fill.low < 0 && fill.high > 0;
  if (array.count() == 0 || array.shape.empty() || !has_sign) return;
  const auto length = static_cast<std::size_t>(array.shape.back());
  for (std::size_t row = 0; row * length < array.count(); ++row) {
    const auto kind = static_cast<RowKind>((fill.seed + row) % kRowKinds);
    if (kind == RowKind::as_it_is) continue;
    const std::size_t begin = row * length;
    const RowSpan span = span_of(array, begin, length);
    for (std::size_t i = begin; i < begin + length; ++i) {
      const double value =
          whole ? shifted_whole(array.get(i), kind) : shifted_real(array.get(i), kind, span, fill);
      array.set(i, value == 0 && i % 2 == 1 && is_floating(array.dtype) ? -0.0 : value);
    }
  }
}

ZoneBytes input_zone(const Fill& fill, DType dtype, ZoneSide side, std::uint64_t turn) {
  const auto count = static_cast<std::int64_t>(kRedZoneBytes / size_of(dtype));
  HostArray elements(dtype, {count});
  std::mt19937_64 random(fill.seed + turn);
  for (std::int64_t distance = 0; distance < count; ++distance) {
    const std::int64_t place = side == ZoneSide::behind ? distance : count - 1 - distance;
    double value = plausible(fill, dtype, random);
    const std::uint64_t kind = (turn + static_cast<std::uint64_t>(distance)) % 3;
    if (kind == 0) value = largest(dtype);
    if (kind == 1) value = lowest(dtype);
    elements.set(static_cast<std::size_t>(place), value);
  }
  ZoneBytes bytes;
  std::memcpy(bytes.data(), elements.data.data(), bytes.size());
  return bytes;
}

}  // namespace kiln
