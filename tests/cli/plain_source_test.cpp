// Plain sources, tuned as they were found: docs/bring_your_kernel.md.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <regex>

#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

using ::testing::Not;

class PlainKernel : public TuningTest {
 protected:
  [[nodiscard]] Output tune(const std::string& problem, const Words& more = {}) const {
    return kiln(Words({"tune", "./mine", "--problem", problem, "--device", "opencl", "--trials",
                       "4", "--db", "kiln.db", "--warm-cache"}) +
                more);
  }

  /// "outcome: message" of each trial of the last session.
  [[nodiscard]] std::vector<std::string> outcomes() const {
    std::vector<std::string> all;
    const Json session = kiln_json("show latest --json --db kiln.db");
    for (const Json& row : session["rows"]) {
      all.push_back(row["outcome"].get<std::string>() + ": " + row["message"].get<std::string>());
    }
    return all;
  }

  void expect_four_good_trials(const std::string& kernel, const std::string& problem) {
    copy_kernel("examples/plain/" + kernel, "mine");
    const Output output = tune(problem);
    ASSERT_EQ(output.exit_code, 0) << output.err;
    EXPECT_EQ(outcomes(), std::vector<std::string>(4, "ok: ")) << output.out;
  }
};

TEST_F(PlainKernel, AVectorSumWithMacrosIsTuned) {
  expect_four_good_trials("vector_add", "n=10007");
}

TEST_F(PlainKernel, ATiledMatrixProductIsTunedAgainstACFunction) {
  expect_four_good_trials("tiled_matmul", "n=67");
}

TEST_F(PlainKernel, AConvolutionWithMappedMacrosIsTuned) {
  expect_four_good_trials("convolution", "width=70,height=33,radius=3");
}

TEST_F(PlainKernel, LocalMemoryIsPassedAnywhere) {
  write("mine/k.cl", R"(__kernel void gain(__local float* a, __global const ushort* raw,
                   __local float* b, __global float* out, const int n) {
  const int i = get_global_id(0), l = get_local_id(0), last = get_local_size(0) - 1;
  a[l] = i < n ? raw[i] : 0;
  b[last - l] = 0.25f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = a[l] * b[l];
})");
  ASSERT_EQ(kiln({"init", "mine/k.cl"}).exit_code, 0);
  edit("mine/spec.toml", "device_reference = \"plain\"", "formulas.out = \"raw * 0.25\"");
  const std::string spec = read_text(folder_ / "mine/spec.toml");
  EXPECT_NE(spec.find("\nlocal = { a = \"256 * 4\", b = \"256 * 4\" }  # GUESS"),
            std::string::npos);
  EXPECT_NE(spec.find("\ndtype = \"u16\"\n"), std::string::npos) << spec;
  EXPECT_EQ(tune("n=1000").exit_code, 0);
  EXPECT_EQ(outcomes(), std::vector<std::string>{"ok: "});
  // Answered when the spec is loaded, or a config that is not legal.
  const auto message_with = [&](const std::string& line) {
    write("mine/spec.toml", std::regex_replace(spec, std::regex("\nlocal = [^\n]*"), "\n" + line));
    return tune("n=1000").err;
  };
  EXPECT_NE(
      message_with("local = { a = \"4\", raw = \"4\" }").find("local 'raw': the name is already"),
      std::string::npos);
  EXPECT_NE(message_with("local = { a = \"4\", b = \"4\", c = \"4\" }")
                .find("local 'c' is not among the 'arguments' of step 'gain'"),
            std::string::npos);
  EXPECT_NE(message_with("local = { a = \"2**40\", b = \"4\" }").find("local a = 2**40"),
            std::string::npos);
}

// One sum for each block of 32 * tile elements: another output, and another reference, by config.
TEST_F(PlainKernel, OutputsAndReferencesFollowTheConfig) {
  write("mine/k.cl",
        R"(__kernel void partial(__global const float* in, __global float* sums, int n) {
  const int begin = get_group_id(0) * 32 * tile;
  float sum = tile == 2 ? wrong : 0;
  for (int i = begin; i < n && i < begin + 32 * tile; ++i) sum += in[i];
  sums[get_group_id(0)] = sum;
})");
  write("mine/r.c", R"(void partial(const float* in, float* sums, int n, int tile) {
  for (int begin = 0; begin < n; begin += 32 * tile) {
    double sum = 0;
    for (int i = begin; i < n && i < begin + 32 * tile; ++i) sum += in[i];
    sums[begin / (32 * tile)] = sum;
  }
})");
  const std::string spec = R"toml(name = "partial"
