// Reading specs: what a good one says, and where and why a bad one is refused.
// SPDX-License-Identifier: Apache-2.0
#include "core/spec.hpp"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::example_spec;
using test::kTransposeSpec;
using test::spec_error;
using test::with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Spec, KeepsTheOrderOfTheFile) {
  const KernelSpec spec = example_spec();
  std::vector<std::string> fields;
  for (const ProblemField& field : spec.problem) fields.push_back(field.name);
  EXPECT_THAT(fields, ElementsAre("rows", "cols", "dtype", "order", "scale", "in_place", "map"));
  std::vector<std::string> tunables;
  for (const Tunable& tunable : spec.variants.front().tunables) tunables.push_back(tunable.name);
  EXPECT_THAT(tunables, ElementsAre("tile_rows", "tile_cols", "padded", "pad"));
  EXPECT_EQ(spec.derived.at(0).name, "bytes_per_element");
  EXPECT_EQ(spec.derived.at(1).name, "matrix_bytes");
}

TEST(Spec, HoldsWhatTheFileSays) {
  const KernelSpec spec = example_spec();
  EXPECT_EQ(spec.name, "transpose");
  EXPECT_EQ(spec.find_field("dtype")->type, FieldType::dtype);
  EXPECT_TRUE(spec.find_field("dtype")->specialize);
  EXPECT_EQ(spec.find_field("scale")->weight, 0.5);
  EXPECT_EQ(spec.find_argument("alpha")->access, Access::scalar);
  EXPECT_EQ(spec.find_argument("mask")->when->text(), "order == 'column'");
  EXPECT_EQ(spec.verify.sum_length.text(), "1");
  const Variant& naive = *spec.find_variant("naive");
  EXPECT_EQ(naive.compiler_options.at("cuda").text(), "--use_fast_math");
  EXPECT_EQ(naive.tunables.front().values,
            (std::vector<Value>{std::int64_t{32}, std::int64_t{64}}));
  EXPECT_EQ(spec.variants.front().steps.front().kind, StepKind::clear);
  EXPECT_EQ(spec.find_variant("wgmma"), nullptr);
}

TEST(Spec, LocatesExpressionsBehindTheirQuote) {
  const KernelSpec spec = example_spec();
  const SourceLocation& where = spec.find_variant("tile")->steps.back().shared_bytes->where();
  std::istringstream lines{std::string(kTransposeSpec)};
  std::string line;
  for (int i = 0; i < where.line; ++i) std::getline(lines, line);
  EXPECT_EQ(line.substr(static_cast<std::size_t>(where.column) - 1), "tile_bytes\"");
}

TEST(Spec, TakesNumbersAndBooleansForExpressions) {
  const KernelSpec spec = parse_spec(with("because = \"the tile must fit in shared memory\"",
                                          "because = \"x\"\n[[variants.constraints]]\nrequire = "
                                          "true\nbecause = \"always\""),
                                     "spec.toml");
  EXPECT_TRUE(spec.variants.front().constraints.at(1).require.evaluate_bool({}));
  EXPECT_EQ(spec.variants.front().steps.back().block.at(1).evaluate_int({}), 8);
}

TEST(Spec, RefusesAnUnknownKeyAndNamesTheNearest) {
  EXPECT_EQ(spec_error(with("specialize = true", "specialise = true")),
            "spec.toml:16:1: unknown key 'specialise' in [problem.dtype]; did you mean "
            "'specialize'? (allowed: type, doc, values, min, max, default, specialize, weight, "
            "variables)");
  EXPECT_THAT(spec_error(with("[cost]", "[costs]")),
              HasSubstr("unknown key 'costs' in the spec; did you mean 'cost'?"));
}

TEST(Spec, RefusesAnUnknownNameAtItsPlace) {
  EXPECT_EQ(spec_error(with("ceil_div(cols, tile_cols)", "ceil_div(cols, tile_col)")),
            "spec.toml:113:25: unknown name 'tile_col' in 'grid' of step 'transpose_tile'; did you "
            "mean 'tile_cols'?");
}

