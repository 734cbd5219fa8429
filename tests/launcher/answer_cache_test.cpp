// What lookups said, kept beside the binaries: found again for the same question alone.
// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/answer_cache.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/kiln.h>

#include "backends/backend.hpp"
#include "core/problem.hpp"
#include "db/store.hpp"
#include "templates/library.hpp"
#include "tests/launcher/command_output.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"

namespace kiln {
namespace {

using test::LauncherFolder;
using ::testing::StartsWith;

class Answers : public ::testing::Test {
 protected:
  [[nodiscard]] Problem problem(const std::string& text) const {
    return Problem::parse(spec_, text);
  }
  [[nodiscard]] Match match() const {
    Match match;
    match.config = {"tile",
                    {{"tile_rows", Value(std::int64_t{32})},
                     {"tile_cols", Value(std::int64_t{32})},
                     {"threads", Value(std::int64_t{256})},
                     {"pad", Value(std::int64_t{1})},
                     {"raster", Value(std::string("rows"))}}};
    match.grade = Grade::near_size;
    match.distance = 1.25;
    match.reason = "because";
    match.stale = true;
    return match;
  }

  LauncherFolder folder_;
  BinaryCache cache_{folder_ / "cache"};
  DeviceInfo device_ = device_for_architecture("cuda", "sm_90a");
  KernelSpec spec_ = KernelLibrary().load("transpose");
  AnswerCache answers_{&cache_, "build", device_};
};

TEST_F(Answers, AreFoundAgainAsTheyWere) {
  EXPECT_FALSE(answers_.find(spec_, problem("rows=64 cols=64"), "rows"));
  answers_.store(spec_, problem("rows=64 cols=64"), "rows", match());
  const std::optional<Match> found =
      AnswerCache(&cache_, "build", device_).find(spec_, problem("rows=64 cols=64"), "rows");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->config, match().config);
  EXPECT_EQ(found->grade, Grade::near_size);
  EXPECT_EQ(found->distance, 1.25);
  EXPECT_EQ(found->reason, "because");
  EXPECT_TRUE(found->stale);
}

TEST_F(Answers, AreThoseOfTheQuestionAlone) {
  answers_.store(spec_, problem("rows=64 cols=64"), "rows", match());
  EXPECT_FALSE(answers_.find(spec_, problem("rows=64 cols=65"), "rows"));
  EXPECT_FALSE(answers_.find(spec_, problem("rows=64 cols=64"), "other rows"));
  KernelSpec changed = spec_;
  changed.files.begin()->second += "// a line more\n";
  EXPECT_FALSE(answers_.find(changed, problem("rows=64 cols=64"), "rows"));
  DeviceInfo newer = device_;
  newer.driver = "999";
  EXPECT_FALSE(
      AnswerCache(&cache_, "build", newer).find(spec_, problem("rows=64 cols=64"), "rows"));
  EXPECT_FALSE(
      AnswerCache(&cache_, "another", device_).find(spec_, problem("rows=64 cols=64"), "rows"));
}

TEST_F(Answers, AreSharedByTheCardsOfAMachine) {
  answers_.store(spec_, problem("rows=64 cols=64"), "rows", match());
  DeviceInfo second = device_;
  second.ordinal = 1;
  EXPECT_TRUE(
      AnswerCache(&cache_, "build", second).find(spec_, problem("rows=64 cols=64"), "rows"));
}

TEST_F(Answers, MayHoldAnyText) {
  Match odd = match();
  odd.reason = "nearest problem tuned on \xff";
  answers_.store(spec_, problem("rows=64 cols=64"), "rows", odd);
  EXPECT_TRUE(answers_.find(spec_, problem("rows=64 cols=64"), "rows"));
  std::vector<BestRecord> rows(1);
  rows[0].device_info.name = "\xff";
  EXPECT_FALSE(digest_of(rows, false).empty());
}

TEST_F(Answers, ThatAreIllegalAreNone) {
  Match wrong = match();
  wrong.config.values.front().second = Value(std::int64_t{31});
  answers_.store(spec_, problem("rows=64 cols=64"), "rows", wrong);
  EXPECT_FALSE(answers_.find(spec_, problem("rows=64 cols=64"), "rows"));
}

TEST_F(Answers, OfAnUnknownBuildOrWithoutACacheAreNotKept) {
  for (const AnswerCache& nowhere :
       {AnswerCache(nullptr, "build", device_), AnswerCache(&cache_, "", device_)}) {
    nowhere.store(spec_, problem("rows=64 cols=64"), "rows", match());
    EXPECT_FALSE(nowhere.find(spec_, problem("rows=64 cols=64"), "rows"));
  }
}

/// A launcher of the library, and what its processes keep.
class KeptAnswers : public ::testing::Test {
 protected:
  KeptAnswers() { test::store_best(folder_ / "kiln.db", tuned_); }

