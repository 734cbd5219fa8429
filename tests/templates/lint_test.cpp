// A template may name what is baked into its source, and nothing else: said before anything is
// rendered.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/parse_spec.hpp"
#include "templates/template_lint.hpp"
#include "tests/support/error_of.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

TEST(Lint, NamesAreCheckedInBranchesNotTaken) {
  EXPECT_EQ(error_in("## if tile == 1\nx {{ blocck }}\n## endif\n"),
            "2:6: unknown name 'blocck'; did you mean 'block'?");
}

TEST(Lint, SharedTemplatesListWhatTheyRead) {
  const auto message = [](const std::string& text) {
    KernelSpec spec = scale_spec("{% include \"shared/load.inja\" %}\n");
    spec.files["shared/load.inja"] = text;
    const std::vector<LintFinding> findings = lint(spec);
    return findings.empty() ? ""
                            : to_text(findings.front().where) + ": " + findings.front().message;
  };
  const std::string code =
      "## set size = 2 * block\n## for i in range(unroll)\n{{ size + i }}\n## endfor\n";
  const std::string expected =
      "scale/shared/load.inja:1:1: a shared template begins with a comment of what it does and "
      "what it reads: expected {# ... Needs block, unroll. #}";
  EXPECT_EQ(message("{# Sizes. Needs\n   block, unroll. #}\n" + code), "");
  EXPECT_EQ(message(code), expected);
  EXPECT_EQ(message("{# Sizes. #}\n" + code), expected);
  EXPECT_EQ(message("{# Sizes. Needs block. #}\n" + code), expected);
  EXPECT_EQ(message("{# Sizes. Needs block, tile, unroll. #}\n" + code), expected);
  EXPECT_EQ(message("{# Two. #}\n2\n"), "");
}

TEST(Lint, RunTimeFieldsAreHidden) {
  EXPECT_EQ(error_in("{{ n }}"),
            "1:4: 'n' is a run-time field of the problem: mark it 'specialize = true' to use it in "
            "a template");
  EXPECT_EQ(error_in("{{ twice_n }}"), "1:4: 'twice_n' depends on 'n', which templates cannot see");
  EXPECT_EQ(error_in("{{ tiles }}"), "1:4: 'tiles' depends on 'n', which templates cannot see");
  EXPECT_EQ(error_in("{{ device.compute_units }}"),
            "1:4: 'device.compute_units' is not for templates: they see warp_size only, so that "
            "one text serves every device");
  EXPECT_EQ(body_of("{{ bits }} {{ warp_size }} {{ tile }}\n"), "32 32 256\n");
}

TEST(Lint, LocalNamesLiveAsLongAsTheirLoop) {
  EXPECT_EQ(error_in("## for i in range(2)\n## set k = i\n## endfor\n{{ k }}"),
            "4:4: unknown name 'k'");
  EXPECT_EQ(body_of("## set k = 1\n## for i in range(3)\n## set k = k * 2\n## endfor\n{{ k }}\n"),
            "8\n");
  EXPECT_EQ(body_of("## if unroll == 2\n## set k = 1\n## else\n## set k = 2\n## endif\n{{ k }}\n"),
            "1\n");
  EXPECT_EQ(error_in("## set tile = 1\n"), "1:8: 'tile' is a name of the spec; take another");
}

TEST(Lint, ConditionalTunablesAreAskedFor) {
  EXPECT_EQ(body_of("{{ depth }}\n"), "2\n");
  EXPECT_EQ(error_in("{{ depth }}", "strided:unroll=1"),
            "1:4: 'depth' has no value here: a tunable whose 'when' is false, or a 'set' of a "
            "branch not taken (ask exists(\"depth\") first)");
  EXPECT_EQ(body_of("{{ choose(exists(\"depth\"), 1, 0) }}\n", "strided:unroll=1"), "0\n");
}

TEST(Lint, IncludesStayInTheFolder) {
  EXPECT_EQ(error_in("{% include \"../secret\" %}"),
            "1:12: include '../secret': only the templates of the spec's own folder, by name");
  EXPECT_EQ(error_in("{% include \"/etc/passwd\" %}"),
            "1:12: include '/etc/passwd': only the templates of the spec's own folder, by name");
  EXPECT_EQ(error_in("{% include \"convrt.inja\" %}"),
            "1:12: include 'convrt.inja': no such template in the spec's folder; did you mean "
            "'convert.inja'?");
  EXPECT_EQ(error_in("{% include \"strided.inja\" %}"),
            "1:12: 'strided.inja' includes itself: strided.inja, strided.inja");
}

TEST(Lint, IncludesNestToADepth) {
  KernelSpec spec = scale_spec("{% include \"t0.inja\" %}\n");
  for (int i = 0; i < 40; ++i)
    spec.files["t" + std::to_string(i) + ".inja"] =
        "{% include \"t" + std::to_string(i + 1) + ".inja\" %}\n";
  spec.files["t40.inja"] = "int a;\n";
  const std::vector<LintFinding> findings = lint(spec);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message, "more than 32 includes inside each other");
}