problem.n = { type = "int", min = 1 }
arguments = [{ name = "in", access = "read", dtype = "f32", shape = ["n"] },
             { name = "n", access = "scalar", dtype = "i32", value = "n" },
             { name = "sums", access = "write", dtype = "f32", shape = ["ceil_div(n, 32 * tile)"] }]
verify = { REFERENCE, sum_length = 64 }
[[variants]]
name = "plain"
source = "k.cl"
tunables.tile = { values = [1, 2], default = 1 }
tunables.wrong = { values = [0, 1], default = 0 }
steps = [{ entry = "partial", grid = ["ceil_div(n, 32 * tile)"], block = [1], arguments = ["in", "sums", "n"] }]
)toml";
  for (const std::string reference :
       {"function = \"r.c:partial(in, sums, n, tile)\"", "device_reference = \"plain\""}) {
    write("mine/spec.toml", std::regex_replace(spec, std::regex("REFERENCE"), reference));
    const Output output = tune("n=1000", {"--strategy", "exhaustive", "--trust"});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    std::vector<std::string> all = outcomes();
    EXPECT_EQ(std::count(all.begin(), all.end(), "ok: "), 3) << output.out << output.err;
    EXPECT_EQ(
        std::count_if(all.begin(), all.end(),
                      [](const std::string& each) { return each.starts_with("wrong_result: "); }),
        1);
  }
  write("mine/spec.toml",
        std::regex_replace(spec, std::regex("REFERENCE"), "formulas.sums = \"lanes\""));
  EXPECT_NE(tune("n=1000").err.find("'lanes'"), std::string::npos);
}

// The kernel of docs/bring_your_kernel.md; its template parameter has the name of the tunable.
TEST_F(PlainKernel, CubIsFoundInTheToolkit) {
  std::filesystem::path include;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/local")) {
    if (std::filesystem::exists(entry.path() / "include/cccl/cub/block"))
      include = entry.path() / "include";
  }
  if (include.empty()) GTEST_SKIP() << "no CUDA toolkit with CUB in /usr/local";
  std::string page =
      read_text(std::filesystem::path(KILN_SOURCE_DIR) / "docs/bring_your_kernel.md");
  page.erase(0, page.find("#include <cub/"));
  write("mine/sums.cu", page.substr(0, page.find("```")));
  ASSERT_EQ(kiln({"init", "mine/sums.cu"}).exit_code, 0);
  const Output output = kiln({"render", "./mine", "--problem", "n=1000", "--report", "--backend",
                              "cuda", "--arch", "sm_90"},
                             {{"KILN_CUDA_INCLUDE", include.string()}});
  if (output.err.find("unavailable") != std::string::npos) GTEST_SKIP() << output.err;
  EXPECT_EQ(output.exit_code, 0) << output.err;
}

TEST_F(PlainKernel, ACompilerErrorNamesTheFileAndLineOfTheUser) {
  copy_kernel("examples/plain/vector_add", "mine");
  edit("mine/vector_add.cl", "c[i] = a[i] + b[i];\n", "c[i] = a[i] + d[i];\n");
  EXPECT_EQ(tune("n=1000").exit_code, 1);
  const std::vector<std::string> all = outcomes();
  ASSERT_FALSE(all.empty());
  EXPECT_THAT(all[0], StartsWith("compile_error: "));
  EXPECT_THAT(all[0], HasSubstr("vector_add.cl:10:"));
}

TEST_F(PlainKernel, ACompilerErrorInAHeaderNamesTheHeader) {
  copy_kernel("examples/plain/vector_add", "mine");
  write("mine/common/sum.h", "#pragma once\n\nfloat sum(float x, float y) { return x + z; }\n");
  edit("mine/vector_add.cl", "__kernel", "#include \"common/sum.h\"\n__kernel");
  EXPECT_EQ(tune("n=1000").exit_code, 1);
  const std::vector<std::string> all = outcomes();
  ASSERT_FALSE(all.empty());
  EXPECT_THAT(all[0], HasSubstr("common/sum.h:3:"));
}

TEST_F(PlainKernel, AWrongKernelIsFoundByTheCFunction) {
  copy_kernel("examples/plain/tiled_matmul", "mine");
  edit("mine/tiled_matmul.cl", "= sum[r];", "= sum[0];");
  EXPECT_EQ(tune("n=67").exit_code, 0);
  std::size_t wrong = 0;
  for (const std::string& outcome : outcomes()) {
    if (outcome.starts_with("wrong_result: ")) ++wrong;
    EXPECT_TRUE(outcome == "ok: " || outcome.starts_with("wrong_result: ")) << outcome;
  }
  EXPECT_GT(wrong, 0U) << "of the configs with several rows";
}

