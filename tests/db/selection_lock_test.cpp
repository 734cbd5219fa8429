// Selection locks: ranks with different drivers choose alike, and a lock that was tampered with
// says so.
// SPDX-License-Identifier: Apache-2.0
#include "db/selection_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/lookup.hpp"
#include "tests/db/scale.hpp"

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
    return lookup(spec_, Problem::parse(spec_, "n=8192"), device, rows)->config.text();
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

TEST_F(SelectionLock, WhatWasChangedOrIsNoLockIsRefused) {
  std::string text = write_selection_lock({{scale_best(spec_, "n=4096", 512)}});
  EXPECT_EQ(fault_of(text), "sound");
  EXPECT_THAT(fault_of(text + "\n"),
              StartsWith("job.lock:1: the lock was changed after it was made"));
  std::string edited = text;
  edited.replace(edited.find("\"block_size\":512"), 16, "\"block_size\":256");
  EXPECT_THAT(fault_of(edited), HasSubstr("make it anew with `kiln db lock`"));
  edited = text;
  edited.replace(edited.find("\"kiln_lock\":1"), 13, "\"kiln_lock\":2");
  EXPECT_EQ(fault_of(edited), "job.lock:1: a lock of version 2; this Kiln reads version 1");
  EXPECT_EQ(fault_of("{}"),
            "job.lock:1: key 'kiln_lock' is missing; expected a whole number of at least 0");
  EXPECT_THAT(fault_of(""), StartsWith("job.lock:1: this is no JSON"));
}

}  // namespace
}  // namespace kiln
