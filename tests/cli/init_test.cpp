// From a plain file to a tuned kernel: `kiln init`, then `kiln tune`.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

using ::testing::Not;

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
  const Output output = kiln("init mine/saxpy.cl");
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
    EXPECT_THAT(spec, HasSubstr(line)) << line << "\n";
  }
  const Output tuned =
      kiln("tune mine --problem n=1001 --device opencl --trials 2 --db kiln.db --warm-cache");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("B/s"));
}

TEST_F(Init, ReadsTemplatesAndTwoDimensions) {
  copy_kernel("examples/plain/convolution", "mine");
  ASSERT_EQ(kiln("init mine/convolution.cu --force").exit_code, 0);
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  for (const char* line :
       {"\nbytes = \"2 * height * width * sizeof(f32)\"",
        "\nentry = \"convolve<float, {BlockX}, {BlockY}, {Rows}, {Padded}>\"  # GUESS:",
        "\nshape = [\"height\", \"width\"]  # GUESS:",
        "\ngrid = [\"ceil_div(width, BlockX)\", \"ceil_div(height, BlockY * Rows)\"]  # GUESS:"}) {
    EXPECT_THAT(spec, HasSubstr(line)) << line << "\n";
  }
}

TEST_F(Init, TakesTheValuesThatKernelTunerTried) {
  write("mine/saxpy.cl", kSaxpy);
  write("mine/cache.json", R"({"device_name": "A CPU", "kernel_name": "saxpy", "problem_size": "10",
 "tune_params_keys": ["BLOCK", "block_size_x"], "tune_params": {"BLOCK": [32, 64], "block_size_x": [32, 64]},
 "cache": {"32,32": {"BLOCK": 32, "block_size_x": 32, "time": 1.5}}})");
  const Output output = kiln("init mine/saxpy.cl --kernel-tuner mine/cache.json");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  EXPECT_THAT(spec, HasSubstr("BLOCK = { values = [32, 64], default = "));
  EXPECT_THAT(spec, HasSubstr("block_size_x of mine/cache.json is no macro"));
  expect_refused("init --kernel-tuner mine/cache.json", 2,
                 "kiln: error: --kernel-tuner mine/cache.json: a cache needs the source beside it");
  write("mine/other.json", R"({"tune_params_keys": ["TILE"], "tune_params": {"TILE": [1]},
 "cache": {"1": {"TILE": 1, "time": 1.5}}})");
  expect_refused("init mine/saxpy.cl --kernel-tuner mine/other.json --force", 3,
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
  const Output output = kiln("init --t1 mine/t1.json");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_TRUE(output.out.ends_with("then\n  kiln tune ./mine\n")) << output.out;  // no fields
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  ASSERT_EQ(kiln("init --kernel-tuner mine/t1.json --force").exit_code, 0);
  EXPECT_EQ(read_text(folder_ / "mine/spec.toml"), spec);
  const Output tuned = kiln("tune mine --device opencl --trials 2 --db kiln.db --warm-cache");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("saxpy_1"));
}

/// A T1 file for `kernel` in mine/, with these tuning parameters, launch and arguments.
std::string t1_text(const std::string& parameters, const std::string& launch,
                    const std::string& arguments, const std::string& conditions = "") {
  return R"({"General": {"BenchmarkName": "scale"}, "ConfigurationSpace": {"TuningParameters": [)" +
         parameters + R"(], "Conditions": [)" + conditions +
         R"(]}, "KernelSpecification": {"KernelName": "scale", )" + launch + R"(, "Arguments": [)" +
         arguments + "]}}";
}

constexpr const char* kScaleSource = R"(
__kernel void scale(__global float* out, __global const float* in) {
  for (int t = 0; t < tile; ++t) {
    const int i = (get_group_id(0) * tile + t) * block_size_x + get_local_id(0);
    if (i < 1000000) out[i] = 2.0f * in[i];
  }
}
)";
constexpr const char* kParameters =
    R"({"Name": "block_size_x", "Type": "int", "Values": "[64, 128]", "Default": 64},
       {"Name": "tile", "Type": "int", "Values": "[1, 10]", "Default": 1})";
constexpr const char* kArrays = R"({"Name": "out", "Type": "float", "MemoryType": "Vector",
  "AccessType": "WriteOnly", "FillType": "Constant", "Size": 1000000, "FillValue": 0.0},
  {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
  "FillType": "Random", "Size": "ProblemSize[0] + max(tile) - 10", "FillValue": 1.0})";

