// Plain sources as the compiler gets them.
// SPDX-License-Identifier: Apache-2.0
#include "templates/plain_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSource = R"(#pragma once
#include <cuda_runtime.h>
#include "tools/add.h"
#ifndef block
#define block 32
#endif
template <int Unroll> __global__ void scale(const float* x) { int tile; }
)";

/// scale, with a plain source in place of the template.
KernelSpec plain_spec(const std::string& more = "", const std::string& source = kSource,
                      const std::string& entry = "scale<{unroll}>") {
  std::string text = kScaleSpec;
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("template = \"strided.inja\"\n", "source = \"scale.cu\"\n" + more);
  replace("entry = \"scale_strided\"", "entry = \"" + entry + "\"");
  replace("--use_fast_math -lineinfo", "{'--use_fast_math' if unroll > 1 else ''} -lineinfo");
  KernelSpec spec = parse_spec(text, "scale/spec.toml");
  spec.files["scale.cu"] = source;
  spec.files["tools/add.h"] = "#pragma once\nint add;\n#include \"../scale.cu\"\n";
  return spec;
}

std::string plain_error(const KernelSpec& spec) {
  return test::error_of<InputError>([&] { return render(spec); });
}

TEST(PlainSourceText, ACommentMovesLinesAndNothingElse) {
  const auto hash_of = [](const KernelSpec& spec) {
    const Setting setting(spec, Problem::parse(spec, "n=1000"),
                          device_for_architecture("cuda", "sm_80"));
    return Renderer(spec).source_hash(setting, setting.parse("strided"));
  };
  const std::string source = kSource;
  const std::string hash = *hash_of(plain_spec());
  EXPECT_EQ(hash_of(plain_spec("", "// one line more\n" + source)), hash);
  EXPECT_NE(hash_of(plain_spec("", source + "int more;\n")), hash);
}

// The same binary serves every size.
TEST(PlainSourceText, ThatDependsOnARunTimeFieldIsAMistake) {
  EXPECT_THAT(plain_error(plain_spec("defines = { unroll = \"unroll\", block = \"n\" }\n")),
              HasSubstr("macro 'block': 'n' is a run-time field of the problem: mark it "
                        "'specialize = true' to compile it in"));
  EXPECT_THAT(plain_error(plain_spec("", kSource, "scale<{twice_n}>")),
              HasSubstr("entry of a step: 'twice_n' depends on 'n', which is a run-time field"));
}

TEST(PlainSourceText, ReachesTheCompilerAsItIsWithItsHeaders) {
  const Source source = render(plain_spec());
  const std::string text = source.text.substr(source.text.find("\n\n") + 2);
  EXPECT_EQ(text,
            "#define block 128\n"
            "#define tile 256\n"
            "#ifndef KILN_ONCE_0\n#define KILN_ONCE_0\n"
            "#line 1 \"scale.cu\"\n"
            "\n"
            "\n"
            "#ifndef KILN_ONCE_1\n#define KILN_ONCE_1\n"
            "#line 1 \"tools/add.h\"\n"
            "\n"
            "int add;\n"
            "\n"
            "#endif\n"
            "#line 4 \"scale.cu\"\n"
            "#ifndef block\n"
            "\n"
            "#endif\n"
            "template <int Unroll> __global__ void scale(const float* x) { int tile; }\n"
            "#endif\n");
  EXPECT_TRUE(source.has_cpp_names);
  EXPECT_THAT(source.entries, ElementsAre("scale<2>"));
  EXPECT_THAT(source.options, ElementsAre("--use_fast_math", "-lineinfo"));
}

TEST(PlainSourceText, ConfigsThatDifferInTheLaunchAloneShareABinary) {
  const auto key = [](const std::string& config) {
    return binary_key(render(plain_spec(), config), "cuda", "sm_80", "nvrtc");
  };
  EXPECT_EQ(key("strided:blocks_per_unit=1"), key("strided:blocks_per_unit=4"));
  EXPECT_NE(key("strided:unroll=2"), key("strided:unroll=4")) << "another instance";
  EXPECT_NE(key("strided:block=64"), key("strided:block=256"));
}

TEST(PlainSourceText, OptionsFollowTheConfig) {
  EXPECT_THAT(render(plain_spec(), "strided:unroll=1").options, ElementsAre("-lineinfo"));
}