  [[nodiscard]] Launcher::Match ask() const {
    return Launcher(folder_.options()).prepare("reduce", "n=10000").value().match();
  }
  /// Puts an answer in the place of the one that a lookup gives.
  void keep(const std::string& reason) const {
    const BinaryCache cache(folder_ / "cache");
    const auto* library = reinterpret_cast<const void*>(&kiln_abi_version);
    const KernelSpec spec = KernelLibrary().load("reduce");
    Match match;
    match.config = tuned_.config;
    match.config.values.front().second = Value(std::int64_t{128});
    match.reason = reason;
    const std::vector<BestRecord> rows = Store(folder_ / "kiln.db", Store::Mode::read).bests();
    AnswerCache(&cache, build_with(library), make_backend("opencl")->devices().at(0))
        .store(spec, Problem::parse(spec, "n=10000"), digest_of(rows, false), match);
  }

  const test::Tuned tuned_ = {
      "reduce",
      "n=5000 dtype=f32 op=sum map=x source=array",
      R"({"n": 5000, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})",
      {"ticket", {{"block_size", std::int64_t{64}}}}};
  const LauncherFolder folder_;
};

TEST_F(KeptAnswers, SpareTheNextProcessTheLookup) {
  const Launcher::Match looked_up = ask();
  EXPECT_EQ(looked_up.grade, Launcher::Grade::near_size);
  const Launcher::Match again = ask();
  EXPECT_EQ(again.config, looked_up.config);
  EXPECT_EQ(again.grade, looked_up.grade);
  EXPECT_EQ(again.distance, looked_up.distance);
  EXPECT_EQ(again.reason, looked_up.reason);
  EXPECT_EQ(again.stale, looked_up.stale);
  keep("it was kept");
  EXPECT_EQ(ask().reason, "it was kept");
  EXPECT_THAT(ask().config, StartsWith("ticket:block_size=128"));
}

TEST_F(KeptAnswers, AreForgottenWithTheRows) {
  keep("it was kept");
  EXPECT_EQ(ask().reason, "it was kept");
  test::Tuned nearer = tuned_;
  nearer.problem = "n=9000 dtype=f32 op=sum map=x source=array";
  nearer.problem_json =
      R"({"n": 9000, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})";
  test::store_best(folder_ / "kiln.db", nearer);
  EXPECT_THAT(ask().reason, ::testing::HasSubstr("n=9000"));
}

TEST_F(KeptAnswers, AreNotAskedWithoutACache) {
  keep("it was kept");
  Launcher::Options options = folder_.options();
  options.use_cache = false;
  EXPECT_NE(Launcher(options).prepare("reduce", "n=10000").value().match().reason, "it was kept");
}

TEST(DigestOfRows, FollowsEachRowAndWhetherShippedOnesCount) {
  std::vector<BestRecord> rows(2);
  rows[1].time_ns = 1;
  const std::string digest = digest_of(rows, false);
  EXPECT_EQ(digest_of(std::vector(rows), false), digest);
  EXPECT_NE(digest_of(rows, true), digest);
  EXPECT_NE(digest_of({}, false), digest);
  const auto differs = [&](auto&& change) {
    std::vector<BestRecord> other = rows;
    change(other[1]);
    return digest_of(other, false) != digest;
  };
  EXPECT_TRUE(differs([](BestRecord& row) { row.time_ns = 2; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.layer = 1; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.evidence = "{}"; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.config.variant = "tile"; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.problem_json = "{}"; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.template_hash = "1"; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.device_info.compute_units = 7; }));
  EXPECT_TRUE(differs([](BestRecord& row) { row.key.driver = "7"; }));
}

}  // namespace
}  // namespace kiln
