// The command line of kiln_vs_peers.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/options.hpp"

#include <gtest/gtest.h>

namespace kiln::peers {
namespace {

struct Outcome {
  std::optional<Options> options;
  int exit_code = 0;
  std::string message;
};

Outcome read(std::vector<const char*> words) {
  words.insert(words.begin(), "kiln_vs_peers");
  Outcome outcome;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  outcome.options = read_options(static_cast<int>(words.size()), words.data(), outcome.exit_code);
  outcome.message = testing::internal::GetCapturedStderr();
  testing::internal::GetCapturedStdout();
  return outcome;
}

TEST(PeerOptions, HaveDefaults) {
  const Outcome outcome = read({"--problem", "reduce n=2^20"});
  ASSERT_TRUE(outcome.options);
  EXPECT_EQ(outcome.options->problems, std::vector<std::string>{"reduce n=2^20"});
  EXPECT_EQ(outcome.options->caches, std::vector<CacheMode>{CacheMode::cold});
  EXPECT_EQ(outcome.options->timing.samples, 50);
  EXPECT_FALSE(outcome.options->tune.seconds);
  EXPECT_FALSE(outcome.options->show);
}

TEST(PeerOptions, NameTheCacheMode) {
  EXPECT_EQ(read({"--warm"}).options->caches, std::vector<CacheMode>{CacheMode::warm});
  EXPECT_EQ(read({"--cache", "warm"}).options->caches, std::vector<CacheMode>{CacheMode::warm});
  EXPECT_EQ(read({"--cache", "both"}).options->caches,
            (std::vector<CacheMode>{CacheMode::cold, CacheMode::warm}));
  EXPECT_NE(read({"--cache", "both", "--warm"}).exit_code, 0);
  EXPECT_NE(read({"--cache", "hot"}).exit_code, 0);
}

TEST(PeerOptions, TuneIntoADatabase) {
  const Outcome outcome = read({"--db", "h100.db", "--seconds", "60", "--tune-only", "--kiln",
                                "/opt/kiln", "--tune-argument=--variant", "--tune-argument=mma"});
  ASSERT_TRUE(outcome.options) << outcome.message;
  const TuneOptions& tune = outcome.options->tune;
  EXPECT_EQ(tune.seconds, 60.0);
  EXPECT_TRUE(tune.only);
  EXPECT_EQ(tune.program, "/opt/kiln");
  EXPECT_EQ(tune.arguments, (std::vector<std::string>{"--variant", "mma"}));
}

TEST(PeerOptions, RefuseWhatDoesNotGoTogether) {
  EXPECT_EQ(read({"--seconds", "60"}).message.rfind("--seconds requires --db\n", 0), 0U);
  EXPECT_NE(read({"--db", "a.db", "--tune-only"}).exit_code, 0);
  EXPECT_NE(read({"--db", "a.db", "--seconds", "0"}).exit_code, 0);
  EXPECT_NE(read({"--samples", "0"}).exit_code, 0);
  EXPECT_NE(read({"--nonsense"}).exit_code, 0);
}

TEST(PeerOptions, EndWithHelp) {
  const Outcome outcome = read({"--help"});
  EXPECT_FALSE(outcome.options);
  EXPECT_EQ(outcome.exit_code, 0);
}

}  // namespace
}  // namespace kiln::peers