TEST(Spec, ListsTheKnownNamesWhenNoneIsNear) {
  EXPECT_THAT(spec_error(with("matrix_bytes = \"rows", "matrix_bytes = \"volume")),
              HasSubstr("unknown name 'volume' in derived 'matrix_bytes'; known here: rows, cols, "
                        "dtype, order, scale, in_place, map, bytes_per_element"));
}

TEST(Spec, ChecksNoExpressionsOfASpecThatIsBuiltIn) {
  const std::string text = with("tile_bytes <= device", "tile_byte <= device");
  EXPECT_THAT(spec_error(text), HasSubstr("unknown name 'tile_byte'"));
  const KernelSpec spec = parse_spec(text, "spec.toml", SpecOrigin::built_in);
  EXPECT_EQ(spec.find_variant("tile")->constraints.front().require.text(),
            "tile_byte <= device.max_shared_bytes");
}

TEST(Spec, LetsAnExpressionUseOnlyWhatComesBefore) {
  EXPECT_THAT(spec_error(with("when = \"padded\"", "when = \"tile_bytes > 0\"")),
              HasSubstr("unknown name 'tile_bytes' in 'when' of tunable 'pad'"));
  EXPECT_THAT(spec_error(with("requires = \"device.max_threads_per_block >= 256\"",
                              "requires = \"tile_rows > 2\"")),
              HasSubstr("unknown name 'tile_rows' in 'requires' of variant 'tile'"));
  EXPECT_THAT(spec_error(with("default = \"rows\"", "default = \"scale\"")),
              HasSubstr("unknown name 'scale' in the default of 'cols'"));
  EXPECT_THAT(spec_error(with("\"2 * matrix_bytes\"", "\"2 * tile_rows\"")),
              HasSubstr("unknown name 'tile_rows' in 'bytes' of [cost]"));
  EXPECT_THAT(spec_error(with("device.max_shared_bytes\"", "device.max_shared\"")),
              HasSubstr("unknown name 'device.max_shared'"));
}

TEST(Spec, ComparesProblemsByTermsOrByFieldsButNotByBoth) {
  const auto error_with = [](const std::string& term) {
    return spec_error(with("[verify]", "[[distance]]\n" + term + "\n[verify]"));
  };
  EXPECT_EQ(error_with("of = \"rows\""),
            "spec.toml:21:10: the weight of problem field 'scale' has no effect beside "
            "[[distance]]: give it there, or 0 here to ignore the field");
  EXPECT_THAT(error_with("of = \"tile_rows\""),
              HasSubstr("unknown name 'tile_rows' in 'of' of [[distance]]"));
  EXPECT_THAT(error_with("weight = 1"),
              HasSubstr("[[distance]]: key 'of' is missing; expected an expression"));
  EXPECT_THAT(error_with("of = \"rows\"\nweight = -1"), HasSubstr("'weight' must not be negative"));
  EXPECT_THAT(error_with("of = \"rows\"\nshare = 1"),
              HasSubstr("unknown key 'share' in [[distance]]"));
}

TEST(Spec, PassesOnWhatTheExpressionLanguageSays) {
  EXPECT_EQ(spec_error(with("\"2 * matrix_bytes\"", "\"2 * \"")),
            "spec.toml:76:14: expected a value, found the end of the expression");
}

TEST(Spec, RefusesDefaultsOutsideTheValues) {
  EXPECT_THAT(
      spec_error(with("values = [32, 64]\ndefault = 32", "values = [32, 64]\ndefault = 16")),
      HasSubstr("[variants.tunables.block_x]: the default 16 is not among the values 32, 64"));
  EXPECT_THAT(spec_error(with("default = \"row\"", "default = \"diagonal\"")),
              HasSubstr("[problem.order]: the default 'diagonal' is not among the values row, "
                        "column"));
}