TEST(Lint, AFaultInAnIncludedTemplateNamesThatTemplate) {
  KernelSpec spec = scale_spec();
  spec.files["convert.inja"] = "\n\n  {{ oops }}\n";
  EXPECT_EQ(test::error_of<InputError>([&] { Renderer renderer(spec); }),
            "scale/convert.inja:3:6: unknown name 'oops'");
}

TEST(Lint, AMissingTemplateIsNamedAtItsVariant) {
  KernelSpec spec = scale_spec();
  spec.files.erase("strided.inja");
  spec.files["stride.inja"] = "";
  std::vector<LintFinding> findings = lint(spec);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "variant 'strided': no template 'strided.inja' in the spec's folder; did you mean "
            "'stride.inja'?");
  EXPECT_EQ(findings[0].where.file.text(), "scale/spec.toml");
}

TEST(Lint, ListsEverything) {
  KernelSpec spec = scale_spec("{{ one }}\n{{ two }}\n");
  std::vector<LintFinding> findings = lint(spec);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].message, "unknown name 'one'");
  EXPECT_EQ(findings[1].message, "unknown name 'two'");
}

// The search would measure one kernel as often as the tunable has values.
TEST(Lint, ATunableThatNothingReadsIsRefused) {
  const std::string text =
      "name = 'double'\nproblem.n = { type = 'int', min = 1 }\n"
      "arguments = [{ name = 'y', access = 'write', dtype = 'f32', shape = ['n'] }]\n"
      "verify.formulas = { y = '1' }\n[[variants]]\nname = 'plain'\ntemplate = 'plain.inja'\n"
      "[variants.tunables.block]\nvalues = [32, 64]\ndefault = 32\n"
      "[variants.tunables.factor]\nvalues = [1, 2]\ndefault = 1\n"
      "[[variants.constraints]]\nrequire = 'factor <= 2'\nbecause = 'few'\n"
      "[[variants.steps]]\nentry = 'twice'\ngrid = ['ceil_div(n, block)']\nblock = ['block']\n"
      "arguments = ['y']\n";
  const auto refusal_of = [](const std::string& body, const std::string& whole) -> std::string {
    KernelSpec spec = parse_spec(whole, "double/spec.toml");
    spec.files["plain.inja"] = body;
    try {
      require_used_tunables(spec);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal_of("#ifndef factor\n", text),
            "double/spec.toml:11:20: tunable 'factor' of variant 'plain' is used by nothing: "
            "expected its template, a derived value or a step to read it");
  EXPECT_EQ(refusal_of("{{ factor }}\n", text), "");
  EXPECT_EQ(refusal_of("{{ choose(exists(\"factor\"), 1, 0) }}\n", text), "");
  std::string one_value = text;
  one_value.replace(one_value.find("[1, 2]"), 6, "[1]");
  EXPECT_EQ(refusal_of("", one_value), "") << "a constant is measured once";
}

// A search would try each value of the tunable for one kernel, or refuse one that matters.
TEST(Lint, EveryExpressionOfATensorMapReadsItsNames) {
  const std::string corners = "lower = ['0']\nupper = ['0']\n";
  for (const std::string key :
       {"lower = ['-edge']\nupper = ['0']", "lower = ['0']\nupper = ['edge']",
        "strides = ['n * edge', 'n']", "element_strides = ['1', 'edge', '1']", "offset = 'edge'",
        "swizzle = 'edge'", "l2_promotion = 'edge'", "tf32 = 'edge == 1'", "when = 'edge == 1'"}) {
    const bool has_corners = key.starts_with("lower");
    const KernelSpec spec = parse_spec(
        "name = 'copy'\nproblem.n = { type = 'int', min = 1 }\n"
        "arguments = [{ name = 'x', access = 'read', dtype = 'f32', shape = ['n', 'n', 'n'] },\n"
        "{ name = 'y', access = 'write', dtype = 'f32', shape = ['n'] }]\n"
        "verify.formulas = { y = '1' }\n[[variants]]\nname = 'bulk'\ntemplate = 'bulk.inja'\n"
        "[variants.tunables.edge]\nvalues = [0, 1]\ndefault = 1\n"
        "[[variants.tensor_maps]]\nname = 'tiles'\nof = 'x'\nshape = ['n', 'n', 'n']\n"
        "box = [8, 8]\n" +
            (has_corners ? "" : corners) + key +
            "\n[[variants.steps]]\nentry = 'copy'\ngrid = [1]\nblock = [32]\n"
            "arguments = ['tiles', 'y']\n",
        "copy/spec.toml");
    EXPECT_THAT(names_in_expressions(spec.variants[0]), testing::Contains("edge")) << key;
  }
}

TEST(Lint, AllTemplatesThatDoNotParseAreListed) {
  KernelSpec spec = scale_spec("{{ tile-- }}");
  spec.files["convert.inja"] = "{{ | f }}";
  EXPECT_THAT(lint(spec), testing::SizeIs(2));
}

}  // namespace
}  // namespace kiln::test
