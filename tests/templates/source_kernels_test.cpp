// What `kiln init` reads in a plain source.
// SPDX-License-Identifier: Apache-2.0
#include "templates/source_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using testing::IsEmpty;

constexpr const char* kCuda = R"(
#ifndef TILE
#define TILE 16 // columns
#endif
#define PI 3.14f
#define TWICE(x) (2 * x)
__device__ float helper(float x) { return x; }
/* __global__ void hidden(int n) {} */
template <typename T, int Rows = 2, bool Padded>
__global__ void __launch_bounds__(TILE * TILE)
    product(T* __restrict__ c, const float* a, unsigned int* counts, int n, float alpha) {
  int x = threadIdx.x, y = threadIdx.y;
  c[y * n + x] = alpha * a[x];
  atomicAdd(&counts[x], 1);
}
extern "C" __global__ void declared(int n);
extern "C" __global__ void plain(int n) {}
)";

TEST(SourceKernels, ReadsParametersAndWhatTheBodyDoesWithThem) {
  const SourceFacts facts = read_source(kCuda);
  ASSERT_EQ(facts.kernels.size(), 2U);
  const SourceKernel& product = facts.kernels[0];
  EXPECT_EQ(product.name, "product");
  EXPECT_EQ(product.line, 11);
  EXPECT_EQ(product.dimensions, 2);
  ASSERT_EQ(product.parameters.size(), 5U);
  const SourceParameter& c = product.parameters[0];
  EXPECT_EQ(c.type, "T");
  EXPECT_FALSE(c.dtype);
  EXPECT_TRUE(c.is_buffer && c.is_written && !c.is_read && !c.is_const);
  const SourceParameter& a = product.parameters[1];
  EXPECT_EQ(a.dtype, DType::f32);
  EXPECT_TRUE(a.is_buffer && a.is_const && a.is_read && !a.is_written);
  EXPECT_EQ(product.parameters[2].dtype, DType::u32);
  EXPECT_TRUE(product.parameters[2].is_written && product.parameters[2].is_read);
  EXPECT_EQ(product.parameters[3].dtype, DType::i32);
  EXPECT_FALSE(product.parameters[3].is_buffer);
  EXPECT_EQ(facts.kernels[1].name, "plain");  // a declaration is no kernel
  EXPECT_THAT(facts.kernels[1].template_parameters, IsEmpty());
}

TEST(SourceKernels, ReadsTemplateParameters) {
  const std::vector<TemplateParameter> parameters =
      read_source(kCuda).kernels.at(0).template_parameters;
  ASSERT_EQ(parameters.size(), 3U);
  EXPECT_EQ(parameters[0].kind + " " + parameters[0].name, "typename T");
  EXPECT_EQ(parameters[1].kind + " " + parameters[1].name + "=" + parameters[1].fallback,
            "int Rows=2");
  EXPECT_EQ(parameters[2].kind, "bool");
}

TEST(SourceKernels, ReadsMacrosThatHaveAValue) {
  const std::vector<SourceMacro> macros = read_source(kCuda).macros;
  ASSERT_EQ(macros.size(), 2U);
  EXPECT_EQ(macros[0].name + "=" + macros[0].value, "TILE=16");
  EXPECT_TRUE(macros[0].is_guarded);
  EXPECT_EQ(macros[0].line, 3);
  EXPECT_EQ(macros[1].name, "PI");
  EXPECT_FALSE(macros[1].is_guarded);
}

TEST(SourceKernels, ReadsOpenCl) {
  const SourceFacts facts = read_source(
      "__attribute__((reqd_work_group_size(64, 1, 1)))\n"
      "__kernel __attribute__((vec_type_hint(float4))) void sum(__global float *restrict x,\n"
      "    __constant float* f, __local float* scratch, uint n) {\n"
      "  x[get_global_id(1)] += f[0];\n}\n");
  ASSERT_EQ(facts.kernels.size(), 1U);
  const SourceKernel& sum = facts.kernels[0];
  EXPECT_EQ(sum.name, "sum");
  EXPECT_EQ(sum.dimensions, 2);
  ASSERT_EQ(sum.parameters.size(), 4U);
  EXPECT_TRUE(sum.parameters[0].is_read && sum.parameters[0].is_written);
  EXPECT_TRUE(sum.parameters[1].is_const);
  EXPECT_TRUE(sum.parameters[2].is_local);
  EXPECT_EQ(sum.parameters[3].dtype, DType::u32);
}

TEST(SourceKernels, TextsThatAreNoneGiveNothing) {
  for (const char* text :
       {"", "template <", "__global__ void", "__global__ void f(", "kernel ()",
        "__kernel void f(__global float* x) { x[", "template <int A, __global__"}) {
    EXPECT_THAT(read_source(text).macros, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace kiln