TEST(Spec, RefusesTunablesThatAreNoLists) {
  EXPECT_THAT(
      spec_error(with("values = [32, 64]", "values = [32, 2.5]")),
      HasSubstr("all values must be of one type; 32 is of type integer, 2.5 of type float"));
  EXPECT_THAT(spec_error(with("values = [32, 64]", "values = [32, 32]")),
              HasSubstr("the value 32 appears twice"));
  EXPECT_THAT(spec_error(with("values = [32, 64]", "values = []")),
              HasSubstr("'values' must list at least one value"));
  EXPECT_THAT(spec_error(with("values = [32, 64]\n", "")),
              HasSubstr("key 'values' is missing; expected the list of values it may have"));
  EXPECT_THAT(
      spec_error(with("values = [32, 64]\ndefault = 32", "values = [\"a\\nb\"]\ndefault = 1")),
      HasSubstr("a text value has one line of at most 1000 bytes, without control characters"));
}

TEST(Spec, RefusesNamesThatStandTwiceOrMeanSomethingElse) {
  EXPECT_THAT(spec_error(with("[variants.tunables.block_x]", "[variants.tunables.rows]")),
              HasSubstr("tunable 'rows': the name is already taken"));
  EXPECT_THAT(spec_error(with("[variants.tunables.block_x]", "[variants.tunables.min]")),
              HasSubstr("'min' is a word of the expression language and cannot name a tunable"));
  EXPECT_THAT(spec_error(with("name = \"naive\"", "name = \"tile\"")),
              HasSubstr("variant 'tile' appears twice"));
  EXPECT_THAT(spec_error(with("name = \"mask\"", "name = \"in\"")),
              HasSubstr("argument 'in' appears twice"));
  EXPECT_THAT(spec_error(with("name = \"transpose\"", "name = \"Trans-pose\"")),
              HasSubstr("spec.toml:1:1: the spec: 'Trans-pose' is no kernel name"));
}

TEST(Spec, RefusesStepsThatNameWhatIsNotThere) {
  EXPECT_THAT(spec_error(with("arguments = [\"in\", \"out\", \"row_count\"",
                              "arguments = [\"in\", \"outt\", \"row_count\"")),
              HasSubstr("'outt' is no argument, workspace or tensor map; did you mean 'out'? "
                        "(there are: in, out, "
                        "mask, row_count, alpha)"));
  EXPECT_THAT(spec_error(with("clear = \"flags\"", "clear = \"in\"")),
              HasSubstr("'in' is read only and cannot be cleared"));
  EXPECT_THAT(spec_error(with("block = [\"block_x\"]", "block = [1, 1, 1, 1]")),
              HasSubstr("'block' needs 1 to 3 expressions, not 4"));
  EXPECT_THAT(spec_error(with("clear = \"flags\"", "clear = \"flags\"\ngrid = [1]")),
              HasSubstr("a step with 'clear' has no 'grid'"));
}

TEST(Spec, WantsArgumentsThatMakeSense) {
  EXPECT_THAT(
      spec_error(with("access = \"read\"", "access = \"reads\"")),
      HasSubstr("[[arguments]]: 'access' must be one of read, write, read_write, scalar, not "
                "'reads'"));
  EXPECT_THAT(spec_error(with("example = \"scale\"\n", "")),
              HasSubstr("a scalar needs either 'value' (computed from the problem) or 'example'"));
  EXPECT_THAT(spec_error(with("shape = [\"cols\", \"rows\"]", "fill = \"ramp\"")),
              HasSubstr("a buffer needs 'shape'"));
  EXPECT_THAT(spec_error(with("fill_verify = \"integers\"", "fill_verify = \"zeros\"")),
              HasSubstr("unknown name 'zeros' in 'fill_verify' of argument 'in'"));
  EXPECT_THAT(spec_error(with("fill_verify = \"integers\"", "fill_extra = \"zeros\"")),
              HasSubstr("unknown name 'zeros' in 'fill_extra' of argument 'in'"));
}

