// JSON forms: what is written reads back equal, and damage is an InputError.
// SPDX-License-Identifier: Apache-2.0
#include "core/json.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/artifact.hpp"
#include "core/field_json.hpp"
#include "core/json_line.hpp"
#include "core/setting.hpp"
#include "core/trial.hpp"
#include "tests/core/example_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::example_spec;

// Through text, as between processes.
Json sent(const Json& json) { return Json::parse(json.dump()); }

TEST(Json, ValuesKeepTheirType) {
  for (const Value& value :
       {Value(true), Value(std::int64_t{1}), Value(1.0), Value(0.1), Value(std::string("f32"))}) {
    EXPECT_EQ(value_from_json(sent(to_json(value))), value) << to_text(value);
  }
  EXPECT_THROW((void)value_from_json(Json::array()), InputError);
}

TEST(Json, ConfigsAndProblemsKeepTheirOrder) {
  const KernelSpec spec = example_spec();
  const DeviceInfo device = device_for_architecture("cuda", "sm_80");
  const Problem problem = Problem::parse(spec, "rows=5");
  const Config config = Setting(spec, problem, device).default_config();
  EXPECT_EQ(
      to_json(config).dump(),
      R"({"variant":"tile","tunables":{"tile_rows":32,"tile_cols":32,"padded":true,"pad":1}})");
  EXPECT_EQ(config_from_json(sent(to_json(config))), config);
  EXPECT_EQ(
      to_json(problem).dump(),
      R"({"rows":5,"cols":5,"dtype":"f32","order":"row","scale":1.0,"in_place":false,"map":"x"})");
}

TEST(Json, DevicesReadBackEqual) {
  const DeviceInfo device = device_for_architecture("hip", "gfx1030");
  EXPECT_EQ(device_from_json(sent(to_json(device))), device);
}

TEST(Json, DevicesOfAmdKeepCacheAndPartition) {
  DeviceInfo device = device_for_architecture("hip", "gfx942");
  device.partition = "SPX/NPS1";
  EXPECT_EQ(device.last_level_bytes, 256 << 20);
  EXPECT_EQ(device_from_json(sent(to_json(device))), device);
  Json older = to_json(device);
  older.erase("last_level_bytes");
  older.erase("partition");
  device.last_level_bytes = 0;
  device.partition.clear();
  EXPECT_EQ(device_from_json(older), device);
}

TEST(Json, DevicesOfOthersReadAsTheyAlwaysDid) {
  const Json json = to_json(device_for_architecture("cuda", "sm_90a"));
  EXPECT_EQ(json.size(), 29u);
  EXPECT_FALSE(json.contains("last_level_bytes"));
  EXPECT_FALSE(json.contains("partition"));
}

TEST(Json, TrialsReadBackEqual) {
  Trial trial;
  trial.config = {"naive", {{"block_x", std::int64_t{32}}}};
  trial.outcome = Outcome::wrong_result;
  trial.message = "out[3] is \xff, not 2";  // a byte that is no UTF-8
  trial.samples.ns = {1.5, 2.5};
  trial.samples.batch = 4;
  trial.cost.compile_ns = 7;
  trial.max_error = std::numeric_limits<double>::infinity();
  trial.registers = 40;
  trial.source_key = "abc";
  Trial read;
  read_field(sent(field_json(trial)), read);
  EXPECT_EQ(read.config, trial.config);
  EXPECT_EQ(read.outcome, Outcome::wrong_result);
  EXPECT_EQ(read.message, "out[3] is ?, not 2");
  EXPECT_EQ(read.samples.ns, trial.samples.ns);
  EXPECT_EQ(read.samples.batch, 4);
  EXPECT_EQ(read.cost.compile_ns, 7);
  EXPECT_TRUE(std::isinf(read.max_error));
  EXPECT_EQ(read.registers, 40);
  EXPECT_EQ(read.source_key, "abc");
}

TEST(Json, SourcesReadBackEqual) {
  const Source source{"a.cu", "int x;\n// \xc3\xa4", {"entry"}, true, {"-O3"}, {"a.inja:1", ""}};
  Source read;
  read_field(sent(field_json(source)), read);
  EXPECT_EQ(read, source);
}

TEST(Json, DamageIsAnInputErrorThatSaysWhatItWasFor) {
  Json json = to_json(Config{"naive", {}});
  json.erase("variant");
  const std::string error = test::error_of<InputError>([&] { return config_from_json(json); });
  EXPECT_EQ(error.find("malformed JSON of a config: "), 0u) << error;
  Trial trial;
  EXPECT_THROW(read_field(Json{{"outcome", "fine"}}, trial), Json::exception);
  EXPECT_THROW(read_field(Json("fine"), trial.outcome), InputError);
}

TEST(JsonLine, RefusesAKeyThatComesTwice) {
  EXPECT_EQ(parse_json_line(R"({"a": {"k": 1}, "b": [{"k": 1}, {"k": 2}], "k": 3})")["k"], 3);
  for (const char* line : {R"({"k": 1, "a": {"k": 2}, "k": 3})", R"({"a": [{"k": 1, "k": 1}]})"}) {
    EXPECT_THAT(test::error_of<InputError>([&] { return parse_json_line(line); }),
                testing::HasSubstr("(the key \"k\" is here a second time)"))
        << line;
  }
}

TEST(BinaryKey, FollowsEverythingThatShapesTheBinary) {
  const Source source{"a.cu", "text", {"entry"}, false, {"-O3"}, {}};
  const std::string key = binary_key(source, "cuda", "sm_80", "nvrtc 13.0");
  EXPECT_EQ(key.size(), 32u);
  Source other = source;
  other.options = {"-O", "3"};
  EXPECT_NE(binary_key(other, "cuda", "sm_80", "nvrtc 13.0"), key);
  EXPECT_NE(binary_key(source, "hip", "sm_80", "nvrtc 13.0"), key);
  EXPECT_NE(binary_key(source, "cuda", "sm_90a", "nvrtc 13.0"), key);
  EXPECT_NE(binary_key(source, "cuda", "sm_80", "nvrtc 12.9"), key);
  other = source;
  other.name = "renamed.cu";
  EXPECT_EQ(binary_key(other, "cuda", "sm_80", "nvrtc 13.0"), key);
}

}  // namespace
}  // namespace kiln
