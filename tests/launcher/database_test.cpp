// What the tuning database changes: configs, grades, workspaces; and what it can never do: stop the
// application.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "db/store.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::LauncherFolder;
using test::odd_numbers;
using test::OpenClApplication;
using test::store_best;
using test::Tuned;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Tuned kTicket = {"reduce",
                       "n=5000 dtype=f32 op=sum map=x source=array",
                       R"({"n": 5000, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})",
                       {"ticket", {{"block_size", std::int64_t{64}}}}};

float sum_of(const Launcher::Kernel& kernel, const std::vector<float>& in,
             std::initializer_list<LaunchArgument> more = {}) {
  OpenClApplication& application = OpenClApplication::instance();
  const cl_mem out = application.allocate(4);
  std::vector<LaunchArgument> arguments = {memory("in", application.upload(in), in.size() * 4),
                                           memory("out", out, 4)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  kernel.launch(nullptr, arguments.data(), arguments.size()).value();
  return application.download<float>(out, 1)[0];
}

TEST(LauncherDatabase, AMissingOneIsAWarningAndTheDefaultRuns) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  ASSERT_EQ(launcher.warnings().size(), 1U);
  EXPECT_EQ(launcher.warnings()[0].kind, Launcher::Warning::Kind::database_missing);
  EXPECT_EQ(launcher.warnings()[0].message,
            (folder / "kiln.db") +
                ": there is no such database; kernels that no other layer "
                "knows run with their default configs");
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=10").value();
  EXPECT_EQ(kernel.match().grade, Launcher::Grade::fallback);
  EXPECT_EQ(sum_of(kernel, std::vector<float>(10, 1)), 10);
}

TEST(LauncherDatabase, NoneAtAllLeavesTheShippedWisdom) {
  const LauncherFolder folder;
  const std::string nowhere = folder / "kiln.db";
  const char* before = std::getenv("KILN_DB");
  const std::string restored = before == nullptr ? "" : before;
  ::setenv("KILN_DB", nowhere.c_str(), 1);
  Launcher::Options options = folder.options();
  options.databases.clear();
  options.use_shipped = true;
  const Launcher launcher(options);
  ASSERT_EQ(launcher.warnings().size(), 1U);
  EXPECT_EQ(launcher.warnings()[0].kind, Launcher::Warning::Kind::database_missing);
  EXPECT_THAT(launcher.warnings()[0].message, StartsWith(nowhere + ": there is no such database"));
  // What is shipped is of GPUs: none of it is for this device.
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=10").value();
  EXPECT_EQ(kernel.match().grade, Launcher::Grade::fallback);
  EXPECT_EQ(sum_of(kernel, std::vector<float>(10, 1)), 10);
  if (before == nullptr) {
    ::unsetenv("KILN_DB");
  } else {
    ::setenv("KILN_DB", restored.c_str(), 1);
  }
}

// An application that brings a database of its own keeps what is shipped: on the device of the
// stub, an H200, matmul is known to Kiln and to no file here.
TEST(LauncherDatabase, ShippedRowsAnswerAfterTheDatabasesOfTheApplication) {
  if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const LauncherFolder folder;
  Launcher::Options options = Launcher::Options::on_device("cuda");
  options.cache_folder = folder / "cache";
  options.databases = {folder / "own.db"};
  const std::string problem = "m=4096 n=4096 k=4096";
  const Launcher::MatchHandle shipped = Launcher(options).select("matmul", problem).value();
  EXPECT_NE(shipped->grade, Launcher::Grade::fallback) << shipped->reason;

  options.use_shipped = false;
  EXPECT_EQ(Launcher(options).select("matmul", problem).value()->grade, Launcher::Grade::fallback);
}

