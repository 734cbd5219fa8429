// The lookup chain, told as a story: a database fills up around one device, and a kernel asks it.
// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "tests/db/scratch.hpp"

namespace kiln {
namespace {

using test::some_device;
using ::testing::ElementsAre;

constexpr const char* kSpec = R"toml(
name = "scale"
summary = "out[i] = 2 * source[i * stride]"

[problem.n]
type = "int"
min = 1
[problem.dtype]
type = "dtype"
values = ["f32", "f64"]
default = "f32"
specialize = true
[problem.stride]
type = "int"
default = 1
weight = 0

[[arguments]]
name = "source"
access = "read"
shape = ["n * stride"]
dtype = "dtype"
[[arguments]]
name = "out"
access = "write"
shape = ["n"]
dtype = "dtype"

[verify.formulas]
out = "2 * source"

[[variants]]
name = "vector"
summary = "one load of several elements"
template = "vector.inja"
[variants.tunables.block_size]
values = [64, 128, 256, 512, 1024]
default = 64
[[variants.constraints]]
require = "block_size <= n"
because = "a block must have work"
[[variants.constraints]]
require = "block_size <= device.max_threads_per_block"
because = "the device runs no larger block"
[[variants.steps]]
entry = "scale"
grid = ["ceil_div(n, block_size)"]
block = ["block_size"]
arguments = ["source", "out"]
)toml";

class Lookup : public ::testing::Test {
 protected:
  Lookup() { spec_.files["vector.inja"] = "the template"; }

  BestRecord tuned(const std::string& problem_text, std::int64_t block_size,
                   const DeviceInfo& device = some_device()) {
    const Problem problem = Problem::parse(spec_, problem_text);
    BestRecord best = test::some_best(block_size);
    best.session = ++sessions_;
    best.key = test::some_session(problem.text()).key;
    best.key.device = identity_of(device);
    best.key.driver = device.driver;
    best.key.compiler = device.compiler;
    best.device_info = device;
    best.problem_json = to_json(problem).dump();
    best.template_hash = template_hash(spec_, spec_.variants[0]);
    return best;
  }

  Match ask(const std::string& problem_text, const std::vector<BestRecord>& bests,
            const DeviceInfo& device = some_device()) {
    Result<Match> match = lookup(spec_, Problem::parse(spec_, problem_text), device, bests);
    EXPECT_TRUE(match) << match.failure().message;
    return *match;
  }

  static DeviceInfo sibling() {
    DeviceInfo device = some_device();
    device.name = "Test GPU NVL";
    return device;
  }
  static DeviceInfo cousin() {
    DeviceInfo device = some_device();
    device.name = "Older GPU";
    device.architecture = "sm_80";
    device.compute_capability = 80;
    return device;
  }
  static DeviceInfo stranger() {
    DeviceInfo device = some_device();
    device.name = "Other GPU";
    device.vendor = "other";
    device.architecture = "x100";
    return device;
  }

  KernelSpec spec_ = parse_spec(kSpec, "scale/spec.toml");
  SessionId sessions_ = 0;
};

TEST_F(Lookup, AnEmptyDatabaseAnswersWithTheDefault) {
  const Match match = ask("n=4096", {});
  EXPECT_EQ(match.grade, Grade::fallback);
  EXPECT_EQ(name_of(match.grade), "default");
  EXPECT_EQ(match.config.text(), "vector:block_size=64");
  EXPECT_EQ(match.distance, 0);
  EXPECT_FALSE(match.stale);
  EXPECT_FALSE(match.best);
  EXPECT_EQ(match.reason,
            "nothing tuned for this kernel on a device like this one: the spec's default config");
  EXPECT_THAT(match.steps, ElementsAre("default: vector:block_size=64: chosen"));
}

TEST_F(Lookup, WalksFromTheSameProblemToTheSameVendor) {
  const BestRecord exact = tuned("n=4096", 512);
  const BestRecord near = tuned("n=2048", 256);
  const BestRecord far = tuned("n=1048576", 1024);
  const BestRecord same_arch = tuned("n=4096", 128, sibling());
  const BestRecord same_vendor = tuned("n=4096", 256, cousin());
  const BestRecord unrelated = tuned("n=4096", 1024, stranger());

  std::vector<BestRecord> all = {unrelated, same_vendor, same_arch, far, near, exact};
  Match match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::exact);
  EXPECT_EQ(match.config.text(), "vector:block_size=512");
  EXPECT_EQ(match.distance, 0);
  EXPECT_EQ(match.reason, "tuned for this problem on this device (Test GPU)");
  EXPECT_EQ(match.best->session, exact.session);

  all.pop_back();
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.config.text(), "vector:block_size=256");
  EXPECT_DOUBLE_EQ(match.distance, 1);
  EXPECT_EQ(match.reason, "nearest problem tuned on this device: n=2048 (distance 1)");

  all.pop_back();
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_DOUBLE_EQ(match.distance, 8);
  EXPECT_EQ(match.reason, "nearest problem tuned on this device: n=1048576 (distance 8)");

  all.pop_back();
  match = ask("n=8192", all);
  EXPECT_EQ(match.grade, Grade::same_arch);
  EXPECT_EQ(match.reason,
            "nearest problem tuned on another device of architecture sm_90a (Test GPU NVL): n=4096 "
            "(distance 1)");

  all.pop_back();
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::same_vendor);
  EXPECT_EQ(match.reason,
            "nearest problem tuned on another device of nvidia (Older GPU): n=4096 (distance 0)");

  all.pop_back();
  match = ask("n=4096", all);
  EXPECT_EQ(match.grade, Grade::fallback);
}

