// `kiln render --report`: the compiler's own counts, or why there are none.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"
#include "tests/backends/required.hpp"
#include "tests/support/private_hip.hpp"

namespace kiln::cli {
namespace {

Words matmul_for(const std::string& backend, const std::string& architecture) {
  return {"render", "matmul",     "--problem", "m=512,n=512,k=512,dtype=f16", "--backend", backend,
          "--arch", architecture, "--report"};
}

class RenderReport : public ProgramTest {};

// Of an unknown OpenCL device Kiln assumes the least: too little for configs of real ones.
TEST_F(RenderReport, OfOpenClOnlyWarnsOfTheLimitsOfADevice) {
  copy_kernel("tests/cli/kernels/scale", "mine");
  edit("mine/spec.toml", "64, 128]", "64, 128, 512]");
  edit("mine/spec.toml", "items <= 256", "items <= 512");
  const Output output =
      kiln("render ./mine --problem n=10 --config plain:block_size=512 --backend opencl");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_THAT(output.out, HasSubstr("scale_plain("));
  EXPECT_THAT(output.err,
              StartsWith("kiln: warning: plain:block_size=512,items=1 cannot be launched "
                         "on an OpenCL device that has no more than it must have: "));
}

TEST_F(RenderReport, CountsWhatTheKernelsTake) {
  Words words = matmul_for("hip", "gfx90a");
  words.emplace_back("--json");
  const Output output = kiln(words);
  if (output.exit_code == 4) KILN_SKIP_UNLESS_REQUIRED("hiprtc", output.err);
  const Json report = Json::parse(output.out);
  EXPECT_EQ(report["architecture"], "gfx90a");
  EXPECT_THAT(report["config"], StartsWith("mfma:"));
  const Json& launch = report["launches"].at(0);
  EXPECT_EQ(launch["entry"], "matmul_mfma");
  EXPECT_EQ(launch["spill_bytes"], 0);
  EXPECT_EQ(launch["spilled_scalar_registers"], 0);
  EXPECT_EQ(launch["wavefront"], 64);
  EXPECT_GT(launch["registers"], 0);
  EXPECT_GT(launch["scalar_registers"], 0);
  EXPECT_GT(launch["shared_bytes"], 0);
  EXPECT_GE(launch["blocks_per_unit"], 1);
  EXPECT_GT(launch["occupancy"], 0);
  EXPECT_LE(launch["occupancy"], 1);
  EXPECT_GT(report["forecast_ns"], 0);
}

TEST_F(RenderReport, CountsOfEachKernelOfAModuleItsOwn) {
  write("two/k.cu", R"(
extern "C" __global__ void small(float* out, const float* in, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = in[i];
}
extern "C" __global__ void large(float* out, const float* in, int n) {
  __shared__ float tile[8192];
  for (int i = threadIdx.x; i < 8192; i += 256) tile[i] = i < n ? in[i] : 0;
  __syncthreads();
  float s = 0;
  for (int i = 0; i < 8192; ++i) s += tile[i];
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = s;
}
)");
  write("two/spec.toml", R"toml(
name = "two"
summary = "two kernels in one file"
[problem.n]
type = "int"
min = 1
[[arguments]]
name = "out"
access = "write"
dtype = "f32"
shape = ["n"]
[[arguments]]
name = "x"
access = "read"
dtype = "f32"
shape = ["n"]
[[arguments]]
name = "n"
access = "scalar"
dtype = "i32"
value = "n"
[verify.formulas]
out = "x"
[[variants]]
name = "plain"
source = "k.cu"
[[variants.steps]]
entry = "small"
grid = ["ceil_div(n, 256)"]
block = ["256"]
arguments = ["out", "x", "n"]
[[variants.steps]]
entry = "large"
grid = ["ceil_div(n, 256)"]
block = ["256"]
arguments = ["out", "x", "n"]
)toml");
  const Output output =
      kiln("render ./two --problem n=100000 --backend cuda --arch sm_90 --report --json");
  if (output.exit_code == 4) KILN_SKIP_UNLESS_REQUIRED("nvrtc", output.err);
  const Json launches = Json::parse(output.out)["launches"];
  EXPECT_EQ(launches.at(0)["shared_bytes"], 0) << output.out;
  EXPECT_EQ(launches.at(1)["shared_bytes"], 32768) << output.out;
  EXPECT_LT(launches.at(0)["registers"], launches.at(1)["registers"]) << output.out;
}

TEST_F(RenderReport, OfAHipInAFolder) {
  const auto root = test::private_hip();
  if (!root) KILN_SKIP_UNLESS_REQUIRED("hiprtc6", "no private HIP was fetched");
  const Output output = kiln(matmul_for("hip", "gfx1100"), {{"KILN_HIP_ROOT", root->string()}});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, StartsWith("matmul m=512 n=512 k=512 dtype=f16, wmma:"));
  EXPECT_THAT(output.out, HasSubstr("\nfor gfx1100 as RX 7900 XTX (made up)\n"));
  EXPECT_THAT(output.out, HasSubstr("\nmatmul_wmma "));
}

TEST_F(RenderReport, SaysWhichArchitecturesTheCompilerKnows) {
  const Output output = kiln(matmul_for("hip", "gfx942"));
  if (output.exit_code == 0) GTEST_SKIP() << "the machine's own hipRTC knows it";
  if (output.err.find("unavailable") != std::string::npos)
    KILN_SKIP_UNLESS_REQUIRED("hiprtc", output.err);
  EXPECT_EQ(output.exit_code, 4);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("hiprtc 5."));
  EXPECT_THAT(output.err, HasSubstr(" does not know 'gfx942': it knows gfx"));
}

TEST_F(RenderReport, OfAFolderWithoutHipIsOneError) {
  const Output output = kiln(matmul_for("hip", "gfx90a"), {{"KILN_HIP_ROOT", "/no/folder"}});
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err,
              HasSubstr("KILN_HIP_ROOT is '/no/folder': expected a folder that holds "));
}

TEST_F(RenderReport, JsonIsForTheReportAlone) {
  const Output output = kiln("render reduce --problem n=10 --json");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_THAT(output.err, HasSubstr("--json is for --report: the source is text"));
}

}  // namespace
}  // namespace kiln::cli
