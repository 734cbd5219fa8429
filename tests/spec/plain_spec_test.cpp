// Specs of plain sources, and groups of a spec.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "core/outside_reference.hpp"
#include "core/setting.hpp"
#include "core/spec.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::spec_error;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Specs with plain sources, options with holes and C functions: what they hold, and what is
// refused.

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
  EXPECT_FALSE(all.verify.outside->function->by_name);
  const KernelSpec named =
      parse_spec(plain_with("reference.c:copy(y, x, 2 * n)", "reference.py:copy"), "spec.toml");
  EXPECT_TRUE(named.verify.outside->function->by_name) << "Python knows what it takes";
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
      {"reference.c:copy", "reference.rs:copy",
       "spec.toml:20:13: [verify]: 'function' is 'reference.rs:copy(y, x, 2 * n)'; expected "
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

// [groups.NAME] and `use`: what variants share is written once, and read as if each had its own.

const char* const kHead = R"toml(name = "copy"
[problem.n]
type = "int"
[[arguments]]
name = "out"
access = "write"
dtype = "f32"
shape = ["n"]
[verify]
formulas = { out = "0" }
)toml";

const char* const kGroups = R"toml([groups.block.tunables.threads]
values = [64, 128, 256]
default = 128
doc = "threads per block"
[groups.block.derived]
blocks = "ceil_div(n, threads)"
[[groups.block.constraints]]
require = "threads <= device.max_threads_per_block"
because = "the block must fit"
[groups.loads.tunables]
unroll = { values = [1, 2, 4], default = 1 }
width = { values = [4, 16], default = 16 }
[groups.loads.derived]
tile = "threads * unroll"
[[groups.loads.workspace]]
name = "flags"
dtype = "u32"
count = "blocks"
[[groups.loads.steps]]
clear = "out"
)toml";

const char* const kSteps = R"toml([[variants.steps]]
entry = "copy"
grid = ["blocks"]
block = ["threads"]
arguments = ["out"]
)toml";

/// A spec of one variant: `use` as it stands in the brackets, `own` between its head and its steps.
std::string grouped(const std::string& use, const std::string& own = "") {
  return std::string(kHead) + kGroups +
         "[[variants]]\nname = \"wide\"\ntemplate = \"wide.inja\"\nuse = [" + use + "]\n" + own +
         kSteps;
}

template <typename Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.name);
  return names;
}

Variant only_variant(const std::string& text) {
  return parse_spec(text, "copy/spec.toml").variants.at(0);
}

/// The same with the groups written out in the variant: what must come of it.
Variant written_out() {
  std::string groups = kGroups;
  for (const std::string group : {"groups.block.", "groups.loads."}) {
    for (std::size_t at = groups.find(group); at != std::string::npos; at = groups.find(group))
      groups.replace(at, group.size(), "variants.");
  }
  const std::string derived = "[variants.derived]\ntile = \"threads * unroll\"\n";
  groups.erase(groups.find(derived), derived.size());
  const std::string blocks = "blocks = \"ceil_div(n, threads)\"\n";
  groups.insert(groups.find(blocks) + blocks.size(), "tile = \"threads * unroll\"\n");
  return only_variant(std::string(kHead) +
                      "[[variants]]\nname = \"wide\"\ntemplate = \"wide.inja\"\n" + groups +
                      kSteps);
}

TEST(SpecGroups, AreReadAsIfTheVariantHadThemItself) {
  const KernelSpec spec = parse_spec(grouped("\"block\", \"loads\""), "copy/spec.toml");
  const Variant& variant = spec.variants.at(0);
  EXPECT_THAT(names_of(variant.tunables), ElementsAre("threads", "unroll", "width"));
  EXPECT_THAT(names_of(variant.derived), ElementsAre("blocks", "tile"));
  EXPECT_THAT(names_of(variant.workspaces), ElementsAre("flags"));
  EXPECT_EQ(variant.constraints.at(0).because, "the block must fit");
  EXPECT_EQ(variant.steps.at(0).kind, StepKind::clear);
  EXPECT_EQ(variant.steps.at(1).entry.text(), "copy");
  const Variant own = written_out();
  EXPECT_EQ(names_of(own.tunables), names_of(variant.tunables));
  EXPECT_EQ(template_hash(spec, own), template_hash(spec, variant));
  EXPECT_EQ(launch_hash(spec, own), launch_hash(spec, variant));
}

