// [groups.NAME] and `use`: what variants share is written once, and read as if each had its own.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