TEST_F(Init, LaunchesWhatKernelTunerLaunches) {
  write("mine/scale.cl", kScaleSource);
  const std::string launch = R"("Language": "OpenCL", "KernelFile": "scale.cl",
    "GlobalSize": {"X": "(262144 // block_size_x) // tile"}, "LocalSize": {"X": "7"},
    "ProblemSize": [1000000], "GridDivX": ["block_size_x", "tile"])";
  write("mine/t1.json", t1_text(kParameters, launch, kArrays));
  ASSERT_EQ(kiln("init --t1 mine/t1.json").exit_code, 0);
  std::string spec = read_text(folder_ / "mine/spec.toml");
  for (const char* line : {"\ngrid = [\"ceil_div(1000000, block_size_x * tile)\"]\n",
                           "\nblock = [\"block_size_x\"]\n", "\nshape = [\"1000000\"]\n"})
    EXPECT_THAT(spec, HasSubstr(line)) << line;
  // Without divisors, by the block; sizes may be texts, and the second axis has a block of 1.
  write("mine/t1.json", t1_text(kParameters, R"("Language": "OpenCL", "KernelFile": "scale.cl",
    "ProblemSize": [1000000, 3])",
                                kArrays));
  ASSERT_EQ(kiln("init --t1 mine/t1.json --force").exit_code, 0);
  spec = read_text(folder_ / "mine/spec.toml");
  EXPECT_THAT(spec, HasSubstr("grid = [\"ceil_div(1000000, block_size_x)\", \"3\"]"));
}

TEST_F(Init, LaunchesWhatKttLaunches) {
  write("mine/scale.cl", kScaleSource);
  const std::string arrays = R"({"Type": "float", "Size": 1000000, "AccessType": "WriteOnly",
    "FillValue": 0.0}, {"Type": "float", "Size": 1000000, "AccessType": "ReadOnly",
    "FillType": "Random", "FillValue": 20.0})";
  const auto grid_with = [&](const std::string& more) {
    write("mine/t1.json", t1_text(kParameters, more + R"(, "KernelFile": "scale.cl",
      "GlobalSize": {"X": "1000000 // tile"}, "LocalSize": {"X": "block_size_x"})",
                                  arrays));
    EXPECT_EQ(kiln("init --t1 mine/t1.json --force").exit_code, 0);
    const std::string spec = read_text(folder_ / "mine/spec.toml");
    const std::size_t begin = spec.find("\ngrid = ") + 8;
    EXPECT_THAT(spec, HasSubstr("low = \"0\"\nhigh = \"20.0\""));
    return spec.substr(begin, spec.find('\n', begin) - begin);
  };
  const std::string groups = "[\"int(1000000 // tile)\"]";
  const std::string items = "[\"int((1000000 // tile) // block_size_x)\"]";
  EXPECT_EQ(grid_with(R"("Language": "OpenCL")"), items);
  EXPECT_EQ(grid_with(R"("Language": "CUDA")"), groups);
  EXPECT_EQ(grid_with(R"("Language": "CUDA", "GlobalSizeType": "OpenCL")"), items);
  EXPECT_EQ(grid_with(R"("Language": "OpenCL", "GlobalSizeType": "CUDA")"), groups);
}

TEST_F(Init, MakesOfT1WhatRunsOrSaysWhatStopsIt) {
  write("mine/scale.cl", kScaleSource);
  const std::string launch = R"("Language": "OpenCL", "KernelFile": "scale.cl",
    "ProblemSize": [1000000], "GridDivX": ["block_size_x", "tile"])";
  const auto refused = [&](const std::string& text, const std::string& message) {
    write("mine/t1.json", text);
    const Output output = kiln("init --t1 mine/t1.json --force");
    EXPECT_EQ(output.exit_code, 3) << output.out;
    EXPECT_THAT(output.err, HasSubstr(message));
    EXPECT_THAT(output.err, Not(HasSubstr("spec.toml:")));
  };
  refused(t1_text(kParameters, launch, std::string(kArrays) + R"(, {"Name": "n", "Type": "int32",
    "MemoryType": "Scalar", "FillValue": 5})"),
          "\"KernelSpecification\" has 3 \"Arguments\", and 'scale' of scale.cl takes 2: out, in");
  std::string doubles = kArrays;
  doubles.replace(doubles.rfind("\"float\""), 7, "\"double\"");
  refused(t1_text(kParameters, launch, doubles),
          "\"Arguments\"[1] is of f64 elements, and the parameter 'in' of 'scale' is of f32");
  refused(t1_text(kParameters, R"("Language": "CUDA", "KernelFile": "scale.h",
    "ProblemSize": [9])",
                  kArrays),
          "the \"KernelFile\" 'scale.h'; Kiln takes sources that end with");
  std::string raw = kArrays;
  raw.replace(raw.find("\"Random\""), 8, "\"BinaryRaw\"");
  refused(t1_text(kParameters, launch, raw), "\"FillType\" 'BinaryRaw'");

  // A default that the conditions forbid, and a parameter that nothing uses.
  write("mine/t1.json",
        t1_text(std::string(kParameters) + R"(, {"Name": "use_cmem", "Values": "[0, 1]"})", launch,
                kArrays, R"({"Expression": "tile > 1"})"));
  ASSERT_EQ(kiln("init --t1 mine/t1.json --force").exit_code, 0);
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  EXPECT_THAT(spec, HasSubstr("tile = { values = [1, 10], default = 10 }"));
  EXPECT_THAT(spec, HasSubstr("# use_cmem is used nowhere: it is left out"));
  const Output tuned = kiln("tune ./mine --device opencl --trials 2 --db kiln.db --warm-cache");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;

  std::string generated = kArrays;
  generated.replace(generated.find("\"Random\""), 8,
                    R"("Generator", "DataSource": "1 + i * 0.1 if i % 4 < 3 else 0.5")");
  write("mine/t1.json", t1_text(kParameters, launch, generated));
  ASSERT_EQ(kiln("init --t1 mine/t1.json --force").exit_code, 0);
  EXPECT_THAT(read_text(folder_ / "mine/spec.toml"),
              HasSubstr("elements = [\"1 + index * 0.1 if index % 4 < 3 else 0.5\"]"));
}

