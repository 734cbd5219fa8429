// Parts of a sweep for several hosts.
// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.hpp"

#include <fmt/format.h>

#include "db/store.hpp"
#include "kiln_program.hpp"
#include "templates/library.hpp"

namespace kiln::cli {
namespace {

std::string trouble(const std::string& text) {
  try {
    (void)parse_shard(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Shards, AreWrittenAsPartAndNumberOfParts) {
  EXPECT_EQ(parse_shard("3/8").index, 3U);
  EXPECT_EQ(parse_shard("3/8").count, 8U);
  EXPECT_EQ(parse_shard("1/1").count, 1U);
  EXPECT_EQ(trouble("9/8"),
            "--shard '9/8': expected a part and the number of parts, from 1/N to N/N");
  for (const char* text : {"", "3", "0/8", "3/", "/8", "3/8/9", "-1/8", "3 /8", "a/b", "0/0",
                           "1/99999999999999999999999"})
    EXPECT_NE(trouble(text), "") << text;
}

TEST(Shards, ContainEachProblemOnce) {
  constexpr std::uint64_t kCount = 8;
  const KernelSpec spec = KernelLibrary().load("transpose");
  std::vector<int> sizes(kCount, 0);
  for (int rows = 1; rows <= 400; ++rows) {
    const Problem problem = Problem::parse(spec, fmt::format("rows={},cols=32,dtype=f32", rows));
    int found = 0;
    for (std::uint64_t index = 1; index <= kCount; ++index) {
      const bool is_in = has({index, kCount}, spec, problem);
      found += is_in ? 1 : 0;
      sizes[index - 1] += is_in ? 1 : 0;
    }
    EXPECT_EQ(found, 1) << rows;
  }
  for (const int size : sizes) {
    EXPECT_GT(size, 25);
    EXPECT_LT(size, 75);
  }
}

class ShardedSweep : public TuningTest {};

TEST_F(ShardedSweep, MergesIntoTheWholePlan) {
  std::string plan =
      "name = \"shared\"\n[defaults]\ntrials = 2\n[[kernels]]\nkernel = \"" KILN_SOURCE_DIR
      "/tests/cli/kernels/scale\"\nproblems = [";
  for (int i = 0; i < 4; ++i) plan += fmt::format("\"n={}\", ", 100 + i);
  write("plan.toml", plan + "]\n");
  const auto sweep = [&](const std::string& shard, const std::string& database) {
    return kiln({"sweep", "plan.toml", "--device", "opencl", "--warm-cache", "--shard", shard,
                 "--compile-workers", "1", "--quiet", "--db", database});
  };
  for (const char* part : {"1", "2", "3"}) {
    const Output output = sweep(std::string(part) + "/3", std::string(part) + ".db");
    EXPECT_EQ(output.exit_code, 0) << output.err;
  }
  ASSERT_EQ(kiln("db merge --into all.db 1.db 2.db 3.db").exit_code, 0);
  const Store merged(folder_ / "all.db", Store::Mode::read);
  EXPECT_EQ(merged.bests("scale").size(), 4U);
  EXPECT_EQ(merged.sessions().size(), 4U);
}

TEST_F(ShardedSweep, WithoutAProblemSaysSo) {
  write("plan.toml", "name = \"one\"\n[[kernels]]\nkernel = \"" KILN_SOURCE_DIR
                     "/tests/cli/kernels/scale\"\nproblems = [\"n=100\"]\n");
  int empty = 0;
  std::string empty_shard;
  for (const char* shard : {"1/2", "2/2"}) {
    const Output output = kiln({"sweep", "plan.toml", "--device", "opencl", "--shard", shard,
                                "--trials", "2", "--quiet", "--db", "kiln.db"});
    EXPECT_EQ(output.exit_code, 0) << output.err;
    if (output.out != fmt::format("shard {} has no session of this plan\n", shard)) continue;
    ++empty;
    empty_shard = shard;
  }
  EXPECT_EQ(empty, 1);
  EXPECT_EQ(kiln({"sweep", "plan.toml", "--shard", empty_shard, "--db", "empty.db"}).exit_code, 0);
  EXPECT_EQ(kiln("db check empty.db").out, "empty.db: sound\n") << "it can be merged";
  EXPECT_EQ(kiln("sweep plan.toml --shard 0/2").exit_code, 2);
}

}  // namespace
}  // namespace kiln::cli
