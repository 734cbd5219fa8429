// A config becomes a source: readable, whole, and the same for every config that the text cannot
// tell apart.
// SPDX-License-Identifier: Apache-2.0
#include "templates/renderer.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"
#include "tests/templates/golden_file.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Renderer, WholeSourcesOfEachDialect) {
  KernelSpec spec = scale_spec();
  expect_golden("scale.strided.cu", render(spec, "strided", "n=1000 dtype=f16", "cuda").text);
  expect_golden("scale.strided.hip", render(spec, "strided", "n=1000 dtype=f16", "hip").text);
  expect_golden("scale.strided.cl", render(spec, "strided", "n=1000 dtype=f16", "opencl").text);
}

TEST(Renderer, TheReadableFormHasNoDialectWords) {
  KernelSpec spec = scale_spec();
  Problem problem = Problem::parse(spec, "n=1000");
  DeviceInfo device = device_for_architecture("cuda", "sm_80");
  std::string text = Renderer(spec).render_readable(
      {spec, problem, device}, Setting(spec, problem, device).parse("strided:unroll=4"));
  expect_golden("scale.strided.readable", text);
  EXPECT_THAT(text, Not(HasSubstr("#define")));
}

TEST(Renderer, OfOneVariantReadsNoOther) {
  KernelSpec spec = scale_spec();
  const Problem problem = Problem::parse(spec, "n=1000");
  const DeviceInfo device = device_for_architecture("cuda", "sm_80");
  const Config config = Setting(spec, problem, device).parse("strided:unroll=4");
  EXPECT_EQ(Renderer(spec, "strided").render({spec, problem, device}, config),
            Renderer(spec).render({spec, problem, device}, config));
  EXPECT_THROW(Renderer(spec, "strid"), InputError);
  spec.variants.push_back(spec.variants.front());
  spec.variants.back().name = "broken";
  spec.variants.back().template_file = "broken.inja";
  spec.files["broken.inja"] = "{% if %}";
  EXPECT_NO_THROW(Renderer(spec, "strided"));
  EXPECT_THROW(Renderer(spec, "broken"), InputError);
  EXPECT_THROW(Renderer{spec}, InputError);
}

// `depth` exists with unroll > 1 only, and so does a step that asks for it.
TEST(Renderer, AStepThatAsksForAMissingTunableNeedsNoKernel) {
  const std::string step =
      "[[variants.steps]]\nentry = \"finish\"\nwhen = \"depth > 1\"\ngrid = [\"1\"]\n"
      "block = [\"block\"]\narguments = [\"y\"]\n";
  std::string text = kScaleSpec;
  text.insert(text.find("[variants.compiler_options]"), step);
  KernelSpec spec = scale_spec();
  spec.variants = parse_spec(text, "scale/spec.toml").variants;
  EXPECT_NO_THROW(render(spec, "strided:unroll=1"));
  EXPECT_THROW(render(spec, "strided:unroll=2"), InputError) << "there the step exists";
}

TEST(Renderer, ATunableOfTheLaunchAloneSharesTheText) {
  KernelSpec spec = scale_spec();
  EXPECT_EQ(render(spec, "strided:blocks_per_unit=1"), render(spec, "strided:blocks_per_unit=4"));
  EXPECT_EQ(render(spec, "strided", "n=1000"), render(spec, "strided", "n=2000"));
  EXPECT_NE(render(spec, "strided:block=64").text, render(spec, "strided:block=256").text);
}

std::string source_hash(const KernelSpec& spec, const std::string& config = "strided",
                        const std::string& problem = "n=1000") {
  const Setting setting(spec, Problem::parse(spec, problem),
                        device_for_architecture("cuda", "sm_80"));
  return Renderer(spec).source_hash(setting, setting.parse(config)).value_or("illegal");
}

