// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/argument_binding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/integer_range.hpp"
#include "core/suggest.hpp"
#include "templates/small_floats.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMemoryAlignment = 16;  // of the widest vector that kernels load

template <typename T>
void put(ScalarBytes& scalar, T value) {
  std::memcpy(scalar.bytes.data(), &value, sizeof value);
}

std::string shape_text(const BufferPlan& plan) {
  std::string text{name_of(plan.dtype)};
  for (const std::int64_t extent : plan.shape) {
    text += fmt::format("[{}]", extent);
  }
  return text;
}

std::uint64_t bits_of(const LaunchArgument& given) {
  return static_cast<std::uint64_t>(given.integer);
}

double as_floating(const LaunchArgument& given) {
  switch (given.kind) {
    case LaunchArgument::Kind::integer:
      return static_cast<double>(given.integer);
    case LaunchArgument::Kind::large_integer:
      return static_cast<double>(bits_of(given));
    default:
      return given.floating;
  }
}

std::string number_text(const LaunchArgument& given) {
  switch (given.kind) {
    case LaunchArgument::Kind::integer:
      return fmt::format("{}", given.integer);
    case LaunchArgument::Kind::large_integer:
      return fmt::format("{}", bits_of(given));
    default:
      return fmt::format("{}", given.floating);
  }
}

/// Numbers beyond the largest one are fit as long as they round to it, NaN always, infinities where
/// the type has them.
bool fits_floating(DType dtype, double value) {
  if (std::isinf(value)) return dtype != DType::e4m3;
  double first_infinite = std::numeric_limits<double>::infinity();
  if (dtype == DType::e4m3) first_infinite = 0x1.d000000000001p8;  // 464 itself rounds to 448
  if (dtype == DType::e5m2) first_infinite = 61440;
  if (dtype == DType::f32) first_infinite = 0x1.ffffffp127;
  if (dtype == DType::f16) first_infinite = 65520;
  if (dtype == DType::bf16) first_infinite = 0x1.ffp127;
  return !std::isfinite(value) || std::abs(value) < first_infinite;
}

bool fits_integer(DType dtype, const LaunchArgument& given) {
  const std::int64_t value = given.integer;
  if (given.kind == LaunchArgument::Kind::large_integer && dtype != DType::u64 && value < 0) {
    return false;
  }
  if (dtype == DType::u64) return value >= 0 || given.kind == LaunchArgument::Kind::large_integer;
  if (is_floating(dtype)) return true;
  const IntegerRange range = integer_range(dtype);
  return value >= range.low && value <= range.high;
}

/// As the application gave it: infinity stays infinity, which the conversion alone would not keep.
std::uint8_t e5m2_code(double value) {
  const std::uint16_t code = code_of(kE5m2, value);
  return static_cast<std::uint8_t>(std::isinf(value) ? code + 1 : code);
}

}  // namespace

ScalarBytes encode_scalar(DType dtype, const Value& value) {
  ScalarBytes scalar;
  scalar.size = size_of(dtype);
  const auto* whole = std::get_if<std::int64_t>(&value);
  const std::int64_t integer =
      whole != nullptr ? *whole : static_cast<std::int64_t>(as_double(value));
  switch (dtype) {
    case DType::i8:
      put(scalar, static_cast<std::int8_t>(integer));
      break;
    case DType::u8:
      put(scalar, static_cast<std::uint8_t>(integer));
      break;
    case DType::i16:
      put(scalar, static_cast<std::int16_t>(integer));
      break;
    case DType::u16:
      put(scalar, static_cast<std::uint16_t>(integer));
      break;
    case DType::i32:
      put(scalar, static_cast<std::int32_t>(integer));
      break;
    case DType::u32:
      put(scalar, static_cast<std::uint32_t>(integer));
      break;
    case DType::i64:
      put(scalar, integer);
      break;
    case DType::u64:
      put(scalar, static_cast<std::uint64_t>(integer));
      break;
    case DType::f32:
      put(scalar, static_cast<float>(as_double(value)));
      break;
    case DType::f64:
      put(scalar, as_double(value));
      break;
    case DType::e4m3:
      put(scalar, static_cast<std::uint8_t>(code_of(kE4m3, as_double(value))));
      break;
    case DType::e5m2:
      put(scalar, e5m2_code(as_double(value)));
      break;
    case DType::f16:
      put(scalar, code_of(kF16, as_double(value)));
      break;
    case DType::bf16:
      put(scalar, code_of(kBf16, as_double(value)));
      break;
  }
  return scalar;
}

