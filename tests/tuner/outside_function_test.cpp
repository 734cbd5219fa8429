// The C function of a spec: what it is given, and what becomes of what it writes.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/outside_function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

constexpr const char* kSpec = R"toml(name = "mix"
problem.n = { type = "int" }
arguments = [
  { name = "x", access = "read", dtype = "f32", shape = ["n"] },
  { name = "half", access = "read", dtype = "f16", shape = ["n"] },
  { name = "counts", access = "read_write", dtype = "u32", shape = ["n"] },
  { name = "y", access = "write", dtype = "f64", shape = ["n"] },
  { name = "big", access = "scalar", dtype = "i64", example = "2 ** 60 + 1" },
  { name = "mask", access = "read", dtype = "u8", shape = ["n"], when = "n > 100" },
]
[verify]
function = "mix.c:mix(y, counts, x, half, mask, big, n, n / 4)"
[[variants]]
name = "only"
template = "mix.inja"
steps = [{ entry = "mix", grid = [1], block = [1], arguments = ["x"] }]
)toml";

constexpr const char* kFunction = R"(
void mix(double* y, uint32_t* counts, const float* x, const uint16_t* half, const uint8_t* mask,
         int64_t big, int n, double quarter) {
  for (int i = 0; i < n; ++i) {
    y[i] = x[i] + half[i] + quarter + (mask == 0) * 1000 + (big == (1ll << 60) + 1) * 10000;
    counts[i] += 5;
  }
}
)";

class OutsideFunctionTest : public testing::Test {
 protected:
  void SetUp() override {
    spec_ = parse_spec(kSpec, "/nowhere/spec.toml");
    spec_.files["mix.c"] = kFunction;
  }

  std::map<std::string, HostArray> call() {
    const Problem problem = Problem::parse(spec_, "n=2");
    const DeviceInfo device = device_for_architecture("opencl", "opencl");
    const LaunchPlan plan =
        *Setting(spec_, problem, device).plan(Setting(spec_, problem, device).default_config());
    std::map<std::string, HostArray> arrays;
    arrays["x"] = HostArray(DType::f32, {2});
    arrays["x"].set(1, 0.5);
    arrays["half"] = HostArray(DType::f16, {2});
    arrays["half"].set(0, 1);  // 0x3c00
    arrays["counts"] = HostArray(DType::u32, {2});
    arrays["counts"].set(1, 7);
    const std::vector<ProblemData::Output> outputs = {
        {"counts", DType::u32, {2}, 2, Access::read_write},
        {"y", DType::f64, {2}, 2, Access::write}};
    (void)call_outside_function(spec_, problem, plan, outputs, arrays);
    return arrays;
  }

  KernelSpec spec_;
};

TEST_F(OutsideFunctionTest, SeesEveryArgumentInItsType) {
  const std::map<std::string, HostArray> arrays = call();
  EXPECT_EQ(arrays.at("y").get(0), 0x3c00 + 0.5 + 11000);
  EXPECT_EQ(arrays.at("y").get(1), 0.5 + 0.5 + 11000);
  EXPECT_EQ(arrays.at("counts").dtype, DType::i64) << "as a reference gives it";
  EXPECT_EQ(arrays.at("counts").get(0), 5);
  EXPECT_EQ(arrays.at("counts").get(1), 12);
}

TEST_F(OutsideFunctionTest, TheCompilersWordsNameTheFileAndLine) {
  spec_.files["mix.c"] = "\nvoid mix(float* y) { z = y; }\n";
  const std::string error = test::error_of<InputError>([&] { return call(); });
  EXPECT_THAT(error,
              testing::StartsWith("/nowhere/spec.toml:12:13: the reference does not compile:\n"));
  EXPECT_THAT(error, testing::HasSubstr("mix.c:2:"));
}

}  // namespace
}  // namespace kiln
