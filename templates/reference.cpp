// Finds CPU references, and reads and writes elements of host arrays by their type.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "templates/small_floats.hpp"

namespace kiln {
namespace {

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
    case DType::i8:
      return read_as<std::int8_t>(from);
    case DType::u8:
      return read_as<std::uint8_t>(from);
    case DType::i16:
      return read_as<std::int16_t>(from);
    case DType::u16:
      return read_as<std::uint16_t>(from);
    case DType::i32:
      return read_as<std::int32_t>(from);
    case DType::u32:
      return read_as<std::uint32_t>(from);
    case DType::i64:
      return static_cast<double>(read_as<std::int64_t>(from));
    case DType::u64:
      return static_cast<double>(read_as<std::uint64_t>(from));
    case DType::e4m3:
      return number_of(kE4m3, read_as<std::uint8_t>(from));
    case DType::e5m2:
      return number_of(kE5m2, read_as<std::uint8_t>(from));
    case DType::f16:
      return number_of(kF16, read_as<std::uint16_t>(from));
    case DType::bf16:
      return number_of(kBf16, read_as<std::uint16_t>(from));
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
    case DType::i8:
      return write_as(to, static_cast<std::int8_t>(to_integer(value)));
    case DType::u8:
      return write_as(to, static_cast<std::uint8_t>(to_integer(value)));
    case DType::i16:
      return write_as(to, static_cast<std::int16_t>(to_integer(value)));
    case DType::u16:
      return write_as(to, static_cast<std::uint16_t>(to_integer(value)));
    case DType::i32:
      return write_as(to, static_cast<std::int32_t>(to_integer(value)));
    case DType::u32:
      return write_as(to, static_cast<std::uint32_t>(to_integer(value)));
    case DType::i64:
      return write_as(to, to_integer(value));
    case DType::u64:
      return write_as(to, static_cast<std::uint64_t>(to_integer(value)));
    case DType::e4m3:
      return write_as(to, static_cast<std::uint8_t>(code_of(kE4m3, value)));
    case DType::e5m2:
      return write_as(to, static_cast<std::uint8_t>(code_of(kE5m2, value)));
    case DType::f16:
      return write_as(to, code_of(kF16, value));
    case DType::bf16:
      return write_as(to, code_of(kBf16, value));
    case DType::f32:
      return write_as(to, static_cast<float>(value));
    case DType::f64:
      return write_as(to, value);
  }
}

ReferenceFunction find_reference(std::string_view name) {
  const auto found = references_by_folder().find(name);
  return found == references_by_folder().end() ? nullptr : found->second;
}

DType reference_dtype(DType dtype) { return is_floating(dtype) ? DType::f64 : DType::i64; }

}  // namespace kiln