ArgumentBinder::ArgumentBinder(const KernelSpec& spec, const LaunchPlan& plan,
                               bool offsets_in_handle)
    : spec_(spec), plan_(plan), offsets_in_handle_(offsets_in_handle) {
  for (const BufferPlan& buffer : plan.buffers) {
    names_.push_back(buffer.name);
  }
  for (const ScalarPlan& scalar : plan.scalars) {
    names_.push_back(scalar.name);
  }
}

BoundArguments ArgumentBinder::empty() const {
  BoundArguments bound;
  bound.buffers.resize(plan_.buffers.size());
  bound.given.resize(names_.size());
  bound.order.resize(names_.size());
  for (const ScalarPlan& scalar : plan_.scalars) {
    bound.scalars.push_back(encode_scalar(scalar.dtype, scalar.value));
  }
  return bound;
}

Expected<void> ArgumentBinder::bind(std::span<const LaunchArgument> arguments,
                                    std::span<const Buffer> pooled, BoundArguments& bound) const {
  std::fill(bound.given.begin(), bound.given.end(), char{0});
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const LaunchArgument& given = arguments[place];
    const std::optional<std::size_t> found = find(given.name, place, bound);
    if (!found) {
      return unknown(given.name);
    }
    const std::size_t buffers = plan_.buffers.size();
    if (std::optional<LaunchError> wrong = *found < buffers
                                               ? bind_buffer(*found, given, bound)
                                               : bind_scalar(*found - buffers, given, bound)) {
      return *std::move(wrong);
    }
  }
  for (std::size_t i = 0; i < pooled.size(); ++i) {
    if (pooled[i].handle != 0 && bound.given[i] == 0) {
      bound.buffers[i] = pooled[i];
      bound.given[i] = 1;
    }
  }
  if (std::optional<LaunchError> missing = find_missing(bound)) {
    return *std::move(missing);
  }
  return {};
}

std::optional<std::size_t> ArgumentBinder::find(std::string_view name, std::size_t place,
                                                BoundArguments& bound) const {
  // More places than names: one is unknown or given twice, which is found out in time.
  const bool may_guess = place < bound.order.size();
  if (may_guess && names_[bound.order[place]] == name) {
    return bound.order[place];
  }
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    return std::nullopt;
  }
  const auto index = static_cast<std::size_t>(found - names_.begin());
  if (may_guess) {
    bound.order[place] = index;
  }
  return index;
}

std::optional<LaunchError> ArgumentBinder::bind_buffer(std::size_t index,
                                                       const LaunchArgument& given,
                                                       BoundArguments& bound) const {
  const BufferPlan& plan = plan_.buffers[index];
  const auto needed = static_cast<std::size_t>(plan.bytes());
  if (bound.given[index] != 0) {
    return error(fmt::format("argument '{}' is given twice", plan.name));
  }
  if (given.kind != LaunchArgument::Kind::memory) {
    return error(fmt::format("argument '{}' is device memory ({}), a number was given", plan.name,
                             shape_text(plan)));
  }
  if (!given.dtype.empty() && given.dtype != name_of(plan.dtype)) {
    return error(fmt::format("argument '{}' holds {}, a pointer to {} was given", plan.name,
                             name_of(plan.dtype), given.dtype));
  }
  if (given.bytes < needed) {
    return error(fmt::format("argument '{}' needs {} bytes ({}), {} were given", plan.name, needed,
                             shape_text(plan), given.bytes));
  }
  if (given.memory == nullptr && needed > 0) {
    return error(fmt::format("argument '{}' is a null pointer", plan.name));
  }
  const auto handle = reinterpret_cast<std::uintptr_t>(given.memory);
  const std::size_t begin = given.offset + (offsets_in_handle_ ? handle : 0);
  if (begin % kMemoryAlignment != 0 && needed > 0) {
    return error(fmt::format(
        "argument '{}' begins {} bytes after a multiple of {}: configs may load whole vectors",
        plan.name, begin % kMemoryAlignment, kMemoryAlignment));
  }
  bound.buffers[index] = offsets_in_handle_ ? Buffer{handle + given.offset, needed, 0}
                                            : Buffer{handle, needed, given.offset};
  bound.given[index] = 1;
  return std::nullopt;
}