/// scale, with `from` in its spec or template replaced.
KernelSpec edited_scale(const std::string& from, const std::string& to) {
  const auto replace = [&](std::string text) {
    const std::size_t at = text.find(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  KernelSpec spec = scale_spec(replace(kScaleTemplate));
  spec.variants = parse_spec(replace(kScaleSpec), "scale/spec.toml").variants;
  return spec;
}

TEST(SourceHash, IsOfWhatRunsAlone) {
  const std::string hash = source_hash(scale_spec());
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_EQ(source_hash(edited_scale("thread t of", "each thread t of")), hash) << "a comment";
  EXPECT_EQ(source_hash(edited_scale("  const i64 stride", "\n    const i64  stride")), hash);
  EXPECT_EQ(source_hash(edited_scale("block * unroll", "unroll * block")), hash)
      << "the same value";
  EXPECT_EQ(source_hash(edited_scale("threads per block", "lanes")), hash) << "a doc";
  EXPECT_NE(source_hash(edited_scale("i += stride", "i += 1 * stride")), hash);
  EXPECT_NE(source_hash(edited_scale("block * unroll", "block * unroll * 2")), hash);
  EXPECT_NE(source_hash(edited_scale("-lineinfo", "-g")), hash) << "a compiler option";
}

TEST(SourceHash, KnowsTheLaunch) {
  const std::string hash = source_hash(scale_spec());
  EXPECT_NE(source_hash(edited_scale("grid = [\"blocks", "grid = [\"2 * blocks")), hash);
  EXPECT_NE(source_hash(scale_spec(), "strided:blocks_per_unit=4"), hash)
      << "the same binary, launched otherwise";
  EXPECT_EQ(source_hash(scale_spec(), "strided", "n=2000"), hash) << "n is an argument";
  EXPECT_NE(source_hash(scale_spec(), "strided", "n=1000 dtype=f16"), hash);
}

TEST(SourceHash, IsThatOfARenamedDerivedValue) {
  KernelSpec spec = scale_spec();
  std::string text = kScaleSpec;
  std::string file = kScaleTemplate;
  for (std::string* each : {&text, &file}) {
    for (std::size_t at; (at = each->find("{{ tile }}")) != std::string::npos;)
      each->replace(at, 10, "{{ span }}");
    const std::size_t at = each->find("\ntile = ");
    if (at != std::string::npos) each->replace(at, 8, "\nspan = ");
  }
  text.replace(text.find("ceil_div(n, tile)"), 17, "ceil_div(n, span)");
  KernelSpec renamed = scale_spec(file);
  renamed.variants = parse_spec(text, "scale/spec.toml").variants;
  EXPECT_EQ(source_hash(renamed), source_hash(spec));
  EXPECT_NE(template_hash(renamed, renamed.variants[0]), template_hash(spec, spec.variants[0]));
}

TEST(SourceHash, IsOfLegalConfigsAlone) {
  KernelSpec spec = edited_scale(
      "[variants.derived]",
      "[[variants.constraints]]\nrequire = \"block < 256\"\nbecause = \"x\"\n[variants.derived]");
  EXPECT_EQ(source_hash(spec), source_hash(scale_spec()));
  EXPECT_EQ(source_hash(spec, "strided:block=256"), "illegal");
}

TEST(Renderer, EveryLineKnowsItsTemplateLine) {
  Source source = render(scale_spec());
  std::istringstream lines(source.text);
  std::vector<std::string> texts;
  for (std::string line; std::getline(lines, line);) texts.push_back(line);
  ASSERT_EQ(source.origins.size(), texts.size());
  auto origin_of = [&](const std::string& part) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].find(part) != std::string::npos) return source.origins[i];
    }
    return std::string("no such line");
  };
  EXPECT_EQ(origin_of("// scale, strided"), "strided.inja:2");
  EXPECT_EQ(origin_of("const f32 value"), "convert.inja:3");
  EXPECT_EQ(origin_of("if (i + 128 < n)"), "strided.inja:15");
  EXPECT_EQ(origin_of("#define KERNEL"), "");
}

TEST(Renderer, NamesEntriesAndOptionsForTheCompiler) {
  Source source = render(scale_spec());
  EXPECT_EQ(source.name, "scale.strided.cu");
  EXPECT_THAT(source.entries, ElementsAre("scale_strided"));
  EXPECT_THAT(source.options, ElementsAre("--use_fast_math", "-lineinfo"));
  EXPECT_THAT(render(scale_spec(), "strided", "n=1", "opencl").options, ElementsAre());
}

TEST(Renderer, AStepWithoutItsKernelIsAnError) {
  EXPECT_EQ(test::error_of<InputError>(
                [&] { return render(scale_spec("KERNEL(1, 1, 1) scale_stride(void) {}\n")); }),
            "scale/spec.toml:78:1: a step launches 'scale_strided', but the text rendered from "
            "scale/strided.inja has no such kernel; did you mean 'scale_stride'?");
}

TEST(Renderer, LinesAreTidy) {
  EXPECT_EQ(body_of("\n\na {   \n\n\n  b;  \n\n\n  c;\n\n}\n"), "a {\n  b;\n  c;\n}\n");
}

TEST(Renderer, AnIncludeIndentsWhatItIncludes) {
  KernelSpec spec =
      scale_spec("KERNEL(1, 1, 1) scale_strided(void) {\n    {% include \"two.inja\" %}\n}\n");
  spec.files["two.inja"] = "if (a) {\n  b;\n}\n";
  EXPECT_THAT(render(spec).text, HasSubstr("(void) {\n    if (a) {\n      b;\n    }\n}\n"));
}

TEST(Renderer, TextOfAProblemCannotBecomeCode) {
  std::string text(kScaleSpec);
  text.replace(text.find("[problem.map]"), 0,
               "[problem.mode]\ntype = \"string\"\nvalues = [\"plain\", \"x; y\"]\ndefault = "
               "\"plain\"\nspecialize = true\n\n");
  KernelSpec spec = parse_spec(text, "scale/spec.toml");
  spec.files["strided.inja"] = "KERNEL(1, 1, 1) scale_strided(void) { {{ mode }} }\n";
  EXPECT_THAT(render(spec).text, HasSubstr("{ plain }"));
  EXPECT_EQ(test::error_of<InputError>([&] { (void)render(spec, "strided", "n=1 mode='x; y'"); }),
            "'mode' is the text \"x; y\"; templates take only letters, digits and '_'");
}

TEST(Renderer, ASummaryCannotLeaveItsComment) {
  KernelSpec spec = scale_spec();
  spec.summary = "harmless\nint evil; \\";
  EXPECT_THAT(render(spec).text, HasSubstr("// scale: harmless int evil;\n// Variant"));
}

TEST(Renderer, ManyThreadsShareOneRenderer) {
  KernelSpec spec = scale_spec();
  Renderer renderer(spec);
  Problem problem = Problem::parse(spec, "n=1000");
  DeviceInfo device = device_for_architecture("cuda", "sm_80");
  Config config = Setting(spec, problem, device).parse("strided");
  Source alone = renderer.render({spec, problem, device}, config);
  std::vector<std::thread> threads;
  std::array<bool, 4> same{};
  for (std::size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      same[t] = true;
      for (int i = 0; i < 50; ++i)
        same[t] = same[t] && renderer.render({spec, problem, device}, config) == alone;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, testing::Each(true));
}

}  // namespace
}  // namespace kiln::test