// A service or a container may run without a home: nothing is looked for in its working folder.
TEST(LauncherDatabase, WithoutAPlaceForItIsAWarning) {
  const LauncherFolder folder;
  const char* const names[] = {"KILN_DB", "XDG_DATA_HOME", "HOME"};
  std::vector<std::optional<std::string>> before;
  for (const char* name : names) {
    const char* value = std::getenv(name);
    before.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
    ::unsetenv(name);
  }
  Launcher::Options options = folder.options();
  options.databases.clear();
  options.tune_on_miss = Launcher::TuneOnMiss::background;
  options.tuner = "/bin/false";
  const Launcher launcher(options);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i]) ::setenv(names[i], before[i]->c_str(), 1);
  }
  ASSERT_EQ(launcher.warnings().size(), 1U);
  EXPECT_EQ(launcher.warnings()[0].kind, Launcher::Warning::Kind::database_missing);
  EXPECT_EQ(launcher.warnings()[0].message,
            "there is no place for the database: none of KILN_DB, XDG_DATA_HOME and HOME is set; "
            "kernels that no other layer knows run with their default configs");
  EXPECT_EQ(launcher.select("reduce", "n=10").value()->grade, Launcher::Grade::fallback);
  const Launcher::Tuning tuning = launcher.tuning().value();
  ASSERT_EQ(tuning.warnings.size(), 1U);
  EXPECT_EQ(tuning.warnings[0].kind, Launcher::Warning::Kind::tuning_unavailable);
  EXPECT_EQ(tuning.warnings[0].message,
            "tune_on_miss: there is no place for the database: none of KILN_DB, XDG_DATA_HOME and "
            "HOME is set; nothing is tuned");
}

TEST(LauncherDatabase, ADamagedOneIsAWarningAndTheDefaultRuns) {
  const LauncherFolder folder;
  std::ofstream(folder / "kiln.db") << std::string(5000, 'x');
  const Launcher launcher(folder.options());
  ASSERT_EQ(launcher.warnings().size(), 1U);
  EXPECT_EQ(launcher.warnings()[0].kind, Launcher::Warning::Kind::database_unusable);
  EXPECT_THAT(launcher.warnings()[0].message,
              StartsWith((folder / "kiln.db") + ": is no database"));
  EXPECT_EQ(launcher.select("reduce", "n=10").value()->grade, Launcher::Grade::fallback);
}

TEST(LauncherDatabase, OneThatLostItsEndIsAWarningAndTheNextLayerAnswers) {
  const LauncherFolder folder;
  store_best(folder / "torn.db", kTicket);
  std::filesystem::resize_file(folder / "torn.db",
                               std::filesystem::file_size(folder / "torn.db") / 2);
  store_best(folder / "whole.db", kTicket);
  Launcher::Options options = folder.options();
  options.databases = {folder / "torn.db", folder / "whole.db"};
  const Launcher launcher(options);
  ASSERT_EQ(launcher.warnings().size(), 1U);
  EXPECT_EQ(launcher.warnings()[0].kind, Launcher::Warning::Kind::database_unusable);
  EXPECT_THAT(launcher.warnings()[0].message, StartsWith((folder / "torn.db") + ": is damaged"));
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=5000").value();
  EXPECT_EQ(kernel.match().grade, Launcher::Grade::exact);
  EXPECT_EQ(sum_of(kernel, std::vector<float>(5000, 1)), 5000);
}

TEST(LauncherDatabase, TunedConfigsRunWithTheirGrade) {
  const LauncherFolder folder;
  store_best(folder / "kiln.db", kTicket);
  const Launcher launcher(folder.options());
  EXPECT_TRUE(launcher.warnings().empty());

  const Launcher::Kernel exact = launcher.prepare("reduce", "n=5000").value();
  EXPECT_EQ(exact.match().grade, Launcher::Grade::exact);
  EXPECT_THAT(exact.match().config, StartsWith("ticket:block_size=64,"));
  EXPECT_THAT(exact.match().reason, StartsWith("tuned for this problem on this device ("));
  EXPECT_TRUE(exact.match().stale);  // stored without a template hash
  EXPECT_THAT(exact.match().reason, HasSubstr("stale: the template of 'ticket' has changed"));
  const std::vector<float> in = odd_numbers<float>(5000);
  EXPECT_EQ(sum_of(exact, in), std::accumulate(in.begin(), in.end(), 0.0F));

  const Launcher::Match near = *launcher.select("reduce", "n=10000").value();
  EXPECT_EQ(near.grade, Launcher::Grade::near_size);
  EXPECT_DOUBLE_EQ(near.distance, 1);
  EXPECT_THAT(near.reason, HasSubstr("n=5000"));
  // Another dtype is another problem, though a like one (docs/lookup.md).
  EXPECT_EQ(launcher.select("reduce", "n=5000 dtype=i32").value()->grade,
            Launcher::Grade::near_size);
}

