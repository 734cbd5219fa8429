// From a plain file to a tuned kernel: `kiln init`, then `kiln tune`.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kSaxpy = R"(#ifndef BLOCK
#define BLOCK 128
#endif
#define UNUSED 7
__kernel void saxpy(__global float* y, __global const float* x, float a, int n) {
  int i = get_group_id(0) * BLOCK + get_local_id(0);
  if (i < n) y[i] += a * x[i];
}
)";

class Init : public TuningTest {
 protected:
  void expect_refused(const Words& words, int code, const std::string& message) const {
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, code) << output.out;
    EXPECT_EQ(output.err.substr(0, message.size()), message);
  }
};

TEST_F(Init, WritesASpecThatTunesAtOnce) {
  write("mine/saxpy.cl", kSaxpy);
  const Output output = kiln({"init", "mine/saxpy.cl"});
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out,
            "mine/spec.toml: 9 lines are guesses; confirm them, then\n"
            "  kiln tune ./mine --problem n=...\n");
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  for (const char* line :
       {"\nname = \"saxpy\"\n", "\naccess = \"read_write\"  # GUESS: by its use in the kernel\n",
        "\nshape = [\"n\"]  # GUESS: elements, outermost first\n",
        "\n[cost]\nbytes = \"3 * n * sizeof(f32)\"  # GUESS: every array moves once",
        "\nBLOCK = { values = [64, 128, 256, 512, 1024], default = 128, doc = \"macro of line 2\" "
        "}",
        "\ngrid = [\"ceil_div(n, BLOCK)\"]  # GUESS:", "\n#   UNUSED = 7 (line 4)\n"}) {
    EXPECT_NE(spec.find(line), std::string::npos) << line << "\n" << spec;
  }
  const Output tuned = kiln({"tune", "mine", "--problem", "n=1001", "--device", "opencl",
                             "--trials", "2", "--db", "kiln.db", "--warm-cache"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("B/s"), std::string::npos) << tuned.out;
}

TEST_F(Init, ReadsTemplatesAndTwoDimensions) {
  copy_kernel("examples/plain/convolution", "mine");
  ASSERT_EQ(kiln({"init", "mine/convolution.cu", "--force"}).exit_code, 0);
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  for (const char* line :
       {"\nbytes = \"2 * height * width * sizeof(f32)\"",
        "\nentry = \"convolve<float, {BlockX}, {BlockY}, {Rows}, {Padded}>\"  # GUESS:",
        "\nshape = [\"height\", \"width\"]  # GUESS:",
        "\ngrid = [\"ceil_div(width, BlockX)\", \"ceil_div(height, BlockY * Rows)\"]  # GUESS:"}) {
    EXPECT_NE(spec.find(line), std::string::npos) << line << "\n" << spec;
  }
}

TEST_F(Init, TakesTheValuesThatKernelTunerTried) {
  write("mine/saxpy.cl", kSaxpy);
  write("mine/cache.json", R"({"device_name": "A CPU", "kernel_name": "saxpy", "problem_size": "10",
 "tune_params_keys": ["BLOCK", "block_size_x"], "tune_params": {"BLOCK": [32, 64], "block_size_x": [32, 64]},
 "cache": {"32,32": {"BLOCK": 32, "block_size_x": 32, "time": 1.5}}})");
  const Output output = kiln({"init", "mine/saxpy.cl", "--kernel-tuner", "mine/cache.json"});
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  EXPECT_NE(spec.find("BLOCK = { values = [32, 64], default = "), std::string::npos) << spec;
  EXPECT_NE(spec.find("block_size_x of mine/cache.json is no macro"), std::string::npos) << spec;
  expect_refused({"init", "--kernel-tuner", "mine/cache.json"}, 2,
                 "kiln: error: --kernel-tuner mine/cache.json: a cache needs the source beside it");
  write("mine/other.json", R"({"tune_params_keys": ["TILE"], "tune_params": {"TILE": [1]},
 "cache": {"1": {"TILE": 1, "time": 1.5}}})");
  expect_refused({"init", "mine/saxpy.cl", "--kernel-tuner", "mine/other.json", "--force"}, 3,
                 "kiln: error: mine/other.json: none of its tunables (TILE) is a macro");
}

TEST_F(Init, ReadsT1) {
  write("mine/saxpy.cl", kSaxpy);
  write("mine/t1.json", R"({"General": {"BenchmarkName": "Saxpy-1"},
 "ConfigurationSpace": {"TuningParameters": [{"Name": "BLOCK", "Values": "[64, 128]"}],
  "Conditions": [{"Expression": "BLOCK >= 64"}]},
 "KernelSpecification": {"Language": "OpenCL", "KernelName": "saxpy", "KernelFile": "saxpy.cl",
  "GlobalSizeType": "OpenCL", "GlobalSize": {"X": "1024"}, "LocalSize": {"X": "BLOCK"},
  "Arguments": [
   {"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite",
    "FillType": "Constant", "FillValue": 0.5, "Size": 1024},
   {"Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": 1024},
   {"Name": "a", "Type": "float", "MemoryType": "Scalar", "FillValue": 2.0},
   {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1024}]}})");
  const Output output = kiln({"init", "--t1", "mine/t1.json"});
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  ASSERT_EQ(kiln({"init", "--kernel-tuner", "mine/t1.json", "--force"}).exit_code, 0);
  EXPECT_EQ(read_text(folder_ / "mine/spec.toml"), spec);
  const Output tuned = kiln(
      {"tune", "mine", "--device", "opencl", "--trials", "2", "--db", "kiln.db", "--warm-cache"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("saxpy_1"), std::string::npos) << tuned.out;
}

TEST_F(Init, AnswersMistakes) {
  write("mine/two.cl",
        "__kernel void f(__global int* x) { x[0] = 1; }\n"
        "__kernel void g(__global int* x, int n) { n = x[0]; }\n");
  write("mine/none.cl", "int x;\n");
  write("mine/t1.json", R"({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "BLOCK", "Values": "[64, 128]"}]}})");
  expect_refused({"init"}, 2, "kiln: error: init needs a source, or --t1 with a file");
  expect_refused({"init", "mine/lost.cl"}, 3,
                 "kiln: error: mine/lost.cl: cannot be read; expected a source with kernels");
  expect_refused({"init", "mine/none.cl"}, 3, "kiln: error: mine/none.cl: no kernel found; ");
  expect_refused({"init", "mine/two.cl"}, 2,
                 "kiln: error: mine/two.cl has 2 kernels (f, g): name one with --kernel");
  expect_refused({"init", "mine/two.cl", "--kernel", "h"}, 2,
                 "kiln: error: mine/two.cl has no kernel 'h'");
  expect_refused({"init", "mine/two.cl", "--kernel", "g"}, 3,
                 "kiln: error: two.cl:2: kernel 'g' writes to none of its parameters");
  expect_refused({"init", "--t1", "mine/t1.json"}, 3,
                 "kiln: error: mine/t1.json: the file needs \"KernelSpecification\"");
  write("mine/spec.toml", "mine");
  expect_refused({"init", "mine/two.cl", "--kernel", "f"}, 2,
                 "kiln: error: mine/spec.toml is there already: --force replaces it");
}

}  // namespace
}  // namespace kiln::cli