TEST_F(Lookup, AnotherElementTypeOrBackendIsNoNeighbour) {
  DeviceInfo through_opencl = some_device();
  through_opencl.backend = "opencl";
  EXPECT_EQ(ask("n=4096 dtype=f64", {tuned("n=4096", 512)}).grade, Grade::fallback);
  EXPECT_EQ(ask("n=4096", {tuned("n=4096", 512, through_opencl)}).grade, Grade::fallback);
}

TEST_F(Lookup, AFieldWithoutWeightIsNearButNotExact) {
  const Match match = ask("n=4096 stride=2", {tuned("n=4096", 512)});
  EXPECT_EQ(match.grade, Grade::near_size);
  EXPECT_EQ(match.distance, 0);
}

TEST_F(Lookup, AFreshRowGoesBeforeANearerStaleOne) {
  BestRecord old_driver = tuned("n=4096", 512);
  old_driver.key.driver = "550.1";
  Match match = ask("n=4096", {old_driver});
  EXPECT_TRUE(match.stale);
  EXPECT_EQ(match.grade, Grade::exact);
  EXPECT_EQ(match.reason,
            "tuned for this problem on this device (Test GPU); stale: driver 550.1 is now 580.10");

  BestRecord old_everything = tuned("n=2048", 256);
  old_everything.key.driver = "550.1";
  old_everything.key.compiler = "nvrtc 12.4";
  old_everything.template_hash = "0000000000000000";
  match = ask("n=4096", {old_everything});
  EXPECT_EQ(match.reason,
            "nearest problem tuned on this device: n=2048 (distance 1); stale: driver 550.1 is now "
            "580.10, compiler "
            "nvrtc 12.4 is now nvrtc 13.0, the template of 'vector' has changed");

  match = ask("n=4096", {old_everything, tuned("n=1024", 128)});
  EXPECT_FALSE(match.stale);
  EXPECT_EQ(match.config.text(), "vector:block_size=128");
}

TEST_F(Lookup, ALayerThatComesFirstWinsATie) {
  BestRecord user = tuned("n=4096", 512);
  BestRecord shipped = tuned("n=4096", 128);
  EXPECT_EQ(ask("n=4096", {user, shipped}).config.text(), "vector:block_size=512");
  EXPECT_EQ(ask("n=4096", {shipped, user}).config.text(), "vector:block_size=128");
}

TEST_F(Lookup, ACandidateIllegalHereIsPassedOverAndSaidSo) {
  const Match match = ask("n=300", {tuned("n=512", 512), tuned("n=4096", 256)});
  EXPECT_EQ(match.config.text(), "vector:block_size=256");
  ASSERT_EQ(match.steps.size(), 2U);
  EXPECT_THAT(
      match.steps[0],
      ::testing::StartsWith("near_size: vector:block_size=512 from session 1: passed over: "));
  EXPECT_THAT(match.steps[0], ::testing::HasSubstr("a block must have work"));
  EXPECT_EQ(match.steps[1], "near_size: vector:block_size=256 from session 2: chosen");
}

TEST_F(Lookup, WhenEveryCandidateIsIllegalTheDefaultSaysSo) {
  BestRecord gone = tuned("n=4096", 256);
  gone.config.variant = "removed";
  BestRecord out_of_range = tuned("n=4096", 256);
  out_of_range.config.values = {{"block_size", std::int64_t{96}}};
  const Match match = ask("n=100", {tuned("n=512", 512), gone, out_of_range});
  EXPECT_EQ(match.grade, Grade::fallback);
  EXPECT_EQ(match.reason,
            "no tuned config is legal for this problem on this device: the spec's default config");
  EXPECT_EQ(match.steps.size(), 4U);
}

TEST_F(Lookup, ARowOfASpecWithoutATunableTakesItsDefault) {
  BestRecord older = tuned("n=4096", 256);
  older.config.values.clear();
  EXPECT_EQ(ask("n=4096", {older}).config.text(), "vector:block_size=64");
}

TEST_F(Lookup, RowsOfOtherSpecsAndBrokenRowsAreNotCandidates) {
  BestRecord other_kernel = tuned("n=4096", 256);
  other_kernel.key.kernel = "transpose";
  BestRecord unknown_field = tuned("n=4096", 256);
  unknown_field.problem_json = R"({"m": 3})";
  BestRecord broken = tuned("n=4096", 256);
  broken.problem_json = "{";
  BestRecord nothing_ok = tuned("n=4096", 256);
  nothing_ok.verdict = Verdict::none;
  const Match match = ask("n=4096", {other_kernel, unknown_field, broken, nothing_ok});
  EXPECT_EQ(match.grade, Grade::fallback);
  EXPECT_EQ(match.steps.size(), 1U);
}

TEST_F(Lookup, FailsOnlyWhereNoConfigIsLegal) {
  const Result<Match> match = lookup(spec_, Problem::parse(spec_, "n=32"), some_device(), {});
  ASSERT_FALSE(match);
  EXPECT_EQ(match.failure().outcome, Outcome::constraint);
  EXPECT_THAT(match.failure().message, ::testing::HasSubstr("a block must have work"));
}

}  // namespace
}  // namespace kiln