TEST(LauncherDatabase, TunedConfigsOfTheApplicationsOwnKernelRunToo) {
  const LauncherFolder folder;
  store_best(
      folder / "kiln.db",
      {"polynomial", "n=1000", R"({"n": 1000})", {"vector", {{"block_size", std::int64_t{32}}}}});
  Launcher::Options options = folder.options();
  options.kernel_paths = {KILN_SOURCE_DIR "/examples/polynomial"};
  const Launcher launcher(options);
  OpenClApplication& application = OpenClApplication::instance();
  for (const std::size_t n : {1U, 3U, 256U, 1003U}) {  // shorter than a load, whole blocks, a tail
    const std::vector<float> x = odd_numbers<float>(n);
    const Launcher::Kernel kernel =
        launcher.prepare("polynomial", "n=" + std::to_string(n)).value();
    EXPECT_EQ(kernel.match().config, "vector:block_size=32,loads=2");
    const cl_mem y = application.allocate(n * 4);
    kernel
        .launch(nullptr, {memory("x", application.upload(x), n * 4), memory("y", y, n * 4),
                          scalar("a", 2), scalar("b", 3), scalar("c", 4)})
        .value();
    const std::vector<float> result = application.download<float>(y, n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 2 * x[i] * x[i] + 3 * x[i] + 4) << i;
  }
}

TEST(LauncherDatabase, AKernelWithTwoNamesHasItsRowsUnderBoth) {
  const LauncherFolder folder;
  store_best(
      folder / "kiln.db",
      {"polynomial", "n=1000", R"({"n": 1000})", {"vector", {{"block_size", std::int64_t{32}}}}});
  Launcher::Options options = folder.options();
  options.kernel_paths = {KILN_SOURCE_DIR "/examples/polynomial"};
  const Launcher launcher(options);
  for (const char* name : {KILN_SOURCE_DIR "/examples/polynomial", "polynomial"}) {
    EXPECT_EQ(launcher.select(name, "n=1000").value()->grade, Launcher::Grade::exact) << name;
  }
}

TEST(LauncherDatabase, OneOfAnotherDriverAnswersAndSaysSo) {
  const LauncherFolder folder;
  store_best(folder / "kiln.db", kTicket, [](DeviceInfo& device) { device.driver = "an old one"; });
  const Launcher launcher(folder.options());
  EXPECT_TRUE(launcher.warnings().empty());
  const Launcher::Match match = *launcher.select("reduce", "n=5000").value();
  EXPECT_EQ(match.grade, Launcher::Grade::exact);
  EXPECT_TRUE(match.stale);
  EXPECT_THAT(match.reason, HasSubstr("driver an old one is now "));
}

TEST(LauncherDatabase, OneOfAnotherDeviceAnswersByArchitectureVendorOrNotAtAll) {
  const LauncherFolder folder;
  const auto grade = [&](const char* database, const std::function<void(DeviceInfo&)>& change) {
    store_best(folder / database, kTicket, change);
    Launcher::Options options = folder.options();
    options.databases = {folder / database};
    return Launcher(options).select("reduce", "n=5000").value()->grade;
  };
  EXPECT_EQ(grade("name.db", [](DeviceInfo& device) { device.name = "a sister"; }),
            Launcher::Grade::same_arch);
  EXPECT_EQ(grade("arch.db",
                  [](DeviceInfo& device) {
                    device.name = "a cousin";
                    device.architecture = "opencl-cousin";
                  }),
            Launcher::Grade::same_vendor);
  EXPECT_EQ(grade("vendor.db",
                  [](DeviceInfo& device) {
                    device.name = "a stranger";
                    device.architecture = "opencl-stranger";
                    device.vendor = "nobody";
                  }),
            Launcher::Grade::fallback);
}