TEST_F(PlainKernel, ACFunctionThatDoesNotCompileEndsTheRun) {
  copy_kernel("examples/plain/tiled_matmul", "mine");
  edit("mine/matmul.c", "double sum", "dauble sum");
  const Output output = tune("n=67");
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_THAT(output.err, HasSubstr("spec.toml:38:13: the reference does not compile"));
  EXPECT_THAT(output.err, HasSubstr("matmul.c:5:"));
  EXPECT_THAT(output.err, HasSubstr("5 |       dauble sum = 0;"))
      << "the compiler quotes another line: ";
}

TEST_F(PlainKernel, ACFunctionThatDoesNotExistOrTakesOthersIsAnsweredByTheCompiler) {
  copy_kernel("examples/plain/tiled_matmul", "mine");
  edit("mine/spec.toml", "\"matmul.c:matmul\"", "\"matmul.c:matmal\"");
  Output output = tune("n=67");
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_THAT(output.err, HasSubstr("implicit declaration of function"));
  edit("mine/spec.toml", "\"matmul.c:matmal\"", "\"matmul.c:matmul\"");
  edit("mine/matmul.c", "const float* a", "const double* a");
  output = tune("n=67");
  EXPECT_EQ(output.exit_code, 3) << "f32 is no double: " << output.out;
}

TEST_F(PlainKernel, ACrashOfTheReferenceBlamesTheSpecAndNotTheDevice) {
  copy_kernel("examples/plain/tiled_matmul", "mine");
  edit("mine/spec.toml", "function = \"matmul.c:matmul\"", "device_reference = \"opencl\"");
  edit("mine/tiled_matmul.cl", "c[row * n + column] = sum[r]",
       "*(volatile __global float*)(size_t)64 = sum[r]");
  const Output output = tune("n=67");
  EXPECT_EQ(output.exit_code, 1) << output.out;
  EXPECT_THAT(output.err,
              HasSubstr("the problem cannot be prepared on the device: while it computed the "
                        "reference, the worker died: signal SIGSEGV, 3 times in a row"));
  EXPECT_THAT(output.err, Not(HasSubstr("is gone")));
}

TEST_F(PlainKernel, AVariantThatWasAskedForAndFailsIsAFailure) {
  copy_kernel("tests/tuner/kernels/accumulate", "mine");
  const Output output = tune("n=1000", {"--variant", "twice"});
  EXPECT_EQ(output.exit_code, 1) << output.out;
  EXPECT_THAT(output.out, HasSubstr(" 1 of 1 config in "));
  EXPECT_THAT(output.out,
              HasSubstr("the only config tried of variant 'twice' failed (wrong_result)"));
  write("plan.toml",
        "name = \"p\"\n[[kernels]]\nkernel = \"accumulate\"\nproblems = [\"n=1000\"]\n");
  const Words sweep =
      "sweep plan.toml --kernel-path mine --device opencl --trials 4 --db sweep.db --warm-cache";
  EXPECT_EQ(kiln(sweep).exit_code, 0);
  Words of_twice = sweep;
  of_twice.insert(of_twice.end(), {"--variant", "twice"});
  EXPECT_EQ(kiln(of_twice).exit_code, 1) << "as tune does";
}

TEST_F(PlainKernel, AMissingSourceIsAnsweredInTheSpec) {
  copy_kernel("examples/plain/vector_add", "mine");
  edit("mine/spec.toml", "\"vector_add.cl\"", "\"vector_sum.cl\"");
  const Output output = tune("n=1000");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err, HasSubstr(": variant 'opencl': no source 'vector_sum.cl' in the "
                                    "spec's folder; did you mean 'vector_add.cu'?"));
}

TEST_F(PlainKernel, ASourceOutsideTheFolderIsRefused) {
  copy_kernel("examples/plain/vector_add", "mine");
  write("secret.h", "int secret;\n");
  std::filesystem::create_symlink(folder_ / "secret.h", folder_ / "mine/stolen.h");
  edit("mine/vector_add.cl", "__kernel", "#include \"stolen.h\"\n__kernel");
  const Output output = tune("n=1000");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.err, HasSubstr("stolen.h: leads out of the kernel's folder"));
}

TEST_F(PlainKernel, RenderShowsWhatTheCompilerGets) {
  copy_kernel("examples/plain/convolution", "mine");
  const Output output = kiln("render ./mine --problem width=70,height=33 --whole");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("\n#define RADIUS 2\n#line 1 \"convolution.cu\"\n"));
  EXPECT_THAT(output.out, HasSubstr("\n#line 1 \"include/window.cuh\"\n"));
}

}  // namespace
}  // namespace kiln::cli
