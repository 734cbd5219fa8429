// The one table of element types.
// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.hpp"

#include <array>

namespace kiln {
namespace {

struct Properties {
  DType type;
  std::string_view name;
  std::size_t bytes;
  bool floating;
  double epsilon;
};

// In the order of the enum: properties_of() indexes by it.
constexpr std::array<Properties, 14> kTypes = {{
    {DType::i8, "i8", 1, false, 0},
    {DType::u8, "u8", 1, false, 0},
    {DType::i16, "i16", 2, false, 0},
    {DType::u16, "u16", 2, false, 0},
    {DType::i32, "i32", 4, false, 0},
    {DType::u32, "u32", 4, false, 0},
    {DType::i64, "i64", 8, false, 0},
    {DType::u64, "u64", 8, false, 0},
    {DType::e4m3, "e4m3", 1, true, 0x1p-3},
    {DType::e5m2, "e5m2", 1, true, 0x1p-2},
    {DType::f16, "f16", 2, true, 0x1p-10},
    {DType::bf16, "bf16", 2, true, 0x1p-7},
    {DType::f32, "f32", 4, true, 0x1p-23},
    {DType::f64, "f64", 8, true, 0x1p-52},
}};

constexpr const Properties& properties_of(DType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

constexpr auto kAllTypes = [] {
  std::array<DType, kTypes.size()> all{};
  for (std::size_t i = 0; i < kTypes.size(); ++i) all[i] = kTypes[i].type;
  return all;
}();

static_assert(
    [] {
      for (std::size_t i = 0; i < kTypes.size(); ++i) {
        if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
      }
      return true;
    }(),
    "the table must be in the order of the enum");

}  // namespace

std::span<const DType> all_dtypes() { return kAllTypes; }

std::string_view name_of(DType type) { return properties_of(type).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Properties& entry : kTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

std::size_t size_of(DType type) { return properties_of(type).bytes; }

bool is_floating(DType type) { return properties_of(type).floating; }

double epsilon_of(DType type) { return properties_of(type).epsilon; }

}  // namespace kiln
