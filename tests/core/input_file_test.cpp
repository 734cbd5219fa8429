// Files that somebody names: regular ones of a stated size, and a sentence at once for all others.
// SPDX-License-Identifier: Apache-2.0
#include "core/input_file.hpp"

#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch_folder.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr FileKind kKind = {"a plan file", 10};

std::string refusal(const fs::path& path) {
  try {
    return "read: " + read_input(path, kKind);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(InputFile, IsReadUpToItsLimit) {
  const ScratchFolder folder;
  const fs::path path = fs::path(folder.path()) / "plan";
  std::ofstream(path) << "0123456789";
  EXPECT_EQ(refusal(path), "read: 0123456789");
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_THAT(refusal(path),
              EndsWith("plan: holds more than 10 bytes, which is the most that is read; expected "
                       "a plan file"));
  fs::resize_file(path, std::uintmax_t{1} << 40);  // sparse: nothing of it is read
  EXPECT_THAT(refusal(path), HasSubstr("holds more than 10 bytes"));
}

TEST(InputFile, IsNothingThatHasNoEnd) {
  const ScratchFolder folder;
  const fs::path fifo = fs::path(folder.path()) / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo), EndsWith("is no regular file; expected a plan file"));
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is no regular file; expected a plan file");
  EXPECT_EQ(refusal("/proc/self/maps"),
            "/proc/self/maps: is made by the system while it is read; expected a plan file");
  EXPECT_THAT(refusal(folder.path()), EndsWith("is a folder; expected a plan file"));
  EXPECT_THAT(refusal("/nowhere"), HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace kiln
