// The CPU loop of histogram: ++counts[bin_of(in[i])].
//
// Which bin a sample falls into is defined by two f32 operations, the same as in the kernels, so
// that counts agree exactly: bin = min(floor((x - low) * scale), bins - 1) for low <= x < high.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kiln {
namespace {

/// Even bins over [low, high); `scale` is bins / (high - low), rounded once by the caller.
template <typename T>
struct EvenBins {
  T low;
  T high;
  float scale;
  std::int64_t bins;

  /// -1 for samples outside, NaN among them.
  [[nodiscard]] std::int64_t bin_of(T x) const {
    if (!(x >= low && x < high)) return -1;
    const auto bin = static_cast<std::int64_t>(distance_from_low(x) * scale);
    return std::min(bin, bins - 1);
  }

 private:
  [[nodiscard]] float distance_from_low(T x) const {
    if constexpr (std::is_same_v<T, float>) return x - low;
    // The difference of two i32 needs 32 bits without a sign; it is rounded to f32 as the kernels
    // do.
    else
      return static_cast<float>(static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(low));
  }
};

template <typename T>
void count_even(ReferenceCall& call, const HostArray& in, std::int64_t* counts) {
  const EvenBins<T> bins = {
      static_cast<T>(call.scalars.at("low")), static_cast<T>(call.scalars.at("high")),
      static_cast<float>(call.scalars.at("scale")), call.problem.integer("bins")};
  const T* samples = in.elements<T>();
  for (std::size_t i = 0; i < in.count(); ++i) {
    const std::int64_t bin = bins.bin_of(samples[i]);
    if (bin >= 0) ++counts[bin];
  }
}

}  // namespace

void histogram_reference(ReferenceCall& call) {
  const HostArray& in = call.arrays.at("in");
  auto* counts = call.arrays.at("counts").elements<std::int64_t>();
  if (in.dtype == DType::f32) return count_even<float>(call, in, counts);
  if (in.dtype == DType::i32) return count_even<std::int32_t>(call, in, counts);
  const auto* samples = in.elements<std::uint8_t>();
  for (std::size_t i = 0; i < in.count(); ++i) ++counts[samples[i]];
}

}  // namespace kiln
