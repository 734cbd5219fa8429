// The second process compiles nothing; a damaged cache costs a compile, never a wrong result.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::LauncherFolder;
using test::OpenClApplication;

struct TransposeRun {
  bool from_cache = false;
  std::vector<float> result;
};

TransposeRun transpose_with(const Launcher& launcher) {
  OpenClApplication& application = OpenClApplication::instance();
  const Launcher::Kernel kernel = launcher.prepare("transpose", "rows=2 cols=3").value();
  const cl_mem in = application.upload(std::vector<float>{1, 2, 3, 4, 5, 6});
  const cl_mem out = application.allocate(24);
  kernel.launch(nullptr, {memory("in", in, 24), memory("out", out, 24)}).value();
  return {kernel.from_cache(), application.download<float>(out, 6)};
}

const std::vector<float> kTransposed = {1, 4, 2, 5, 3, 6};

TEST(LauncherCache, TheSecondLauncherCompilesNothing) {
  const LauncherFolder folder;
  const TransposeRun first = transpose_with(Launcher(folder.options()));
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(first.result, kTransposed);
  const TransposeRun second = transpose_with(Launcher(folder.options()));
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.result, kTransposed);
}

TEST(LauncherCache, SizesThatShareAConfigShareTheBinary) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  static_cast<void>(transpose_with(launcher));
  static_cast<void>(launcher.prepare("transpose", "rows=200 cols=300").value());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "cache"), fs::directory_iterator()), 1);
}

TEST(LauncherCache, DamagedEntriesAreCompiledAnewAndMended) {
  const LauncherFolder folder;
  static_cast<void>(transpose_with(Launcher(folder.options())));
  for (const auto& entry : fs::directory_iterator(folder / "cache")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.write("damage", 6);
  }
  const TransposeRun damaged = transpose_with(Launcher(folder.options()));
  EXPECT_FALSE(damaged.from_cache);
  EXPECT_EQ(damaged.result, kTransposed);
  EXPECT_TRUE(transpose_with(Launcher(folder.options())).from_cache);
}

TEST(LauncherCache, ALimitThatIsNoSizeIsAWarning) {
  const LauncherFolder folder;
  ::setenv("KILN_CACHE_LIMIT", "5 GiB", 1);
  const Launcher launcher(folder.options());
  Launcher::Options named = folder.options();
  named.cache_bytes = 1000000;  // the environment is not asked
  const Launcher other(named);
  ::unsetenv("KILN_CACHE_LIMIT");
  ASSERT_EQ(launcher.warnings().size(), 2U);  // the database is missing as well
  EXPECT_EQ(launcher.warnings()[1].kind, Launcher::Warning::Kind::cache_limit_unusable);
  EXPECT_EQ(launcher.warnings()[1].message,
            "KILN_CACHE_LIMIT is '5 GiB', which is no size of a cache: expected bytes, or a number "
            "with K, M or G, such as 512M; the cache keeps to 1 GiB");
  EXPECT_EQ(transpose_with(launcher).result, kTransposed);
  EXPECT_EQ(other.warnings().size(), 1U);
}

TEST(LauncherCache, AFolderThatOthersMayWriteToIsAWarning) {
  const LauncherFolder folder;
  fs::create_directory(folder / "cache");
  fs::permissions(folder / "cache", fs::perms::all);
  const Launcher launcher(folder.options());
  ASSERT_EQ(launcher.warnings().size(), 2U);  // the database is missing as well
  EXPECT_EQ(launcher.warnings()[1].kind, Launcher::Warning::Kind::cache_unusable);
  EXPECT_EQ(launcher.warnings()[1].message,
            (folder / "cache") +
                ": other users may write to it (chmod 700 mends that); kernels are "
                "compiled in every process");
  EXPECT_EQ(transpose_with(launcher).result, kTransposed);
}

TEST(LauncherCache, CanBeTurnedOff) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.use_cache = false;
  EXPECT_FALSE(transpose_with(Launcher(options)).from_cache);
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

}  // namespace
}  // namespace kiln
