// What a compiler says of a config (registers, spills) decides when the config is measured. HIP on
// the CPU stands for the compiler and the device.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace kiln {
namespace {

class StaticFacts : public SessionTest {
 protected:
  void SetUp() override {
    ::setenv("KILN_HIP_LIBRARY", KILN_HIP_ON_CPU, /*replace=*/1);
    ::unsetenv("KILN_HIP_ROOT");
  }
  void TearDown() override { ::unsetenv("KILN_HIP_LIBRARY"); }
};

// The default config keeps the device busy until both others are compiled.
TEST_F(StaticFacts, AConfigThatSpillsMuchIsMeasuredLast) {
  const KernelSpec spec = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/spilling");
  TuneRequest asked{spec, Problem::parse(spec, "n=50000"), "hip", 0, request({}).options};
  asked.options.measure.stop.max_ns = 2e9;
  Store store(database(), Store::Mode::write);
  SessionObserver silent;
  const SessionResult result = tune(asked, store, silent);
  std::vector<std::string> order;
  std::vector<std::int64_t> spilled_bytes;
  for (const TrialRecord& record : store.trials(result.id)) {
    EXPECT_TRUE(record.trial.ok()) << record.trial.message;
    order.push_back(record.trial.config.text());
    spilled_bytes.push_back(record.trial.spill_bytes);
  }
  EXPECT_THAT(order,
              testing::ElementsAre("plain:spilled=0", "plain:spilled=1", "plain:spilled=200"));
  EXPECT_THAT(spilled_bytes, testing::ElementsAre(0, 4, 800));
}

}  // namespace
}  // namespace kiln