TEST(Spec, ReadsSeveralScalarsThatTheProblemGives) {
  const auto with_names = [](const std::string& lines) {
    return with("[verify]", "[[arguments]]\n" + lines + "\ndtype = \"i64\"\n\n[verify]");
  };
  const std::string scalar = "\naccess = \"scalar\"";
  const KernelSpec spec =
      parse_spec(with_names("names = [\"rows\", \"matrix_bytes\"]" + scalar), "x");
  EXPECT_EQ(spec.find_argument("rows")->value->text(), "rows");
  EXPECT_EQ(spec.find_argument("matrix_bytes")->value->text(), "matrix_bytes");
  EXPECT_EQ(spec.find_argument("matrix_bytes")->access, Access::scalar);
  EXPECT_THAT(spec_error(with_names("names = [\"rowz\"]" + scalar)),
              HasSubstr("unknown name 'rowz' in 'value' of argument 'rowz'"));
  EXPECT_THAT(spec_error(with_names("names = []" + scalar)),
              HasSubstr("'names' needs at least one name"));
  EXPECT_THAT(spec_error(with_names("names = [\"rows\"]\nvalue = \"1\"" + scalar)),
              HasSubstr("'names' are values of the problem by these names: no 'value'"));
  EXPECT_THAT(spec_error(with_names("names = [\"rows\"]\naccess = \"read\"")),
              HasSubstr("'names' is for scalars"));
}

TEST(Spec, ReadsElementsThatAreComputed) {
  const std::string fill = "fill = \"'ramp' if dtype == u8 else uniform\"";
  const std::string both = fill + "\nfill_verify = \"integers\"";
  const auto with_elements = [&](const std::string& lines) { return with(both, lines); };
  const KernelSpec spec = parse_spec(
      with_elements("elements = [\"i0 * cols + i1\"]\nelements_verify = [\"index\", \"2\"]"),
      "example");
  const Argument& in = *spec.find_argument("in");
  EXPECT_THAT(in.elements.at(0).names(), ElementsAre("i0", "cols", "i1"));
  EXPECT_EQ(in.elements_verify.size(), 2U);
  const KernelSpec once = parse_spec(with_elements("elements = [\"rows\"]"), "example");
  EXPECT_EQ(once.find_argument("in")->elements_verify.at(0).text(), "rows");
  EXPECT_NE(launch_hash(spec, spec.variants.front()), launch_hash(once, once.variants.front()));

  EXPECT_THAT(spec_error(with_elements("elements = [\"i2\"]")),
              HasSubstr("unknown name 'i2' in 'elements' of argument 'in'"));
  EXPECT_THAT(spec_error(with_elements("elements_verify = [\"1\"]")),
              HasSubstr("'elements_verify' needs 'elements'"));
  EXPECT_THAT(spec_error(with_elements("elements = []")),
              HasSubstr("'elements' needs at least one expression"));
  EXPECT_THAT(spec_error(with_elements("elements = [\"1\"]\nlow = 2")),
              HasSubstr("an argument has either 'elements' or 'low'"));
  EXPECT_THAT(spec_error(with("example = \"scale\"", "example = 1\nelements = [\"1\"]")),
              HasSubstr("a scalar has no 'elements'"));
}

TEST(Spec, WantsAWayToProveResults) {
  EXPECT_THAT(
      spec_error(with("reference = \"transpose\"\ndevice_reference = \"naive:block_x=64\"\n", "")),
      HasSubstr("one of 'reference', 'formulas', 'function', 'device_reference' and "
                "[[verify.expected]] is required"));
  EXPECT_THAT(spec_error(with("naive:block_x=64", "naive:block_x=65")),
              HasSubstr("device_reference 'naive:block_x=65': 'block_x' has no value 65"));
  EXPECT_THAT(spec_error(with("naive:block_x=64", "simple")),
              HasSubstr("device_reference 'simple': there is no such variant"));
}

