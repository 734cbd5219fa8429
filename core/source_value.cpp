// SPDX-License-Identifier: Apache-2.0
#include "core/source_value.hpp"

#include <array>
#include <string_view>

#include "core/errors.hpp"

namespace kiln {
namespace {

struct TypeNames {
  DType type;
  std::string_view cuda;
  std::string_view hip;
  std::string_view opencl;
};

constexpr std::array<TypeNames, 14> kTypeNames = {{
    {DType::i8, "signed char", "signed char", "char"},
    {DType::u8, "unsigned char", "unsigned char", "uchar"},
    {DType::i16, "short", "short", "short"},
    {DType::u16, "unsigned short", "unsigned short", "ushort"},
    {DType::i32, "int", "int", "int"},
    {DType::u32, "unsigned", "unsigned", "uint"},
    {DType::i64, "long long", "long long", "long"},
    {DType::u64, "unsigned long long", "unsigned long long", "ulong"},
    {DType::e4m3, "__nv_fp8_e4m3", "__hip_fp8_e4m3", ""},
    {DType::e5m2, "__nv_fp8_e5m2", "__hip_fp8_e5m2", ""},
    {DType::f16, "__half", "__half", "half"},
    {DType::bf16, "__nv_bfloat16", "__hip_bfloat16", ""},
    {DType::f32, "float", "float", "float"},
    {DType::f64, "double", "double", "double"},
}};

}  // namespace

std::string source_type(DType type, const std::string& backend) {
  for (const TypeNames& names : kTypeNames) {
    if (names.type != type) continue;
    const std::string_view name = backend == "cuda"  ? names.cuda
                                  : backend == "hip" ? names.hip
                                                     : names.opencl;
    if (!name.empty()) return std::string(name);
  }
  throw InputError("OpenCL C has no type for " + std::string(name_of(type)));
}

std::string source_argument(const Value& value, const std::string& backend) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (const auto type = parse_dtype(*text)) return source_type(*type, backend);
  }
  return to_text(value);
}

std::string source_macro(const Value& value, const std::string& backend) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  return source_argument(value, backend);
}

}  // namespace kiln
