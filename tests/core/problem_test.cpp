// Problems: read from text, filled with defaults, checked, compared.
// SPDX-License-Identifier: Apache-2.0
#include "core/problem.hpp"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/problem_distance.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::example_spec;
using test::with;
using ::testing::HasSubstr;

// The example with [[distance]], which leaves no weights to the fields.
KernelSpec example_spec_with_distance(const std::string& terms) {
  std::string text = with("[verify]", terms + "[verify]");
  const std::string weight = "weight = 0.5\n";
  text.erase(text.find(weight), weight.size());
  return parse_spec(text, "spec.toml");
}

Problem parse(std::string_view text) { return Problem::parse(example_spec(), text); }

std::string error_of(const KernelSpec& spec, std::string_view text) {
  return test::error_of<InputError>([&] { return Problem::parse(spec, text); });
}

std::string error_of(std::string_view text) { return error_of(example_spec(), text); }

TEST(Problem, FillsDefaultsInTheOrderOfTheSpec) {
  const Problem problem = parse("dtype=f64, rows=100");
  EXPECT_EQ(problem.text(), "rows=100 cols=100 dtype=f64 order=row scale=1.0 in_place=false map=x");
  EXPECT_EQ(problem.short_text(example_spec()), "rows=100 dtype=f64");
  EXPECT_EQ(problem.integer("cols"), 100);
  EXPECT_EQ(problem.text_of("scale"), "1.0");
  EXPECT_THROW((void)problem.at("depth"), std::out_of_range);
}

TEST(Problem, ReadsSizesAsPeopleWriteThem) {
  EXPECT_EQ(parse("rows=1e5").integer("rows"), 100000);
  EXPECT_EQ(parse("rows=2^10").integer("rows"), 1024);
  EXPECT_EQ(parse("rows=64Ki").integer("rows"), 65536);
  EXPECT_EQ(parse("rows=2Gi cols=1").integer("rows"), 2147483648);
  EXPECT_EQ(parse("rows=0.5Mi").integer("rows"), 524288);
}

TEST(Problem, ReadsAValueInEachSpelling) {
  const KernelSpec spec = example_spec();
  EXPECT_EQ(Problem::parse(spec, "rows=8.0").text(), Problem::parse(spec, "rows=8").text());
  for (const char* truth : {"True", "1", "1.0"}) {
    EXPECT_EQ(Problem::parse(spec, std::string("rows=8,in_place=") + truth).text(),
              Problem::parse(spec, "rows=8,in_place=true").text());
  }
}

TEST(Problem, RefusesSizesThatAreNone) {
  const std::string expected =
      "problem field 'rows' of transpose must be an integer of at least 1, not '";
  for (const std::string text : {"0", "-4"}) {
    EXPECT_EQ(error_of("rows=" + text), expected + text + "'");
  }
  for (const std::string text :
       {"2^99", "2^-1", "1.5", "ten", "1M", "1e99", "Ki", "2^x", "99999999999999999999"}) {
    EXPECT_EQ(error_of("rows=" + text),
              expected + text + "'; integers are below 2^63 and read as 4096, 2^12, 4e3 or 4Ki");
  }
  EXPECT_EQ(
      error_of("rows=1,cols=1000001"),
      "problem field 'cols' of transpose must be an integer from 1 to 1000000, not '1000001'");
}

TEST(Problem, CanonicalTextReadsBackAsTheSameProblem) {
  for (const std::string text :
       {"rows=7", "rows=7 map='x * x + 1'", "rows=3,scale=0.1,in_place=true", "rows=2 order=column",
        "rows=1 map=\"x if x > 0 else -x\""}) {
    const Problem problem = parse(text);
    EXPECT_EQ(parse(problem.text()), problem) << text;
    EXPECT_EQ(parse(problem.short_text(example_spec())), problem) << text;
  }
}

TEST(Problem, NamesAllMissingFieldsAtOnce) {
  const KernelSpec spec = parse_spec(with("default = \"rows\"\n", ""), "spec.toml");
  EXPECT_EQ(
      error_of(spec, "dtype=f32"),
      "problem fields of transpose are missing: 'rows' (an integer of at least 1), 'cols' (an "
      "integer from 1 to 1000000)");
}