TEST(Spec, ReadsFormulasOverInputsAndScalars) {
  const KernelSpec spec = parse_spec(
      with("reference = \"transpose\"", "formulas = { out = \"alpha * sqrt(in_place) + mask\" }"),
      "spec.toml");
  EXPECT_THAT(spec.verify.formulas.at("out").names(), ElementsAre("alpha", "in_place", "mask"));
  EXPECT_THAT(spec_error(with("reference = \"transpose\"", "formulas = { mask = \"alpha\" }")),
              HasSubstr("[verify.formulas]: 'mask' is no output of the kernel"));
}

TEST(Spec, SaysWhereTheTomlItselfIsBroken) {
  EXPECT_THAT(spec_error("name = \"x\"\nsummary = oops\n"),
              StartsWith("spec.toml:2:11: not valid TOML: "));
  EXPECT_THAT(spec_error("name = \"x\"\nsummary = 2020-01-01\n"),
              HasSubstr("dates and times are not used here"));
  EXPECT_EQ(spec_error("summary = 'x'"),
            "spec.toml: the spec: key 'name' is missing; expected a string");
  EXPECT_EQ(spec_error(std::string(2 << 20, '\n')), "spec.toml: the file is larger than 1 MiB");
}

TEST(Spec, SaysInPlainWordsWhyItIsNoToml) {
  const std::string twice = "name = \"x\"\nname = \"y\"\n";
  const std::string bare = "name = x\n";
  const std::string open = "name = \"x\nsummary = \"y\"\n";
  EXPECT_EQ(spec_error(open), "spec.toml:1:10: not valid TOML: a string without its closing quote");
  EXPECT_EQ(spec_error("name = \"\"\"x"),
            "spec.toml:1:12: not valid TOML: a string without its closing quote");
  EXPECT_EQ(spec_error(bare),
            "spec.toml:1:8: not valid TOML: expected a value: a string in quotes, a number, true "
            "or false");
  EXPECT_EQ(spec_error(twice), "spec.toml:2:8: not valid TOML: there is already a string 'name'");
  EXPECT_EQ(spec_error("a = [1, 2\nb = 3\n"),
            "spec.toml:2:1: not valid TOML: in the array: expected comma or closing ']', saw 'b'");
}

// The TOML library has no error of its own for these.
TEST(Spec, RefusesTablesWithoutAName) {
  EXPECT_EQ(spec_error("[=x]"), "spec.toml: not valid TOML: a table or key has no proper name");
  EXPECT_EQ(spec_error("[[[x]]]"), "spec.toml: not valid TOML: a table or key has no proper name");
}