TEST(SpecGroups, LetAVariantReplaceAPartInItsPlace) {
  const Variant variant = only_variant(grouped("\"block\", \"loads\"",
                                               "[variants.tunables.threads]\nvalues = [32, 128]\n"
                                               "[variants.derived]\nblocks = \"n // threads\"\n"));
  EXPECT_THAT(names_of(variant.tunables), ElementsAre("threads", "unroll", "width"));
  const Tunable& threads = variant.tunables.front();
  EXPECT_EQ(threads.values, (std::vector<Value>{std::int64_t{32}, std::int64_t{128}}));
  EXPECT_EQ(threads.fallback, Value(std::int64_t{128}));
  EXPECT_EQ(threads.doc, "threads per block");
  EXPECT_THAT(names_of(variant.derived), ElementsAre("blocks", "tile"));
  EXPECT_EQ(variant.derived.front().value.text(), "n // threads");
}

TEST(SpecGroups, StandWhereUseNamesThem) {
  const std::string own =
      "[variants.tunables.lanes]\nvalues = [1, 2]\ndefault = 1\n"
      "[variants.tunables.pad]\nvalues = [0, 1]\ndefault = 0\n"
      "[variants.derived]\nrows = \"lanes + pad\"\nlast = \"rows\"\n"
      "[[variants.constraints]]\nrequire = \"lanes < 3\"\nbecause = \"own\"\n";
  const Variant between = only_variant(grouped(R"("block", "lanes", "loads", "pad", "rows")", own));
  EXPECT_THAT(names_of(between.tunables),
              ElementsAre("threads", "lanes", "unroll", "width", "pad"));
  EXPECT_THAT(names_of(between.derived), ElementsAre("blocks", "tile", "rows", "last"));
  EXPECT_EQ(between.constraints.back().because, "own");
  const Variant first = only_variant(grouped(R"("own", "block", "loads")", own));
  EXPECT_THAT(names_of(first.tunables), ElementsAre("lanes", "pad", "threads", "unroll", "width"));
  EXPECT_THAT(names_of(first.derived), ElementsAre("rows", "last", "blocks", "tile"));
  EXPECT_EQ(first.constraints.front().because, "own");
}

TEST(SpecGroups, RefuseNamesThatMeanNothing) {
  EXPECT_THAT(spec_error(grouped("\"block\", \"load\"")),
              AllOf(StartsWith("spec.toml:34:18: "),
                    HasSubstr("[[variants]]: 'use': 'load' is no group, and no tunable or derived "
                              "value of the variant itself; did you mean 'loads'?")));
  EXPECT_THAT(spec_error(grouped("\"block\", \"loads\", \"block\"")),
              HasSubstr("'block' appears twice"));
  EXPECT_THAT(spec_error(grouped("1")), HasSubstr("'use' must be a list of strings"));
}

TEST(SpecGroups, RefuseAGroupThatNoVariantUses) {
  EXPECT_THAT(spec_error(grouped("\"block\"")),
              AllOf(StartsWith("spec.toml:20:9: "),
                    HasSubstr("[groups.loads]: no variant uses the group")));
}

TEST(SpecGroups, RefuseWhatAGroupCannotHold) {
  EXPECT_THAT(spec_error(std::string(kHead) + "[groups.block]\nrequires = \"true\"\n"),
              HasSubstr("unknown key 'requires' in [groups.block]"));
  EXPECT_THAT(spec_error(std::string(kHead) + "[groups.own.derived]\na = 1\n"),
              HasSubstr("[groups.own]: in 'use', 'own' means the variant's own parts"));
  EXPECT_THAT(spec_error(std::string(kHead) + "[[groups]]\n"),
              HasSubstr("the spec: 'groups' must be a table"));
}

TEST(SpecGroups, NameTheVariantWhereASharedExpressionDoesNotFitIt) {
  std::string text = grouped("\"block\", \"loads\"");
  text.replace(text.find("threads * unroll"), 16, "threads * lanes ");
  EXPECT_THAT(spec_error(text),
              AllOf(StartsWith("spec.toml:24:19: "),
                    HasSubstr("unknown name 'lanes' in derived 'tile' of variant 'wide'")));
}

TEST(SpecGroups, RefuseAPartThatTwoGroupsHave) {
  const std::string twice = std::string(kHead) +
                            "[groups.more.tunables.threads]\nvalues = [1]\n"
                            "default = 1\n" +
                            kGroups;
  EXPECT_THAT(spec_error(twice +
                         "[[variants]]\nname = \"wide\"\ntemplate = \"wide.inja\"\n"
                         "use = [\"block\", \"loads\", \"more\"]\n" +
                         kSteps),
              AllOf(StartsWith("spec.toml:11:"), HasSubstr("the name is already taken")));
}

TEST(SpecGroups, RefuseADefaultThatTheNewValuesLack) {
  EXPECT_THAT(spec_error(grouped("\"block\", \"loads\"",
                                 "[variants.tunables.threads]\nvalues = [32, 64]\n")),
              HasSubstr("the default 128 is not among the values 32, 64"));
}

}  // namespace
}  // namespace kiln
