// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bench/launch/application.hpp"
#include "core/errors.hpp"

namespace kiln::launch_bench {

std::vector<std::byte> scalar_bytes(const ScalarPlan& scalar) {
  std::vector<std::byte> bytes(size_of(scalar.dtype));
  const auto put = [&](auto value) { std::memcpy(bytes.data(), &value, sizeof value); };
  switch (scalar.dtype) {
    case DType::i64:
      put(std::get<std::int64_t>(scalar.value));
      break;
    case DType::i32:
      put(static_cast<std::int32_t>(std::get<std::int64_t>(scalar.value)));
      break;
    case DType::u32:
      put(static_cast<std::uint32_t>(std::get<std::int64_t>(scalar.value)));
      break;
    default:
      throw Error(ExitCode::internal, "a scalar of another type than the transpose has");
  }
  return bytes;
}

}  // namespace kiln::launch_bench