TEST(Problem, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(error_of("cols=3"),
            "problem field 'rows' of transpose is missing: an integer of at least 1");
  EXPECT_EQ(
      error_of("rows=3,colls=3"),
      "transpose has no problem field 'colls'; did you mean 'cols'? (it has: rows, cols, dtype, "
      "order, scale, in_place, map)");
  EXPECT_EQ(error_of("rows=3,rows=4"), "problem field 'rows' is given twice");
  for (const std::string text : {"rows", "rows = 3"}) {
    EXPECT_EQ(error_of(text),
              "'rows' in the problem is not of the form name=value, without spaces");
  }
  EXPECT_EQ(error_of("rows="),
            "problem field 'rows' has no value: expected rows=VALUE, without spaces");
  EXPECT_EQ(error_of("rows=1 map='x"), "the quote after 'map=' in the problem is never closed");
  EXPECT_EQ(error_of("rows=1,dtype=f99"),
            "problem field 'dtype' of transpose must be one of u8, f16, f32, f64, not 'f99'");
  EXPECT_EQ(error_of("rows=1,in_place=2"),
            "problem field 'in_place' of transpose must be true or false, not '2'");
  EXPECT_EQ(error_of("rows=1,scale=much"),
            "problem field 'scale' of transpose must be a number, not 'much'");
}

TEST(Problem, RefusesFormulasOverUndeclaredNames) {
  const std::string error = error_of("rows=1 map='x + y'");
  EXPECT_EQ(error.find("problem field 'map' of transpose: in the formula 'x + y', "), 0u) << error;
  EXPECT_THAT(error, HasSubstr("'y'"));
}

TEST(Problem, RefusesWhatARuleForbidsWithItsReason) {
  EXPECT_EQ(error_of("rows=3,cols=4,in_place=true"),
            "this problem of transpose is refused: only square matrices can be transposed in place "
            "(not in_place or rows == cols is false with in_place = true, rows = 3, cols = 4)");
}

TEST(Problem, IsMadeFromValuesToo) {
  const KernelSpec spec = example_spec();
  const Problem problem = Problem::make(spec, {{"rows", 8.0}, {"scale", std::int64_t{2}}});
  EXPECT_EQ(problem, Problem::parse(spec, "rows=8,scale=2"));
  EXPECT_THROW((void)Problem::make(spec, {{"rows", std::string("8")}}), InputError);
}

TEST(Problem, AddsFieldsAndDerivedValuesToAScope) {
  Scope scope;
  parse("rows=8,dtype=f16").add_to_scope(example_spec(), scope);
  EXPECT_EQ(*scope.find("matrix_bytes"), Value(std::int64_t{128}));
  EXPECT_EQ(*scope.find("order"), Value(std::string("row")));
}

double between(const KernelSpec& spec, const char* a, const char* b) {
  return size_distance(spec, Problem::parse(spec, a), Problem::parse(spec, b));
}

TEST(Distance, AddsWeightedLogRatios) {
  const KernelSpec spec = example_spec();
  EXPECT_EQ(between(spec, "rows=64", "rows=64"), 0.0);
  EXPECT_DOUBLE_EQ(between(spec, "rows=64,cols=1", "rows=256,cols=1"), 2.0);
  EXPECT_DOUBLE_EQ(between(spec, "rows=8,cols=8", "rows=64,cols=128"), 5.0);  // 3 and 4
  EXPECT_DOUBLE_EQ(between(spec, "rows=1,scale=1", "rows=1,scale=4"), 1.0);   // weight 0.5
}

TEST(Distance, IsDefinedForZeroAndNegativeValues) {
  const KernelSpec spec = example_spec();
  EXPECT_DOUBLE_EQ(between(spec, "rows=1,scale=0", "rows=1,scale=1"), 0.5);
  EXPECT_DOUBLE_EQ(between(spec, "rows=1,scale=-1", "rows=1,scale=1"), 1.0);
}

TEST(Distance, IsThatOfTheTermsWhereASpecHasThem) {
  const KernelSpec spec = example_spec_with_distance(
      "[[distance]]\nof = \"min(rows, 64)\"\n"
      "[[distance]]\nof = \"matrix_bytes\"\nweight = 0.25\n");
  EXPECT_DOUBLE_EQ(between(spec, "rows=64,cols=128", "rows=128,cols=64"), 0);
  EXPECT_DOUBLE_EQ(between(spec, "rows=64,cols=64", "rows=256,cols=64"), 0.5);
  EXPECT_DOUBLE_EQ(between(spec, "rows=8,cols=64", "rows=64,cols=128"), std::hypot(1, 3));
  EXPECT_DOUBLE_EQ(between(spec, "rows=8,scale=1", "rows=8,scale=4"), 0) << "no term names it";
}

TEST(Distance, NeedsANumberOfEachTerm) {
  const KernelSpec divides =
      example_spec_with_distance("[[distance]]\nof = \"64 // (rows - 8)\"\n");
  EXPECT_EQ(between(divides, "rows=9", "rows=10"), 1);
  EXPECT_THAT(error_of(divides, "rows=8"), HasSubstr("division by zero, in '64 // (rows - 8)'"));
  const KernelSpec text = example_spec_with_distance("[[distance]]\nof = \"order\"\n");
  EXPECT_THAT(error_of(text, "rows=9"), HasSubstr("in 'order'"));
}

}  // namespace
}  // namespace kiln
