// A HIP in a folder: found by its files, and how a program is started there.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/hip_root.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tuner/workers/worker_host.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class HipRootTest : public testing::Test {
 protected:
  HipRootTest() {
    std::string name = testing::TempDir() + "kiln-hip-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    ::unsetenv("KILN_HIP_ROOT");
    ::unsetenv("KILN_HIP_LIBRARY");
  }
  ~HipRootTest() override {
    fs::remove_all(folder_);
    ::unsetenv("KILN_HIP_ROOT");
    ::unsetenv("KILN_HIP_LIBRARY");
  }
  void put(const fs::path& file) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << "x";
  }
  [[nodiscard]] std::string error() const {
    try {
      static_cast<void>(find_hip_root(folder_));
      return "found";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  fs::path folder_;
};

TEST_F(HipRootTest, IsTheNewestHipBesideALoader) {
  const fs::path libraries = "usr/lib/x86_64-linux-gnu";
  put(libraries / "ld-linux-x86-64.so.2");
  for (const char* name : {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.6.4.43484",
                           "libamdhip64.so.10x", "libother.so.9"})
    put(libraries / name);
  const HipRoot root = find_hip_root(folder_);
  EXPECT_EQ(root.libraries, folder_ / libraries);
  EXPECT_EQ(root.hip.filename(), "libamdhip64.so.7");
  EXPECT_EQ(find_hip_root(folder_ / libraries).libraries, folder_ / libraries);
}

TEST_F(HipRootTest, WithoutBothIsOneErrorThatSaysWhatWasExpected) {
  const std::string expected = "KILN_HIP_ROOT is '" + folder_.string() +
                               "': expected a folder that holds ld-linux-x86-64.so.2 and "
                               "libamdhip64.so.N, or has them in usr/lib/TRIPLE "
                               "(scripts/install_dependencies makes one)";
  EXPECT_EQ(error(), expected);
  put("ld-linux-x86-64.so.2");
  EXPECT_EQ(error(), expected);
  fs::remove(folder_ / "ld-linux-x86-64.so.2");
  put("libamdhip64.so.6");
  EXPECT_EQ(error(), expected);
  fs::remove_all(folder_);
  EXPECT_EQ(error(), expected);
}

TEST_F(HipRootTest, StartsHipWorkersAndNoOthers) {
  put("ld-linux-x86-64.so.2");
  put("libamdhip64.so.6");
  ::setenv("KILN_HIP_ROOT", folder_.c_str(), 1);
  WorkerHost host;
  const ChildCommand hip = host.command({WorkerKind::compile, "hip", 0});
  EXPECT_EQ(hip.program, folder_ / "ld-linux-x86-64.so.2");
  EXPECT_THAT(hip.arguments, ElementsAre("--library-path", folder_.string(),
                                         "/proc/" + std::to_string(::getpid()) + "/exe", "worker",
                                         "compile", "--backend", "hip", "--device", "0"));
  EXPECT_EQ(hip.environment.at("KILN_HIP_LIBRARY"), folder_ / "libamdhip64.so.6");
  const ChildCommand opencl = host.command({WorkerKind::compile, "opencl", 0});
  EXPECT_EQ(opencl.program, "/proc/self/exe");
  EXPECT_FALSE(opencl.environment.contains("KILN_HIP_LIBRARY"));
}

TEST_F(HipRootTest, LeavesALibraryThatWasChosen) {
  put("ld-linux-x86-64.so.2");
  put("libamdhip64.so.6");
  ::setenv("KILN_HIP_LIBRARY", "/my/libamdhip64.so.6", 1);
  ChildCommand command{"/usr/bin/kiln", {"worker"}, {}};
  start_in(find_hip_root(folder_), command);
  EXPECT_FALSE(command.environment.contains("KILN_HIP_LIBRARY"));
  EXPECT_EQ(command.arguments[2], "/usr/bin/kiln");
}

}  // namespace
}  // namespace kiln
