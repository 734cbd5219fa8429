// Products of operands with fewer bits than their type has.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

class CoarseProducts : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    copy_kernel("templates/kernels/matmul", "mine");
    // `tiled` comes first, so that no other variant is faster: what is dropped as slow is not
    // checked twice.
    const std::string spec = read_text(folder_ / "mine/spec.toml");
    const std::string begin = "[[variants]]\nname = \"";
    const std::size_t first = spec.find(begin);
    const std::size_t tiled = spec.find(begin + "tiled\"");
    const std::size_t next = spec.find(begin, tiled + 1);
    write("mine/spec.toml", spec.substr(0, first) + spec.substr(tiled, next - tiled) +
                                spec.substr(first, tiled - first) + spec.substr(next));
  }

  /// Outcomes of two configs of `tiled`.
  [[nodiscard]] std::vector<std::string> outcomes() const {
    const Output output = kiln(
        "tune ./mine --problem m=64,n=64,k=64 --device opencl --variant tiled --trials 2 --db "
        "kiln.db --fresh --warm-cache");
    EXPECT_NE(output.exit_code, 70) << output.err;
    std::vector<std::string> all;
    const Json session = kiln_json("show latest --json --db kiln.db");
    for (const Json& row : session["rows"]) all.push_back(row["outcome"].get<std::string>());
    return all;
  }
};

// What a kernel does that lets tensor cores read f32 as tf32, without a device that has any.
TEST_F(CoarseProducts, InTf32DoNotPassForF32) {
  EXPECT_THAT(outcomes(), testing::Each("ok"));
  edit("mine/tiled.inja", "KERNEL({{ tile }}",
       "DEVICE_FUNCTION f32 coarse(f32 x) { return BITS_TO_F32(F32_TO_BITS(x) & 0xffffe000u); }\n\n"
       "KERNEL({{ tile }}");
  edit("mine/tiled.inja", "sum[i] = FMA(tile_a[(THREAD_Y + i * THREADS_Y) * TILE + j],",
       "sum[i] = FMA(({{ sum_t }})coarse((f32)tile_a[(THREAD_Y + i * THREADS_Y) * TILE + j]),");
  const std::vector<std::string> coarse = outcomes();
  EXPECT_EQ(coarse.size(), 2U);
  EXPECT_THAT(coarse, testing::Each("wrong_result"));
}

}  // namespace
}  // namespace kiln::cli
