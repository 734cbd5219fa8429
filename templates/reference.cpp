// See reference.hpp: the table of references and the host arrays they work on.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "templates/kernels/references.hpp"

namespace kiln {
namespace {

const std::vector<std::pair<std::string, ReferenceFunction>>& table() {
  static const std::vector<std::pair<std::string, ReferenceFunction>> kReferences = {
      {"arg_reduce", arg_reduce_reference}, {"reduce", reduce_reference},
      {"histogram", histogram_reference},   {"transpose", transpose_reference},
      {"matmul", matmul_reference},         {"convolution", convolution_reference},
  };
  return kReferences;
}

/// A binary floating-point format of 16 bits.
struct Half {
  int mantissa_bits;
  int min_exponent;  // of the smallest normal number, as in 2^min_exponent
  int max_exponent;
};
constexpr Half kF16{10, -14, 15};
constexpr Half kBf16{7, -126, 127};

double from_half(std::uint16_t bits, Half format) {
  int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  int exponent = (bits & 0x7fff) >> format.mantissa_bits;
  int bias = format.max_exponent;
  double magnitude;
  if (exponent == 2 * format.max_exponent + 1) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, format.min_exponent - format.mantissa_bits);
  } else {
    magnitude =
        std::ldexp((1 << format.mantissa_bits) + mantissa, exponent - bias - format.mantissa_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Nearest, ties to even; too large becomes infinity.
std::uint16_t to_half(double value, Half format) {
  auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  auto infinity = static_cast<std::uint16_t>((2 * format.max_exponent + 1) << format.mantissa_bits);
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | (1 << (format.mantissa_bits - 1)));
  double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  int exponent = std::max(std::ilogb(magnitude), format.min_exponent);
  double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // Counted in units in the last place from zero, consecutive bit patterns are consecutive numbers.
  std::int64_t bits =
      (static_cast<std::int64_t>(exponent - format.min_exponent) << format.mantissa_bits) +
      static_cast<std::int64_t>(units);
  return bits >= infinity ? sign | infinity : static_cast<std::uint16_t>(sign | bits);
}

template <typename T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void write_as(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

std::int64_t to_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0)
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(std::min(value, 18446744073709549568.0)));
  return value < -9223372036854775808.0 ? std::numeric_limits<std::int64_t>::min()
                                        : static_cast<std::int64_t>(value);
}

}  // namespace

HostArray::HostArray(DType type, std::vector<std::int64_t> extents)
    : dtype(type), shape(std::move(extents)) {
  data.resize(count() * size_of(dtype));
}

std::size_t HostArray::count() const {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1},
                      [](std::int64_t a, std::int64_t b) { return a * b; }));
}

double HostArray::get(std::size_t index) const {
  const std::byte* from = data.data() + index * size_of(dtype);
  switch (dtype) {
    case DType::u8:
      return read_as<std::uint8_t>(from);
    case DType::i32:
      return read_as<std::int32_t>(from);
    case DType::u32:
      return read_as<std::uint32_t>(from);
    case DType::i64:
      return static_cast<double>(read_as<std::int64_t>(from));
    case DType::u64:
      return static_cast<double>(read_as<std::uint64_t>(from));
    case DType::f16:
      return from_half(read_as<std::uint16_t>(from), kF16);
    case DType::bf16:
      return from_half(read_as<std::uint16_t>(from), kBf16);
    case DType::f32:
      return read_as<float>(from);
    case DType::f64:
      return read_as<double>(from);
  }
  throw std::logic_error("element type");
}

void HostArray::set(std::size_t index, double value) {
  std::byte* to = data.data() + index * size_of(dtype);
  switch (dtype) {
    case DType::u8:
      return write_as(to, static_cast<std::uint8_t>(to_integer(value)));
    case DType::i32:
      return write_as(to, static_cast<std::int32_t>(to_integer(value)));
    case DType::u32:
      return write_as(to, static_cast<std::uint32_t>(to_integer(value)));
    case DType::i64:
      return write_as(to, to_integer(value));
    case DType::u64:
      return write_as(to, static_cast<std::uint64_t>(to_integer(value)));
    case DType::f16:
      return write_as(to, to_half(value, kF16));
    case DType::bf16:
      return write_as(to, to_half(value, kBf16));
    case DType::f32:
      return write_as(to, static_cast<float>(value));
    case DType::f64:
      return write_as(to, value);
  }
}

ReferenceFunction find_reference(std::string_view name) {
  for (const auto& [known, function] : table()) {
    if (known == name) return function;
  }
  return nullptr;
}

const std::vector<std::string>& reference_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (const auto& [name, function] : table()) all.push_back(name);
    return all;
  }();
  return kNames;
}

DType reference_dtype(DType dtype) { return is_floating(dtype) ? DType::f64 : DType::i64; }

}  // namespace kiln
