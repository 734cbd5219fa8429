// Evidence: what is written is read back, and what strangers wrote does no harm.
// SPDX-License-Identifier: Apache-2.0
#include "db/evidence.hpp"

#include <string>

#include <gtest/gtest.h>

#include "db/close_configs.hpp"

namespace kiln {
namespace {

Evidence full() {
  Evidence evidence;
  evidence.objective = "energy";
  evidence.finalists = {{"tile:a=1", 3, {2, 4}, 3, 0.5, {0.25, 0.75}},
                        {"tile:a=2", 0, {}, {}, {}, {}}};
  evidence.rule = {0.01, 0.99};
  evidence.source = "0123456789abcdef";
  evidence.close = {{{"tile:a=1", 1, 32, 1024}, {"tile:a=2", 1.12346, -1, -1}}};
  evidence.first = std::vector<CloseConfig>();
  evidence.warm_start = {{{"tile:a=1", "the best of n=1 on this device"}}};
  evidence.earlier = {7, 12};
  evidence.rival = {"cublas 13.1.0", {5, 6}, {3, 4}, {7}, {2}, 2e-7, 1e-7, "faster"};
  evidence.time_use.emplace();
  double seconds = 0;
  visit_fields(*evidence.time_use, [&](const char*, auto& field) {
    seconds += 1;
    field = static_cast<std::remove_reference_t<decltype(field)>>(seconds);
  });
  return evidence;
}

TEST(Evidence, IsReadAsItWasWritten) {
  const std::string text = to_text(full());
  const Evidence read = read_evidence(text);
  EXPECT_EQ(to_text(read), text);
  EXPECT_EQ(read.finalists[0].value, 0.5);
  EXPECT_EQ(read.close->at(1).slowdown, 1.1235);
  EXPECT_EQ(read.close->at(1).registers, -1);
  EXPECT_TRUE(read.first && read.first->empty());
  EXPECT_EQ(read.time_use, full().time_use);
  EXPECT_EQ(read.rival->library, "cublas 13.1.0");
  EXPECT_EQ(read.rival->other_best_ns, std::vector<double>{2});
  EXPECT_EQ(read.rival->verdict, name_of(RivalVerdict::faster));
}

TEST(Evidence, LeavesOutWhatThereIsNot) {
  EXPECT_EQ(to_text(Evidence()), R"({"finalists":[]})");
  const Evidence read = read_evidence(R"({"finalists":[]})");
  EXPECT_FALSE(read.rule || read.close || read.warm_start || read.earlier || read.rival ||
               read.time_use);
}

TEST(Evidence, LeavesOutWhatCannotBeRead) {
  for (const char* text : {"", "[", "[]", "7", R"({"finalists":7,"close":{},"time_use":[]})"}) {
    EXPECT_EQ(to_text(read_evidence(text)), R"({"finalists":[]})") << text;
  }
  const Evidence read = read_evidence(
      R"({"finalists":[1,{"config":2},{"config":"a","samples_ns":["x"],"sequence":"y"}],)"
      R"("close":[{"config":"b","slowdown":"z"}],"time_use":{"search_s":"long","ask_s":2}})");
  ASSERT_EQ(read.finalists.size(), 1U);
  EXPECT_EQ(read.finalists[0].config, "a");
  EXPECT_EQ(read.finalists[0].sequence, 0);
  EXPECT_TRUE(read.close->empty()) << "without a slowdown it would be as fast as the best";
  EXPECT_EQ(read.time_use->search, 0);
  EXPECT_EQ(read.time_use->ask, 2);
}

TEST(Evidence, ReadsNoMoreThanARowShouldHold) {
  Evidence evidence;
  evidence.finalists.resize(kMaxListed + 1);
  EXPECT_EQ(read_evidence(to_text(evidence)).finalists.size(), kMaxListed);
}

}  // namespace
}  // namespace kiln
