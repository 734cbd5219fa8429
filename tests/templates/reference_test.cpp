// Host arrays round like the devices do, and formulas compute what the spec says.
// SPDX-License-Identifier: Apache-2.0
#include "templates/reference.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "templates/library.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

double rounded(DType dtype, double value) {
  HostArray array(dtype, {1});
  array.set(0, value);
  return array.get(0);
}

TEST(HostArray, RoundsToTheNearestElement) {
  EXPECT_EQ(rounded(DType::f32, 0.1), static_cast<double>(0.1F));
  EXPECT_EQ(rounded(DType::f16, 0.1), 0.0999755859375);
  EXPECT_EQ(rounded(DType::bf16, 0.1), 0.10009765625);
  EXPECT_EQ(rounded(DType::u8, 300.7), 44);
  EXPECT_EQ(rounded(DType::i32, -2.9), -2);
  EXPECT_EQ(rounded(DType::i8, -2.9), -2);
  EXPECT_EQ(rounded(DType::i8, 130), -126);
  EXPECT_EQ(rounded(DType::e4m3, 0.1), 0.1015625);
  EXPECT_EQ(rounded(DType::e5m2, 0.1), 0.09375);
}

TEST(HostArray, HalvesTieToEvenAndOverflowToInfinity) {
  EXPECT_EQ(rounded(DType::f16, 2049), 2048);
  EXPECT_EQ(rounded(DType::f16, 2051), 2052);
  EXPECT_EQ(rounded(DType::f16, 65519.99), 65504);
  EXPECT_EQ(rounded(DType::f16, -65520), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(rounded(DType::f16, std::ldexp(1.0, -24)), std::ldexp(1.0, -24));  // the smallest
  EXPECT_EQ(rounded(DType::f16, std::ldexp(1.0, -25)), 0);
  EXPECT_EQ(rounded(DType::f16, std::ldexp(1.0, -14) * 0.99999), std::ldexp(1.0, -14));
  EXPECT_TRUE(std::isnan(rounded(DType::bf16, std::nan(""))));
  EXPECT_TRUE(std::signbit(rounded(DType::f16, -0.0)));
}

TEST(HostArray, EveryHalfSurvivesARoundTrip) {
  for (DType dtype : {DType::f16, DType::bf16}) {
    HostArray all(dtype, {65536});
    for (int i = 0; i < 65536; ++i)
      all.elements<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
    HostArray copy(dtype, {65536});
    for (std::size_t i = 0; i < 65536; ++i) copy.set(i, all.get(i));
    int changed = 0;
    for (std::size_t i = 0; i < 65536; ++i) {
      bool same = copy.elements<std::uint16_t>()[i] == all.elements<std::uint16_t>()[i];
      changed += same || std::isnan(all.get(i)) ? 0 : 1;
    }
    EXPECT_EQ(changed, 0) << name_of(dtype);
  }
}

TEST(Formulas, FillTheOutputsInDoublePrecision) {
  KernelSpec spec = scale_spec();
  Problem problem = Problem::parse(spec, "n=3");
  std::map<std::string, HostArray> arrays;
  arrays["x"] = HostArray(DType::f32, {3});
  arrays["y"] = HostArray(DType::f64, {3});
  for (std::size_t i = 0; i < 3; ++i) arrays["x"].set(i, 0.1 * static_cast<double>(i));
  std::map<std::string, double> scalars = {{"n", 3}, {"factor", 2.5}};
  ReferenceCall call{problem, arrays, scalars};
  evaluate_formulas(spec, call);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(arrays["y"].get(i), 2.5 * arrays["x"].get(i));
}

TEST(Formulas, ArraysOfAnotherLengthAreRefused) {
  KernelSpec spec = scale_spec();
  Problem problem = Problem::parse(spec, "n=3");
  std::map<std::string, HostArray> arrays;
  arrays["x"] = HostArray(DType::f32, {2});
  arrays["y"] = HostArray(DType::f64, {3});
  std::map<std::string, double> scalars = {{"n", 3}, {"factor", 2.5}};
  ReferenceCall call{problem, arrays, scalars};
  EXPECT_THROW(evaluate_formulas(spec, call), InputError);
}

TEST(References, AreThoseOfTheBuiltInKernels) {
  const KernelLibrary library;
  const std::vector<std::string> kernels = library.names();
  for (const auto& [name, function] : references_by_folder()) {
    EXPECT_THAT(kernels, testing::Contains(name));
    EXPECT_EQ(find_reference(name), function);
  }
  for (const std::string& kernel : kernels) {
    const std::string& reference = library.load(kernel).verify.reference;
    EXPECT_TRUE(reference.empty() || find_reference(reference) != nullptr) << kernel;
  }
  EXPECT_NE(find_reference("matmul"), nullptr);
  EXPECT_EQ(find_reference("fft"), nullptr);
  EXPECT_EQ(reference_dtype(DType::bf16), DType::f64);
  EXPECT_EQ(reference_dtype(DType::e5m2), DType::f64);
  EXPECT_EQ(reference_dtype(DType::u8), DType::i64);
  EXPECT_EQ(reference_dtype(DType::i8), DType::i64);
}

}  // namespace
}  // namespace kiln::test
