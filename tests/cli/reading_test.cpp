// Commands that only read: devices, kernels, render.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "kiln_program.hpp"
#include "templates/library.hpp"

namespace kiln::cli {
namespace {

using ::testing::Not;

constexpr const char* kReadKernels = KILN_SOURCE_DIR "/tests/cli/kernels";

class Reading : public ProgramTest {};

TEST_F(Reading, VersionAndHelpGoToStdout) {
  const Output version = kiln("--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, StartsWith("kiln 0."));

  const Output help = kiln("tune --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  const Output all = kiln("tune --help-all");
  EXPECT_THAT(all.out, HasSubstr("auto (default): ")) << "strategies are listed";
}

TEST_F(Reading, HelpAndVersionAreCommandsToo) {
  EXPECT_EQ(kiln("help tune").out, kiln("tune --help").out);
  EXPECT_EQ(kiln("help db info").out, kiln("db info --help").out);
  EXPECT_EQ(kiln("help").out, kiln("--help").out);
  EXPECT_EQ(kiln("version").out, kiln("--version").out);
  const Output alone = kiln({});
  EXPECT_EQ(alone.exit_code, 2) << "nothing was done";
  EXPECT_EQ(alone.out, kiln("--help").out);
  EXPECT_EQ(kiln("help tnue").exit_code, 2);
}

TEST_F(Reading, AValueByAnotherNameIsKnown) {
  const Output output = kiln("best matmul --problem m=8,n=8,k=8,dtype=float");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_TRUE(output.err.ends_with(", not 'float'; did you mean 'f32'?\n")) << output.err;
}

TEST_F(Reading, ADriverThatIsAwayIsOneSentence) {
  const Output output =
      kiln("tune reduce --problem n=10 --device cuda", {{"KILN_CUDA_LIBRARY", "/no/libcuda.so"}});
  EXPECT_EQ(output.exit_code, 4);
  EXPECT_EQ(output.err,
            "kiln: error: cuda: unavailable: CUDA driver library not found (no /no/libcuda.so)\n");
}

TEST_F(Reading, TheDoctorNamesWhatIsBrokenAndNothingPrivate) {
  const std::filesystem::path home = folder_ / "ada-lovelace";
  std::filesystem::create_directories(home / "open");
  std::filesystem::permissions(home / "open", std::filesystem::perms::all);
  const Output output = kiln("doctor", {{"HOME", home},
                                        {"XDG_DATA_HOME", home / "data"},
                                        {"KILN_CACHE", home / "open"},
                                        {"KILN_CUDA_LIBRARY", home / "libcuda.so"}});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.err, "");
  EXPECT_THAT(output.out, Not(HasSubstr("ada-lovelace")));
  EXPECT_THAT(output.out, HasSubstr("$KILN_CUDA_LIBRARY"));
  EXPECT_THAT(output.out, HasSubstr("broken"));
  EXPECT_THAT(output.out, HasSubstr("name another with KILN_CACHE"));
  EXPECT_FALSE(std::filesystem::exists(home / "data")) << "it writes nothing";
}

TEST_F(Reading, BestWithoutAProblemListsWhatIsKnown) {
  const Output shipped = kiln("best transpose");
  EXPECT_EQ(shipped.exit_code, 0) << shipped.err;
  EXPECT_THAT(shipped.out, StartsWith("transpose: nothing in the database\nshipped with Kiln: "));
  EXPECT_EQ(kiln("best transpose --no-shipped").exit_code, 5) << "there is no database";
  EXPECT_GT(kiln_json("best transpose --json").size(), 10U);
}

TEST_F(Reading, DevicesListsEveryBackendWithItsDevicesOrTheReasonWhyNot) {
  // No driver of this name: every machine has at least one backend that is not there.
  const Output output = kiln("devices --json", {{"KILN_CUDA_LIBRARY", "/no/libcuda.so"}});
  const Json backends = Json::parse(output.out);
  ASSERT_EQ(backends.size(), 3);
  EXPECT_EQ(backends[0]["backend"], "cuda");
  EXPECT_EQ(backends[0]["devices"], Json::array());
  EXPECT_EQ(backends[0]["unavailable"],
            "unavailable: CUDA driver library not found (no /no/libcuda.so)");
  for (const Json& entry : backends) {
    EXPECT_NE(entry["devices"].empty(), entry["unavailable"].get<std::string>().empty()) << entry;
    for (const Json& device : entry["devices"]) {
      EXPECT_THAT(device["selector"].get<std::string>(),
                  StartsWith(entry["backend"].get<std::string>()));
    }
  }
}

TEST_F(Reading, DevicesFailsWhereThereIsNone) {
  const Output output = kiln("devices", {{"KILN_CUDA_LIBRARY", "/no/libcuda.so"},
                                         {"KILN_HIP_LIBRARY", "/no/libamdhip64.so"},
                                         {"KILN_OPENCL_LIBRARY", "/no/libOpenCL.so"}});
  EXPECT_EQ(output.exit_code, 4);
  EXPECT_THAT(output.out,
              HasSubstr("opencl: unavailable: OpenCL library not found (no /no/libOpenCL.so)\n"));
}

TEST_F(Reading, KernelsListsThoseBuiltInAndOnesOwn) {
  const Json kernels = kiln_json({"kernels", "--kernel-path", kReadKernels, "--json"});
  std::vector<std::string> names;
  for (const Json& kernel : kernels) names.push_back(kernel["name"]);
  std::vector<std::string> expected = KernelLibrary().names();
  expected.insert(expected.end(), {"narrow", "recorded", "scale"});
  std::ranges::sort(expected);
  EXPECT_EQ(names, expected);
}

TEST_F(Reading, KernelsOfOneTellsItsProblemAndTunables) {
  EXPECT_EQ(
      kiln({"kernels", "scale", "--kernel-path", kReadKernels}).out,
      "scale: y[i] = 2 * x[i] over n elements\n"
      "\n"
      "problem  type  default     values  meaning\n"
      "-------  ----  ----------  ------  --------\n"
      "n        int   (required)          elements\n"
      "\n"
      "argument  access  type  shape or value  meaning\n"
      "--------  ------  ----  --------------  -------\n"
      "x         read    f32   [n]\n"
      "y         write   f32   [n]\n"
      "n         scalar  i64   n\n"
      "\n"
      "variant plain: a few neighbouring elements per thread\n"
      "  tunable     default  values                meaning\n"
      "------------  -------  --------------------  -------------------\n"
      "  block_size  32       1 2 4 8 16 32 64 128  threads per block\n"
      "  items       1        1 2 4 8               elements per thread\n"
      "\n"
      "metric     goal      unit  value                          meaning\n"
      "---------  --------  ----  -----------------------------  ------------------------------\n"
      "bandwidth  maximise  GB/s  cost.bytes / measured.time_ns  bytes that must move, a second\n"
      "covered    minimise        block_size * items             elements of a block\n");
  const Json scale = kiln_json({"kernels", "scale", "--kernel-path", kReadKernels, "--json"});
  EXPECT_EQ(scale["variants"][0]["tunables"]["items"]["values"], Json({1, 2, 4, 8}));
}

TEST_F(Reading, AKernelPathDoesNotSwallowTheKernelBehindIt) {
  const Output output =
      kiln({"render", "--kernel-path", kReadKernels, "scale", "--problem", "n=10"});
  EXPECT_EQ(output.exit_code, 0) << output.err;
}

TEST_F(Reading, RenderPrintsWhatAPersonWouldHaveWritten) {
  const Words render = {"render",    kReadKernels + std::string("/scale"),
                        "--problem", "n=1000",
                        "--config",  "plain:items=4"};
  const std::string golden = KILN_SOURCE_DIR "/tests/cli/golden/scale_items_4.txt";
  EXPECT_EQ(kiln(render).out, read_text(golden));
}

TEST_F(Reading, RenderWholeIsWhatTheCompilerGets) {
  const Words words = {
      "render", kReadKernels + std::string("/scale"), "--problem", "n=10", "--whole", "--backend",
      "opencl"};
  const std::string text = kiln(words).out;
  EXPECT_THAT(text, HasSubstr("__kernel"));
}

TEST_F(Reading, AFullDiskUnderStdoutIsAnError) {
  write("full.sh", "\"$1\" kernels > /dev/full\n");
  // Through a shell: the program's own stdout must be the full device.
  const std::string command =
      "sh " + (folder_ / "full.sh").string() + " " KILN_PROGRAM " 2> " + (folder_ / "err").string();
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(read_text(folder_ / "err"), "kiln: error: cannot write to stdout\n");
}

}  // namespace
}  // namespace kiln::cli