TEST(PlainSourceText, MappedMacrosAreTheOnlyOnes) {
  const KernelSpec spec = plain_spec("defines = { BLOCK = \"block + 1\", TYPE = \"dtype\" }\n",
                                     "TYPE scale(BLOCK) { tile; }\n", "scale");
  const std::string text = render(spec).text;
  EXPECT_THAT(text, HasSubstr("\n\n#define BLOCK 129\n#define TYPE float\n#line 1 "));
  EXPECT_THAT(text, Not(HasSubstr("#define tile")));
}

TEST(PlainSourceText, AMacroOfATunableThatIsAbsentIsNotDefined) {
  const KernelSpec spec = plain_spec("", "scale block depth\n", "scale");
  EXPECT_THAT(render(spec, "strided:unroll=1").text, Not(HasSubstr("#define depth")));
  EXPECT_THAT(render(spec, "strided:unroll=2").text, HasSubstr("#define depth 2\n"));
}

TEST(PlainSourceText, MistakesAreNamedWithTheirPlace) {
  KernelSpec lost = plain_spec();
  lost.files.erase("scale.cu");
  lost.files["scael.cu"] = "";
  EXPECT_THAT(plain_error(lost),
              testing::MatchesRegex("scale/spec.toml:[0-9]+:1: variant 'strided': no source "
                                    "'scale.cu' in the spec's folder; did you mean 'scael.cu'."));
  EXPECT_THAT(plain_error(plain_spec("defines = { BLOK = \"block\" }\n", "scale BLOCK\n", "scale")),
              testing::MatchesRegex("scale/spec.toml:[0-9]+:[0-9]+: macro 'BLOK' does not occur in "
                                    "scale.cu; did you mean 'BLOCK'."));
  EXPECT_THAT(
      plain_error(plain_spec("", kSource, "scle<{unroll}>")),
      testing::MatchesRegex("scale/spec.toml:[0-9]+:1: a step launches 'scle', but scale.cu "
                            "has no such kernel; did you mean 'scale'."));
}

TEST(PlainSourceText, AMacroOverAParameterIsRefused) {
  const std::string source =
      "template <int U> __global__ void scale(const float* x, int block) {}\n";
  EXPECT_THAT(
      plain_error(plain_spec("", source)),
      HasSubstr("'block' becomes a macro over the parameter 'block' of 'scale' in scale.cu: "
                "rename one of them"));
}

TEST(PlainSourceText, HeadersWithoutGuardsThatGoInCirclesAreRefused) {
  KernelSpec spec = plain_spec("", "#include \"a.h\"\nscale block\n", "scale");
  spec.files["a.h"] = "int a;\n#include \"b.h\"\n";
  spec.files["b.h"] = "#include \"a.h\"\n";
  EXPECT_EQ(plain_error(spec), "scale/b.h:1: 'a.h' includes itself: scale.cu, a.h, b.h, a.h");
  spec.files["a.h"] = "#ifndef A\n#define A\n#include \"b.h\"\n#endif\n";
  EXPECT_EQ(plain_error(spec), "");
}

TEST(PlainSourceText, IncludesThatMultiplyAreRefused) {
  KernelSpec spec = plain_spec("", "#include \"h0.h\"\nscale block\n", "scale");
  for (int i = 0; i < 40; ++i) {
    const std::string next = "#include \"h" + std::to_string(i + 1) + ".h\"\n";
    spec.files["h" + std::to_string(i) + ".h"] = next + next;
  }
  spec.files["h40.h"] = "int x;\n";
  EXPECT_THAT(plain_error(spec), HasSubstr(": more than 4 MiB with what it includes"));
}

TEST(PlainSourceText, UnusedTunablesAreFound) {
  KernelSpec spec = plain_spec("", "scale block\n", "scale");
  std::erase_if(spec.variants[0].derived, [](const auto& each) { return each.name == "stages"; });
  const std::vector<LintFinding> findings = Renderer(spec).unused_tunables();
  ASSERT_EQ(findings.size(), 1U) << "unroll is read by an option and a derived value";
  EXPECT_EQ(findings[0].message,
            "tunable 'depth' of variant 'strided' is used by nothing: expected its source, a "
            "derived value or a step to read it");
}

}  // namespace
}  // namespace kiln::test
