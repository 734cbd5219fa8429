// libkiln_blas.so preloaded in front of programs that call a stand-in for cuBLAS: every call
// reaches the library that the program was linked with, with its arguments and its status.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

/// What the shell says to the command, both outputs together.
std::string said(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
  const int status = ::pclose(pipe);
  if (status != 0) text += "exit status " + std::to_string(WEXITSTATUS(status));
  return text;
}

// 2 * A * B + C / 2, the elements between the columns as they were.
constexpr const char* kRight = "0 1: 27 33 -1 43 53 -1; 2 calls\n";

const std::string kPreload = std::string("LD_PRELOAD=") + KILN_BLAS_LIBRARY;
const std::string kStub = std::string(" KILN_CUDA_LIBRARY=") + KILN_CUDA_STUB;
const std::string kLoaded = std::string(" ") + KILN_BLAS_PROGRAM + " " + KILN_BLAS_PLUGIN;

class Interception : public ::testing::Test {
 protected:
  [[nodiscard]] std::string database() const { return " KILN_DB=" + (folder_ / "k.db").string(); }
  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(Interception, TheProgramAloneIsRight) { EXPECT_EQ(said(kLoaded), kRight); }

TEST_F(Interception, ForwardsFromALibraryThatWasLoadedLocally) {
  EXPECT_EQ(said(kPreload + kStub + database() + " KILN_BLAS=quiet" + kLoaded), kRight);
}

TEST_F(Interception, ForwardsFromAProgramThatIsLinkedWithIt) {
  EXPECT_EQ(said(kPreload + kStub + database() + " KILN_BLAS=quiet " + KILN_BLAS_LINKED_PROGRAM),
            kRight);
}

TEST_F(Interception, ForwardsWithoutADriver) {
  EXPECT_THAT(said(kPreload + " KILN_CUDA_LIBRARY=/nowhere" + database() + kLoaded),
              HasSubstr(kRight));
}

TEST_F(Interception, SaysNothingWhereItIsOff) {
  EXPECT_EQ(said(kPreload + " KILN_CUDA_LIBRARY=/nowhere KILN_BLAS=off" + kLoaded), kRight);
}

TEST_F(Interception, TellsWhyItForwards) {
  EXPECT_THAT(said(kPreload + " KILN_CUDA_LIBRARY=/nowhere" + database() + kLoaded),
              HasSubstr("kiln_blas: everything is forwarded: unavailable"));
}

TEST_F(Interception, IsAttachedToAProgramThatRuns) {
  const std::string record = "KILN_BLAS=off,quiet KILN_BLAS_RECORD=" + (folder_ / "r").string();
  EXPECT_EQ(said(record + kStub + database() + kLoaded + " " + KILN_BLAS_LIBRARY),
            std::string(kRight) + "1 attached\n0 1: 27 33 -1 43 53 -1; 4 calls\n");
  EXPECT_FALSE(std::filesystem::is_empty(folder_)) << "the calls after it were not seen";
  EXPECT_THAT(said("KILN_BLAS=off" + kLoaded + " " + KILN_BLAS_LIBRARY), HasSubstr("0 attached"));
}

TEST_F(Interception, RecordsOnlyWhatWasCalled) {
  const std::string record = " KILN_BLAS=off,quiet KILN_BLAS_RECORD=" + (folder_ / "r").string();
  EXPECT_EQ(said(kPreload + kStub + database() + record + kLoaded), kRight);
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_THAT(text, HasSubstr("\"kiln_blas_record\": 1"));
  // The call of a null handle is not understood, and forwarded.
  EXPECT_THAT(text, HasSubstr("\"cublasSgemm_v2\": "));
  EXPECT_EQ(said(kPreload + kStub + database() + record + " true"), "");
}

}  // namespace
}  // namespace kiln