std::optional<LaunchError> ArgumentBinder::bind_scalar(std::size_t index,
                                                       const LaunchArgument& given,
                                                       BoundArguments& bound) const {
  const ScalarPlan& plan = plan_.scalars[index];
  if (!plan.from_caller) {
    return error(fmt::format("argument '{}' follows from the problem ({}): leave it out", plan.name,
                             to_text(plan.value)));
  }
  if (bound.given[plan_.buffers.size() + index] != 0) {
    return error(fmt::format("argument '{}' is given twice", plan.name));
  }
  if (given.kind == LaunchArgument::Kind::memory) {
    return error(fmt::format("argument '{}' is a number ({}), device memory was given", plan.name,
                             name_of(plan.dtype)));
  }
  if (given.kind == LaunchArgument::Kind::floating && !is_floating(plan.dtype)) {
    return error(fmt::format("argument '{}' is {}, the floating-point number {} was given",
                             plan.name, name_of(plan.dtype), given.floating));
  }
  const double floating = as_floating(given);
  if (!(is_floating(plan.dtype) ? fits_floating(plan.dtype, floating)
                                : fits_integer(plan.dtype, given))) {
    return error(fmt::format("argument '{}' is {}, which cannot hold {}", plan.name,
                             name_of(plan.dtype), number_text(given)));
  }
  bound.scalars[index] =
      encode_scalar(plan.dtype, is_floating(plan.dtype) ? Value(floating) : Value(given.integer));
  bound.given[plan_.buffers.size() + index] = 1;
  return std::nullopt;
}

std::optional<LaunchError> ArgumentBinder::find_missing(const BoundArguments& bound) const {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (bound.given[i] == 0) {
      const BufferPlan& plan = plan_.buffers[i];
      return error(fmt::format("{} '{}' is missing ({}, {} bytes); {}",
                               plan.workspace ? "workspace" : "argument", plan.name,
                               shape_text(plan), plan.bytes(), expected_arguments()));
    }
  }
  for (std::size_t i = 0; i < plan_.scalars.size(); ++i) {
    if (plan_.scalars[i].from_caller && bound.given[plan_.buffers.size() + i] == 0) {
      return error(fmt::format("argument '{}' is missing (a number, {}); {}", plan_.scalars[i].name,
                               name_of(plan_.scalars[i].dtype), expected_arguments()));
    }
  }
  return std::nullopt;
}

LaunchError ArgumentBinder::unknown(std::string_view name) const {
  if (spec_.find_argument(name) != nullptr) {
    return error(fmt::format("argument '{}' does not exist for this problem; {}", name,
                             expected_arguments()));
  }
  std::vector<std::string> names;
  for (const Argument& argument : spec_.arguments) {
    names.push_back(argument.name);
  }
  return error(fmt::format("there is no argument '{}'{}; {}", name, did_you_mean(name, names),
                           expected_arguments()));
}

std::string ArgumentBinder::expected_arguments() const {
  std::vector<std::string> names;
  for (const Argument& argument : spec_.arguments) {
    const ScalarPlan* scalar = plan_.find_scalar(argument.name);
    if (plan_.find_buffer(argument.name) != nullptr || (scalar != nullptr && scalar->from_caller)) {
      names.push_back(argument.name);
    }
  }
  return "it takes " + comma_list(names);
}

LaunchError ArgumentBinder::error(const std::string& text) const {
  return {LaunchErrorCode::bad_argument, spec_.name + ": " + text};
}

}  // namespace kiln
