// Configs: canonical text, defaults with conditional tunables, and the check of every rule.
// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::example_spec;
using ::testing::HasSubstr;

class ConfigTest : public ::testing::Test {
 protected:
  Config parse(std::string_view text) { return Setting(spec_, problem_, device_).parse(text); }

  std::string parse_error(std::string_view text) {
    return test::error_of<InputError>([&] { return parse(text); });
  }

  // Why the config is illegal; empty when it is legal.
  std::string broken_rule(const Config& config) {
    const Status status = Setting(spec_, problem_, device_).check(config);
    if (status) return "";
    EXPECT_EQ(status.failure().outcome, Outcome::constraint);
    return status.failure().message;
  }

  KernelSpec spec_ = example_spec();
  Problem problem_ = Problem::parse(spec_, "rows=1000");
  DeviceInfo device_ = device_for_architecture("cuda", "sm_80");
};

TEST_F(ConfigTest, DefaultIsOfTheFirstPossibleVariant) {
  EXPECT_EQ(Setting(spec_, problem_, device_).default_config().text(),
            "tile:tile_rows=32,tile_cols=32,padded=true,pad=1");
  device_.max_threads_per_block = 128;
  EXPECT_EQ(Setting(spec_, problem_, device_).default_config().text(), "naive:block_x=32");
}

TEST_F(ConfigTest, NoPossibleVariantIsAnErrorWithEveryReason) {
  const KernelSpec spec =
      parse_spec(test::with("template = \"naive.inja\"",
                            "template = \"naive.inja\"\nrequires = \"backend == 'hip'\""),
                 "spec.toml");
  device_.max_shared_bytes = 1024;
  const std::string error = test::error_of<DeviceError>(
      [&] { return Setting(spec, problem_, device_).default_config(); });
  EXPECT_THAT(error, HasSubstr("no variant of transpose is possible for rows=1000"));
  EXPECT_THAT(error, HasSubstr("\n  tile: the tile must fit in shared memory (tile_bytes <= "
                               "device.max_shared_bytes: 4224 <= 1024 is false)"));
  EXPECT_THAT(error, HasSubstr("\n  naive: variant 'naive' is not possible here (backend == "
                               "'hip': backend is cuda)"));
}

TEST_F(ConfigTest, PartialTextTakesDefaults) {
  EXPECT_EQ(parse("tile:tile_cols=64").text(), "tile:tile_rows=32,tile_cols=64,padded=true,pad=1");
  EXPECT_EQ(parse("naive").text(), "naive:block_x=32");
  EXPECT_EQ(parse(""), Setting(spec_, problem_, device_).default_config());
  EXPECT_EQ(parse("default"), Setting(spec_, problem_, device_).default_config());
}

TEST_F(ConfigTest, ConditionalTunablesAreAbsentWhereTheyDoNotExist) {
  const Config config = parse("tile:padded=false");
  EXPECT_EQ(config.text(), "tile:tile_rows=32,tile_cols=32,padded=false");
  EXPECT_EQ(config.find("pad"), nullptr);
  EXPECT_EQ(broken_rule(config), "");
  EXPECT_EQ(parse_error("tile:padded=false,pad=2"),
            "tunable 'pad' does not exist here: padded is false with padded = false");
}

TEST_F(ConfigTest, TwoConfigsAreToldApartByWhatDiffers) {
  const Config config = parse("tile:tile_rows=64,pad=2");
  EXPECT_EQ(difference_text(config, parse("tile:pad=2")), "tile_rows=64 instead of 32");
  EXPECT_EQ(difference_text(config, parse("tile:padded=false")),
            "tile_rows=64 instead of 32, padded=true instead of false, pad=2");
  EXPECT_EQ(difference_text(parse("tile:padded=false"), parse("tile")),
            "padded=false instead of true, without pad");
  EXPECT_EQ(difference_text(config, config), "");
}

TEST_F(ConfigTest, OneSettingReadsEachTextAsIfItWereAlone) {
  const Setting setting(spec_, problem_, device_);
  const std::vector<std::string> texts = {"tile:padded=true,pad=4",
                                          "tile:padded=false,pad=2",
                                          "tile:padded=false",
                                          "no such config",
                                          "default",
                                          "naive:block_x=64",
                                          "tile:padded=false"};
  for (const std::string& text : texts) {
    std::string got;
    try {
      got = setting.parse(text).text();
    } catch (const InputError& error) {
      got = error.what();
    }
    EXPECT_EQ(got, parse_error(text).empty() ? parse(text).text() : parse_error(text)) << text;
  }
}

