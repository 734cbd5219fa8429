// Selection locks: ranks with different drivers choose alike, and a lock that was tampered with
// says so.
// SPDX-License-Identifier: Apache-2.0
#include "wisdom/selection_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/close_configs.hpp"
#include "lookup/lookup.hpp"
#include "tests/db/scale.hpp"
#include "wisdom/shipped.hpp"

namespace kiln {
namespace {

using test::scale_best;
using test::some_device;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SelectionLock : public ::testing::Test {
 protected:
  static std::string fault_of(const std::string& text) {
    try {
      (void)read_selection_lock(text, "job.lock");
    } catch (const InputError& error) {
      return error.what();
    }
    return "sound";
  }

  std::string chosen(const std::vector<BestRecord>& rows, const std::string& driver) const {
    DeviceInfo device = some_device();
    device.driver = driver;
    return lookup({spec_, Problem::parse(spec_, "n=8192"), device}, rows)->config.text();
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(SelectionLock, RanksWithDifferentDriversChooseAlike) {
  BestRecord old_driver = scale_best(spec_, "n=4096", 512);
  old_driver.key.driver = "550.1";
  const std::vector<BestRecord> rows = {old_driver, scale_best(spec_, "n=16800", 128)};
  EXPECT_NE(chosen(rows, "550.1"), chosen(rows, "580.10")) << "what the lock is for";
  const std::vector<BestRecord> locked =
      read_selection_lock(write_selection_lock(rows), "job.lock");
  ASSERT_EQ(locked.size(), 2U);
  EXPECT_EQ(chosen(locked, "550.1"), "vector:block_size=512");
  EXPECT_EQ(chosen(locked, "580.10"), "vector:block_size=512");
}

TEST_F(SelectionLock, EqualDatabasesGiveEqualLocks) {
  const BestRecord one = scale_best(spec_, "n=4096", 512);
  const BestRecord two = scale_best(spec_, "n=64", 64);
  EXPECT_EQ(write_selection_lock({{one, two}}), write_selection_lock({{two, one}}));
}

TEST_F(SelectionLock, HoldsWhatCanBeChosenWithoutItsSamples) {
  BestRecord best = scale_best(spec_, "n=4096", 512);
  std::string samples = "1";
  for (int i = 0; i < 10'000; ++i) samples += ",1";
  best.evidence =
      R"({"finalists":[{"config":"vector:block_size=512","median_ns":2,"samples_ns":[)" + samples +
      R"(]}],"close":[{"config":"vector:block_size=64","slowdown":1.5}]})";
  const std::string text = write_selection_lock({{best}});
  EXPECT_LT(text.size(), 4000U);
  const std::vector<BestRecord> locked = read_selection_lock(text, "job.lock");
  ASSERT_EQ(locked.size(), 1U);
  EXPECT_EQ(close_configs(locked[0]).size(), 2U);
  EXPECT_EQ(close_configs(locked[0])[1].slowdown, 1.5);
}

TEST_F(SelectionLock, NamesTheShippedRowsByTheirHash) {
  const BestRecord best = scale_best(spec_, "n=4096", 512);
  const std::string text = write_selection_lock({{best}}, {true, {}});
  EXPECT_LT(text.size(), 4000U);
  const std::vector<BestRecord> locked = read_selection_lock(text, "job.lock");
  std::size_t shipped = 0;
  for (const std::string& kernel : shipped_kernels()) shipped += shipped_bests(kernel).size();
  EXPECT_GT(shipped, 0U);
  EXPECT_EQ(locked.size(), 1 + shipped);
  for (const BestRecord& row : locked) EXPECT_EQ(row.layer, kLockedLayer);
  const std::string of_another = write_selection_lock({{best}}, {true, {"cuda/nvidia/none/sm_1"}});
  EXPECT_EQ(read_selection_lock(of_another, "job.lock").size(), 1U);
  std::string edited = text;
  edited.replace(edited.find(shipped_hash()), 4, "0000");
  EXPECT_THAT(fault_of(edited), HasSubstr("made with the shipped rows of another Kiln"));
}

TEST_F(SelectionLock, WhatWasChangedOrIsNoLockIsRefused) {
  std::string text = write_selection_lock({{scale_best(spec_, "n=4096", 512)}});
  EXPECT_EQ(fault_of(text), "sound");
  EXPECT_THAT(fault_of(text + "\n"),
              StartsWith("job.lock:1: the lock was changed after it was made"));
  std::string edited = text;
  edited.replace(edited.find("\"block_size\":512"), 16, "\"block_size\":256");
  EXPECT_THAT(fault_of(edited), HasSubstr("make it anew with `kiln db lock`"));
  edited = text;
  edited.replace(edited.find("\"kiln_lock\":1"), 13, "\"kiln_lock\":3");
  EXPECT_EQ(fault_of(edited), "job.lock:1: a lock of version 3; this Kiln reads versions 1 and 2");
  EXPECT_EQ(fault_of("{}"),
            "job.lock:1: key 'kiln_lock' is missing; expected a whole number of at least 0");
  EXPECT_THAT(fault_of(""), StartsWith("job.lock:1: this is no JSON"));
}

}  // namespace
}  // namespace kiln
