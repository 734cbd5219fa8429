// Specs with plain sources, options with holes and C functions: what they hold, and what is
// refused.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "core/outside_reference.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::spec_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPlainSpec = R"toml(name = "plain"
[problem.n]
type = "int"
[problem.dtype]
type = "dtype"
values = ["f32", "f64"]
default = "f32"
specialize = true
[[arguments]]
name = "x"
access = "read"
dtype = "dtype"
shape = ["n"]
[[arguments]]
name = "y"
access = "write"
dtype = "dtype"
shape = ["n"]
[verify]
function = "reference.c:copy(y, x, 2 * n)"
[[variants]]
name = "only"
source = "src/copy.cu"
include = ["include/", "."]
requires = "n > 1"
[variants.tunables]
tile = { values = [16, 32], default = 16 }
fast = { values = [false, true], default = true }
[variants.defines]
TILE = "tile"
[variants.compiler_options]
cuda = "-lineinfo {'--use_fast_math' if fast else ''}"
[[variants.steps]]
entry = "ns::copy<{dtype}, {tile * 2}, {fast}>"
grid = [1]
block = ["tile"]
arguments = ["x", "y"]
)toml";

std::string plain_with(const std::string& from, const std::string& to) {
  std::string text = kPlainSpec;
  return text.replace(text.find(from), from.size(), to);
}

TEST(PlainSpec, HoldsTheSourceAndItsMacros) {
  const KernelSpec spec = parse_spec(kPlainSpec, "spec.toml");
  const Variant& variant = spec.variants.front();
  ASSERT_TRUE(variant.plain);
  EXPECT_EQ(variant.plain->file, "src/copy.cu");
  EXPECT_THAT(variant.plain->folders, ElementsAre("include", "."));
  ASSERT_TRUE(variant.plain->defines);
  EXPECT_EQ(variant.plain->defines->front().name, "TILE");
  EXPECT_EQ(variant.requires_->text(), "(n > 1) and backend == 'cuda'");
}

TEST(PlainSpec, TheEndingOfTheFileNamesTheBackend) {
  const auto required = [](const std::string& ending, const std::string& requires_line) {
    std::string text = plain_with("copy.cu", "copy" + ending);
    text.replace(text.find("requires = \"n > 1\"\n"), 19, requires_line);
    return parse_spec(text, "spec.toml").variants.front().requires_->text();
  };
  EXPECT_EQ(required(".cu", ""), "backend == 'cuda'");
  EXPECT_EQ(required(".hip", ""), "backend == 'hip'");
  EXPECT_EQ(required(".cpp", ""), "backend in ['cuda', 'hip']");
  EXPECT_EQ(required(".cu", "requires = \"backend != 'opencl'\"\n"), "backend != 'opencl'");
}

TEST(PlainSpec, ANameOfAKernelIsFilledForEachConfig) {
  const KernelSpec spec = parse_spec(kPlainSpec, "spec.toml");
  const Problem problem = Problem::parse(spec, "n=100,dtype=f64");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Config config = Setting(spec, problem, device).parse("only:tile=32,fast=false");
  const Result<LaunchPlan> plan = Setting(spec, problem, device).plan(config);
  ASSERT_TRUE(plan) << plan.failure().message;
  EXPECT_EQ(plan->steps.front().entry, "ns::copy<double, 64, false>");
}

TEST(PlainSpec, TheFunctionTakesArgumentsAndValues) {
  const KernelSpec spec = parse_spec(kPlainSpec, "spec.toml");
  const OutsideFunction& function = *spec.verify.outside->function;
  EXPECT_EQ(function.file, "reference.c");
  EXPECT_EQ(function.name, "copy");
  ASSERT_EQ(function.operands.size(), 3U);
  EXPECT_EQ(function.operands[0].argument, "y");
  EXPECT_EQ(function.operands[2].value->text(), "2 * n");
  const KernelSpec all = parse_spec(plain_with("copy(y, x, 2 * n)", "copy"), "spec.toml");
  EXPECT_EQ(all.verify.outside->function->operands.at(1).argument, "y");
}