TEST_F(ConfigTest, CanonicalTextReadsBack) {
  for (const char* text : {"tile:tile_rows=64,tile_cols=16,padded=true,pad=4",
                           "tile:tile_rows=16,tile_cols=16,padded=false", "naive:block_x=64"}) {
    EXPECT_EQ(parse(text).text(), text);
  }
}

TEST_F(ConfigTest, AValueIsTheListedOneInEachSpelling) {
  const std::string text = parse("tile:tile_rows=64").text();
  EXPECT_EQ(parse("tile:tile_rows=64.0").text(), text);
  for (const char* truth : {"true", "True", "1", "1.0"}) {
    EXPECT_EQ(parse(std::string("tile:padded=") + truth).text(), parse("tile:padded=true").text());
  }
  EXPECT_EQ(parse("tile:padded=False").text(), parse("tile:padded=false").text());
}

TEST_F(ConfigTest, TextErrorsNameWhatMayStandThere) {
  EXPECT_EQ(parse_error("tiled:tile_rows=32"),
            "transpose has no variant 'tiled'; did you mean 'tile'? (it has: tile, naive)");
  EXPECT_EQ(parse_error("naive:block=32"),
            "variant 'naive' has no tunable 'block'; did you mean 'block_x'? (it has: block_x)");
  EXPECT_EQ(parse_error("naive:block_x=33"), "tunable 'block_x' must be one of 32, 64, not '33'");
  EXPECT_EQ(parse_error("naive:block_x"),
            "'block_x' in the config 'naive:block_x' is not of the form tunable=value");
  EXPECT_EQ(parse_error("naive:block_x=32,block_x=64"), "tunable 'block_x' is given twice");
}

TEST_F(ConfigTest, BrokenConstraintIsNamedWithItsNumbers) {
  EXPECT_EQ(broken_rule(parse("tile:tile_rows=128,tile_cols=128,padded=false")),
            "the tile must fit in shared memory (tile_bytes <= device.max_shared_bytes: 65536 <= "
            "49152 is false)");
  EXPECT_EQ(broken_rule(parse("tile:tile_rows=16,pad=4")),
            "wide padding is for large tiles (pad < 4 or tile_rows > 16 is false with pad = 4, "
            "tile_rows = 16)");
}

TEST_F(ConfigTest, RulesOverAbsentTunablesDoNotApply) {
  EXPECT_EQ(broken_rule(parse("tile:tile_rows=16,padded=false")), "");
}

TEST_F(ConfigTest, ConfigsFromElsewhereAreCheckedValueByValue) {
  EXPECT_EQ(broken_rule({"wgmma", {}}), "transpose has no variant 'wgmma'");
  EXPECT_EQ(broken_rule({"naive", {}}),
            "tunable 'block_x' of variant 'naive' has no value or stands out of order");
  EXPECT_EQ(broken_rule({"naive", {{"block_x", std::int64_t{48}}}}),
            "tunable 'block_x' cannot be 48 (it may be 32, 64)");
  EXPECT_EQ(broken_rule({"naive", {{"block_x", std::int64_t{32}}, {"extra", true}}}),
            "variant 'naive' has no tunable 'extra'");
  Config stray = parse("tile:padded=false");
  stray.values.emplace_back("pad", std::int64_t{1});
  EXPECT_EQ(broken_rule(stray),
            "tunable 'pad' does not exist here (padded is false with padded = false)");
}

TEST_F(ConfigTest, RequirementOfTheVariantIsCheckedFirst) {
  device_.max_threads_per_block = 128;
  EXPECT_EQ(
      broken_rule(parse("tile")),
      "variant 'tile' is not possible here (device.max_threads_per_block >= 256: 128 >= 256 is "
      "false)");
}

TEST_F(ConfigTest, ARuleWithoutAnAnswerIsABrokenRule) {
  spec_ = parse_spec(test::with("\"pad < 4 or tile_rows > 16\"", "\"tile_rows % (pad - 1) == 0\""),
                     "spec.toml");
  EXPECT_THAT(broken_rule(parse("tile:pad=1")), HasSubstr("zero"));
}

TEST_F(ConfigTest, ScopeHoldsTunablesAndDerivedValues) {
  const Scope scope = Setting(spec_, problem_, device_).scope(parse("tile:tile_rows=64"));
  EXPECT_EQ(*scope.find("tile_bytes"), Value(std::int64_t{64 * 33 * 4}));
  EXPECT_EQ(*scope.find("backend"), Value(std::string("cuda")));
  EXPECT_EQ(*scope.find("rows"), Value(std::int64_t{1000}));
}

}  // namespace
}  // namespace kiln
