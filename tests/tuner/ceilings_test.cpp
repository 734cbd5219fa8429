// Ceilings on a real device: the figures are finite and positive, and the memory is given back.
// Speeds are not asserted.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/ceilings.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "device_fixture.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"

namespace kiln {
namespace {

bool is_rate(double value) { return std::isfinite(value) && value > 0; }

class CeilingsTest : public DeviceTest {};

/// Refuses every source, and remembers how many it saw.
class RefusingCompiler : public Compiler {
 public:
  Result<Binary> compile(const Source&) override {
    ++refused;
    return Failure{Outcome::compile_error, "no more today", false};
  }
  int refused = 0;
};

TEST_F(CeilingsTest, EveryRateIsMeasured) {
  const Result<Ceilings> ceilings = measure_ceilings(*device_, *compiler_);
  ASSERT_TRUE(ceilings) << ceilings.failure().message;
  EXPECT_TRUE(is_rate(ceilings->read_bytes_per_s)) << ceilings->read_bytes_per_s;
  EXPECT_TRUE(is_rate(ceilings->copy_bytes_per_s)) << ceilings->copy_bytes_per_s;
  EXPECT_TRUE(is_rate(ceilings->f32_flops)) << ceilings->f32_flops;
  EXPECT_EQ(is_rate(ceilings->f64_flops), device_->info().has_f64) << ceilings->f64_flops;
  // A wrong count of bytes or of multiply-adds would be off by more than any machine is.
  EXPECT_LT(ceilings->copy_bytes_per_s, 1e14);
  EXPECT_LT(ceilings->read_bytes_per_s, 1e14);
  EXPECT_LT(ceilings->f32_flops, 1e16);
  EXPECT_GT(ceilings->f32_flops, 1e7);
}

TEST_F(CeilingsTest, ShapesThatDoNotCompileArePassedOverAndTheLastOneIsReported) {
  RefusingCompiler refusing;
  const Result<Ceilings> ceilings = measure_ceilings(*device_, refusing);
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.failure().outcome, Outcome::compile_error);
  EXPECT_EQ(ceilings.failure().message, "no more today");
  EXPECT_GT(refusing.refused, 1);
}

/// Where there is no GPU, the text of its kernels is looked at at least.
TEST(CeilingsTemplates, TheDefaultOfEveryVariantRendersForEveryBackend) {
  const KernelSpec spec = KernelLibrary::load_ceilings();
  const Renderer renderer(spec);
  const Problem problem = Problem::parse(spec, "words=65536");
  for (const DeviceInfo& device :
       {device_for_architecture("cuda", "sm_90a"), device_for_architecture("hip", "gfx90a"),
        device_for_architecture("opencl", "opencl")}) {
    for (const Variant& variant : spec.variants) {
      const Config config = Setting(spec, problem, device).default_config(variant);
      const Source source = renderer.render({spec, problem, device}, config);
      EXPECT_EQ(source.entries, std::vector<std::string>{variant.steps.front().entry.text()})
          << device.backend;
      const bool streams = variant.name.starts_with("stream");
      EXPECT_NE(
          source.text.find(streams ? "LOAD_16(in + 4 * (first + u * 256))" : "FMA(x[c], a, b)"),
          std::string::npos)
          << source.text;
    }
  }
}

TEST(CeilingsTemplates, TheTemplatesHoldNothingToComplainOf) {
  EXPECT_TRUE(lint(KernelLibrary::load_ceilings()).empty());
}

}  // namespace
}  // namespace kiln