TEST_F(Init, ReadsValuesInAnySpellingAndMacrosThatAreLeftOpen) {
  write("mine/k.cl",
        "__kernel void scal(__global float* x, const int n);\n"
        "#ifndef VW\n  #define VW (1)  // elements of a load\n#endif\n"
        "#if !defined(PAD)\n#define PAD 0x10\n#endif\n"
        "#ifndef UNROLL\n#define UNROLL 4u\n#endif\n"
        "__kernel void scal(__global float* x, const int n) {\n"
        "  const int i = (get_group_id(0) * TILE + VW) * BLOCK_SIZE + PAD + UNROLL;\n"
        "  if (i < n) x[i] *= 2;\n}\n");
  ASSERT_EQ(kiln("init mine/k.cl").exit_code, 0);
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  for (const char* part : {"\nVW = { values = [", "\nPAD = { values = [4, 8, 16, 32], default = 16",
                           "\nUNROLL = { values = [1, 2, 4, 8], default = 4",
                           "\nBLOCK_SIZE = { values = [", "\nTILE = { values = ["})
    EXPECT_THAT(spec, HasSubstr(part)) << part;
}

TEST_F(Init, ReadsVectorTypesAndNamesThatAreTaken) {
  write("a b/reduce.cl",
        "typedef float4 vec;\nusing other = int;\n"
        "__kernel void reduce(__global vec* y, __global const uchar3* max, const int n) {\n"
        "  const int i = get_global_id(0);\n  if (i < n) y[i] = convert_float4(max[i].x);\n}\n");
  const Output output = kiln({"init", "a b/reduce.cl"});
  EXPECT_NE(
      output.out.find("\n  kiln tune './a b' --problem n=...\nCalled my_reduce, as reduce is"),
      std::string::npos)
      << output.out << output.err;
  const std::string spec = read_text(folder_ / "a b/spec.toml");
  for (const char* part : {"\nname = \"my_reduce\"\n", "\ndtype = \"f32\"\nshape = [\"n * 4\"]",
                           "\ndtype = \"u8\"\nshape = [\"n * 4\"]", "4 * n * sizeof(u8)"})
    EXPECT_NE(spec.find(part), std::string::npos) << part << spec;
  write("a b/k.cl",
        "__kernel void k(__global float* y, float2 a) { y[get_global_id(0)] = a.x; }\n");
  expect_refused({"init", "a b/k.cl", "--force"}, 3,
                 "kiln: error: k.cl:1: kernel 'k' takes 'a' by value as a float2; Kiln passes "
                 "scalars of one element");
}

TEST_F(Init, AnswersMistakes) {
  write("mine/two.cl",
        "__kernel void f(__global int* x) { x[0] = 1; }\n"
        "__kernel void g(__global int* x, int n) { n = x[0]; }\n");
  write("mine/none.cl", "int x;\n");
  write("mine/t1.json", R"({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "BLOCK", "Values": "[64, 128]"}]}})");
  expect_refused("init", 2, "kiln: error: init needs a source, or --t1 with a file");
  expect_refused("init mine/lost.cl", 3,
                 "kiln: error: mine/lost.cl: there is no such file; expected a source");
  expect_refused("init mine/none.cl", 3, "kiln: error: mine/none.cl: no kernel found; ");
  expect_refused("init mine/two.cl", 2,
                 "kiln: error: mine/two.cl has 2 kernels (f, g): name one with --kernel");
  expect_refused("init mine/two.cl --kernel h", 2, "kiln: error: mine/two.cl has no kernel 'h'");
  expect_refused("init mine/two.cl --kernel g", 3,
                 "kiln: error: two.cl:2: kernel 'g' writes to none of its parameters");
  expect_refused("init --t1 mine/t1.json", 3,
                 "kiln: error: mine/t1.json: the file needs \"KernelSpecification\"");
  write("mine/spec.toml", "mine");
  expect_refused("init mine/two.cl --kernel f", 2,
                 "kiln: error: mine/spec.toml is there already: --force replaces it; a kernel "
                 "beside it needs a folder of its own");
}

}  // namespace
}  // namespace kiln::cli