TEST(LauncherDatabase, OneOfANewerKilnIsAWarningAndTheNextLayerAnswers) {
  const LauncherFolder folder;
  store_best(folder / "newer.db", kTicket);
  SQLite::Database(folder / "newer.db", SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 9999");
  store_best(folder / "old.db", kTicket);
  Launcher::Options options = folder.options();
  options.databases = {folder / "newer.db", folder / "old.db"};
  const Launcher launcher(options);
  ASSERT_EQ(launcher.warnings().size(), 1U);
  EXPECT_EQ(launcher.warnings()[0].kind, Launcher::Warning::Kind::database_unusable);
  EXPECT_THAT(launcher.warnings()[0].message, StartsWith((folder / "newer.db") + ": "));
  EXPECT_THAT(launcher.select("reduce", "n=5000").value()->config, StartsWith("ticket:"));
}

TEST(LauncherDatabase, TheFirstOfTwoLayersWins) {
  const LauncherFolder folder;
  Tuned other = kTicket;
  other.config = {"gate", {{"block_size", std::int64_t{32}}}};
  store_best(folder / "user.db", other);
  store_best(folder / "shipped.db", kTicket);
  Launcher::Options options = folder.options();
  options.databases = {folder / "user.db", folder / "shipped.db"};
  EXPECT_THAT(Launcher(options).select("reduce", "n=5000").value()->config, StartsWith("gate:"));
  options.databases = {folder / "shipped.db", folder / "user.db"};
  EXPECT_THAT(Launcher(options).select("reduce", "n=5000").value()->config, StartsWith("ticket:"));
}

TEST(LauncherDatabase, ABetterGradeWinsWhateverItsLayer) {
  const LauncherFolder folder;
  Tuned near = kTicket;
  near.problem = "n=6000 dtype=f32 op=sum map=x source=array";
  near.problem_json = R"({"n": 6000, "dtype": "f32", "op": "sum", "map": "x", "source": "array"})";
  near.config = {"gate", {{"block_size", std::int64_t{32}}}};
  store_best(folder / "user.db", near);
  store_best(folder / "shipped.db", kTicket);
  Launcher::Options options = folder.options();
  options.databases = {folder / "user.db", folder / "shipped.db"};
  const Launcher::Match match = *Launcher(options).select("reduce", "n=5000").value();
  EXPECT_EQ(match.grade, Launcher::Grade::exact);
  EXPECT_THAT(match.config, StartsWith("ticket:"));
}

TEST(LauncherDatabase, WorkspacesArePooledOrTheCallers) {
  const LauncherFolder folder;
  store_best(folder / "kiln.db", kTicket);
  const std::vector<float> in = odd_numbers<float>(5000);
  const float sum = std::accumulate(in.begin(), in.end(), 0.0F);

  Launcher::Options options = folder.options();
  options.workspace = Launcher::Workspace::caller;
  const Launcher::Kernel kernel = Launcher(options).prepare("reduce", "n=5000").value();
  ASSERT_FALSE(kernel.workspaces().empty());
  EXPECT_EQ(kernel.workspaces()[0].name, "partials");
  OpenClApplication& application = OpenClApplication::instance();
  const cl_mem memory_in = application.upload(in);
  EXPECT_THAT(error_text(kernel.launch(
                  nullptr, {memory("in", memory_in, 20000), memory("out", memory_in, 4)})),
              StartsWith("reduce: workspace 'partials' is missing (f32["));

  std::vector<LaunchArgument> given;
  for (const auto& workspace : kernel.workspaces()) {
    const cl_mem zeros = application.upload(std::vector<char>(workspace.bytes));
    given.push_back(memory(workspace.name, zeros, workspace.bytes));
  }
  const cl_mem out = application.allocate(4);
  given.push_back(memory("in", memory_in, 20000));
  given.push_back(memory("out", out, 4));
  kernel.launch(nullptr, given.data(), given.size()).value();
  EXPECT_EQ(application.download<float>(out, 1)[0], sum);
}

TEST(LauncherDatabase, AnUnusableConfigOfAStrangerIsPassedOver) {
  const LauncherFolder folder;
  Tuned strange = kTicket;
  strange.config = {"ticket", {{"block_size", std::int64_t{-5}}}};
  store_best(folder / "kiln.db", strange);
  const Launcher::Match match = *Launcher(folder.options()).select("reduce", "n=5000").value();
  EXPECT_EQ(match.grade, Launcher::Grade::fallback);
  EXPECT_EQ(match.reason,
            "no tuned config is legal for this problem on this device: the spec's default config");
}

}  // namespace
}  // namespace kiln