TEST(PlainSpec, ItsHashFollowsTheFilesThatItIncludes) {
  KernelSpec spec = parse_spec(kPlainSpec, "spec.toml");
  spec.files = {{"src/copy.cu", "#include \"a.h\"\n#include <b.h>\n"},
                {"src/a.h", "int a;"},
                {"include/b.h", "int b;"},
                {"include/c.h", "int c;"}};
  const auto hash_with = [&](const std::string& file, const std::string& text) {
    KernelSpec edited = spec;
    edited.files[file] = text;
    return template_hash(edited, edited.variants.front());
  };
  const std::string hash = template_hash(spec, spec.variants.front());
  EXPECT_NE(hash_with("src/a.h", "int b;"), hash);
  EXPECT_NE(hash_with("include/b.h", "int a;"), hash);
  EXPECT_EQ(hash_with("include/c.h", "int d;"), hash);
}

struct Mistake {
  std::string from;
  std::string to;
  std::string message;
};

TEST(PlainSpec, MistakesAreNamedWithTheirPlace) {
  const std::vector<Mistake> mistakes = {
      {"src/copy.cu", "src/copy.c",
       "spec.toml:23:1: [[variants]]: 'src/copy.c' must end with .cu, .hip, .cpp or .cl"},
      {"src/copy.cu", "../copy.cu",
       "spec.toml:23:1: [[variants]]: '../copy.cu' must be a file in the spec's folder or below "
       "it"},
      {"\"include/\"", "\"/usr/include\"",
       "spec.toml:24:1: [[variants]]: '/usr/include' must be a folder in the spec's folder or "
       "below it"},
      {"source = ", "template = \"copy.inja\"\nsource = ",
       "spec.toml:24:1: [[variants]]: a variant has either 'template' or 'source'"},
      {"source = \"src/copy.cu\"", "template = \"copy.inja\"",
       "spec.toml:24:1: [[variants]]: 'include' is for a plain 'source' only"},
      {"TILE = \"tile\"", "\"T-1\" = \"tile\"",
       "spec.toml:30:1: 'T-1' is no name for a macro: use a letter, then letters, digits and _"},
      {"TILE = \"tile\"", "TILE = \"tyle\"",
       "spec.toml:30:9: unknown name 'tyle' in the value of macro 'TILE'; did you mean 'tile'?"},
      {"if fast", "if fest",
       "spec.toml:32:41: unknown name 'fest' in the compiler options for "
       "cuda; did you mean 'fast'?"},
      {"{tile * 2}", "{tyle}", "spec.toml:34:29: unknown name 'tyle' in 'entry' of step "},
      {"ns::copy<{dtype}", "ns::{dtype}<",
       "spec.toml:34:10: 'ns::{dtype}<, {tile * 2}, {fast}>' is no name for a kernel of "
       "src/copy.cu: write name, or name<arguments>, with values in braces: conv<{tile}>"},
      {"ns::copy<{dtype}", "ns::copy<{dtype",
       "spec.toml:34:25: expected an operator or the end of the expression, found ','"},
      {"copy(y, x, 2 * n)", "copy(y, x, 2 * m)",
       "spec.toml:20:40: unknown name 'm' in 'function' of [verify]"},
      {"reference.c:copy", "reference.py:copy",
       "spec.toml:20:13: [verify]: 'function' is 'reference.py:copy(y, x, 2 * n)'; expected "
       "FILE.c:NAME or FILE.c:NAME(arguments)"},
      {"2 * n)", "2 * n", "spec.toml:20:41: [verify]: 'function' has no ')' at its end"},
      {"y, x,", "y,,", "spec.toml:20:32: [verify]: 'function' has an empty argument"},
      {"[verify]\n", "[verify]\nreference = \"reduce\"\n",
       "spec.toml:20:1: [verify]: 'reference' and 'function' exclude each other"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(spec_error(plain_with(mistake.from, mistake.to)),
                ::testing::StartsWith(mistake.message));
  }
}

TEST(PlainSpec, OpenClHasNoTemplates) {
  EXPECT_THAT(spec_error(plain_with("copy.cu", "copy.cl")),
              HasSubstr("OpenCL C has no templates: use a letter, then letters, digits and _"));
}

}  // namespace
}  // namespace kiln