TEST(Spec, RefusesHostileNesting) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_EQ(spec_error("[" + deep + "]"),
            "spec.toml:1: more than 16 dots in a row of words: no key is nested that deep");
  EXPECT_THAT(spec_error("a = " + std::string(100'000, '[')), HasSubstr("not valid TOML"));
}

// Every prefix of a spec, and specs with a character changed, are read or refused, never worse.
TEST(Spec, SurvivesDamage) {
  const std::string whole = kTransposeSpec;
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    if (!spec_error(whole.substr(0, at)).empty()) ++refused;
    for (const char c : {'"', '[', '=', '7', '\xff', '\0'}) {
      std::string damaged = whole;
      damaged[at] = c;
      (void)spec_error(damaged);
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Spec, KnowsATemplateByItsEnding) {
  EXPECT_THAT(spec_error(with("template = \"tile.inja\"", "template = \"tile.cu\"")),
              HasSubstr("'tile.cu' must be the name of a template, which ends in .inja"));
}

TEST(Spec, KeepsTemplatesInTheSpecsFolder) {
  EXPECT_THAT(spec_error(with("template = \"tile.inja\"", "template = \"../tile.inja\"")),
              HasSubstr("'../tile.inja' must be the name of a file in the spec's folder"));
}

TEST(Fill, IsANameOrAnExpressionThatGivesOne) {
  const KernelSpec spec = example_spec();
  const Argument& in = *spec.find_argument("in");
  Scope scope;
  scope.set("dtype", std::string("u8"));
  EXPECT_EQ(evaluate_fill(in.fill, scope), "ramp");
  scope.set("dtype", std::string("f32"));
  EXPECT_EQ(evaluate_fill(in.fill, scope), "uniform");
  EXPECT_EQ(evaluate_fill(in.fill_verify, scope), "integers");
  EXPECT_FALSE(in.fill_extra);
  const KernelSpec extra = parse_spec(
      with("fill_verify = \"integers\"", "fill_extra = \"'ramp' if rows > 1 else 'integers'\""),
      "example");
  scope.set("rows", std::int64_t{2});
  EXPECT_EQ(evaluate_fill(*extra.find_argument("in")->fill_extra, scope), "ramp");
  EXPECT_THROW((void)evaluate_fill(Expression::parse("'zeros'"), scope), EvaluationError);
}

TEST(ContentHash, FollowsTextAndFiles) {
  KernelSpec spec = example_spec();
  const std::string empty = content_hash(spec);
  EXPECT_EQ(empty.size(), 16u);
  spec.files["tile.inja"] = "a";
  const std::string one = content_hash(spec);
  spec.files["tile.inja"] = "b";
  EXPECT_NE(one, empty);
  EXPECT_NE(content_hash(spec), one);
}

TEST(TemplateHash, IgnoresOtherVariantsAndTheListOfValues) {
  const KernelSpec spec = example_spec();
  const auto hash_of_naive = [](const std::string& text) {
    const KernelSpec changed = parse_spec(text, "spec.toml");
    return template_hash(changed, *changed.find_variant("naive"));
  };
  const std::string hash = template_hash(spec, *spec.find_variant("naive"));
  EXPECT_EQ(hash_of_naive(with("\"tile_cols\", 8", "\"tile_cols\", 4")), hash);
  EXPECT_EQ(hash_of_naive(with("values = [32, 64]", "values = [32, 64, 128]")), hash);
  EXPECT_NE(hash_of_naive(with("\"ceil_div(cols, block_x)\", \"rows\"",
                               "\"rows\", \"ceil_div(cols, block_x)\"")),
            hash);
  EXPECT_NE(template_hash(spec, *spec.find_variant("tile")), hash);
}

TEST(TemplateHash, FollowsTheFilesThatTheTemplateIncludes) {
  KernelSpec spec = example_spec();
  spec.files = {{"naive.inja", "{% include \"place.inja\" %}\nout[i] = in[j];"},
                {"place.inja", "## include \"rows.inja\"\nconst int i = THREAD_X;"},
                {"rows.inja", "const int j = BLOCK_X;"},
                {"tile.inja", "SHARED float tile[32];"}};
  const auto hash_with = [&spec](const std::string& file, const std::string& text) {
    KernelSpec changed = spec;
    changed.files[file] = text;
    return template_hash(changed, *changed.find_variant("naive"));
  };
  const std::string hash = template_hash(spec, *spec.find_variant("naive"));
  EXPECT_NE(hash_with("naive.inja", "out[j] = in[i];"), hash);
  EXPECT_NE(hash_with("place.inja", "const int i = 0, j = 0;"), hash);
  EXPECT_NE(hash_with("rows.inja", "const int j = BLOCK_Y;"), hash);
  EXPECT_EQ(hash_with("tile.inja", "SHARED float tile[64];"), hash);
  EXPECT_EQ(hash_with("new.inja", "{% include \"naive.inja\" %}"), hash);
}

}  // namespace
}  // namespace kiln
