// What the backends share: the registry, library loading, compiler messages.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "backends/compiler_log.hpp"
#include "backends/cuda/ptxas_log.hpp"
#include "backends/driver_errors.hpp"
#include "backends/elf_image.hpp"
#include "backends/hip/hip_partition.hpp"
#include "backends/last_level_override.hpp"
#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

template <typename Error, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Registry, MakesEveryBackendItNamesWithoutLoadingAnything) {
  for (const std::string_view name : backend_names()) EXPECT_EQ(make_backend(name)->name(), name);
}

TEST(LastLevel, IsWhatTheUserSays) {
  DeviceInfo device = device_for_architecture("hip", "gfx1100");
  unsetenv("KILN_LAST_LEVEL_BYTES");
  override_last_level(device);
  EXPECT_EQ(device.last_level_bytes, 96 << 20);
  setenv("KILN_LAST_LEVEL_BYTES", "67108864", 1);
  override_last_level(device);
  EXPECT_EQ(device.last_level_bytes, 64 << 20);
  for (const char* wrong : {"64M", "0", "-1", "1.5", "99999999999999999999"}) {
    setenv("KILN_LAST_LEVEL_BYTES", wrong, 1);
    EXPECT_EQ(message_of<UsageError>([&] { override_last_level(device); }),
              std::string("KILN_LAST_LEVEL_BYTES is '") + wrong +
                  "': expected a whole number of bytes from 1 to 2^40");
  }
  unsetenv("KILN_LAST_LEVEL_BYTES");
}

class AmdPartition : public testing::Test {
 protected:
  AmdPartition() {
    std::string name = testing::TempDir() + "kiln-partition-XXXXXX";
    folder_ = ::mkdtemp(name.data());  // tests run side by side
    std::filesystem::create_directories(folder_ / kBoard);
  }
  ~AmdPartition() override { std::filesystem::remove_all(folder_); }
  void write(const char* file, const char* text) const {
    std::ofstream(folder_ / kBoard / file) << text;
  }

  static constexpr const char* kBoard = "0000:c1:00.0";
  std::filesystem::path folder_;
};

TEST_F(AmdPartition, IsWhatTheKernelDriverWrites) {
  EXPECT_EQ(read_amd_partition(folder_, kBoard), "") << "a board that cannot be split";
  write("current_compute_partition", "CPX\n");
  EXPECT_EQ(read_amd_partition(folder_, kBoard), "CPX");
  write("current_memory_partition", "NPS4\n");
  EXPECT_EQ(read_amd_partition(folder_, kBoard), "CPX/NPS4");
  EXPECT_EQ(read_amd_partition(folder_, "0000:C1:00.3"), "CPX/NPS4") << "its fourth part";
  EXPECT_EQ(read_amd_partition(folder_, "0000:c2:00.0"), "");
}

TEST_F(AmdPartition, IsNothingWhereTheWordsAreOdd) {
  for (const char* odd : {"", "\n", "../..", "C P/X", "AVERYLONGWORDTHATNOBODYWROTE"}) {
    write("current_compute_partition", odd);
    EXPECT_THAT(read_amd_partition(folder_, kBoard), testing::AnyOf("", "C")) << odd;
  }
  write("current_compute_partition", "CPX\n");
  for (const char* odd : {"", "0000:c1:00", "../../0000:c1", "0000/c1/00/0"})
    EXPECT_EQ(read_amd_partition(folder_, odd), "") << odd;
}

TEST(Registry, NamesTheBackendsForAnUnknownOne) {
  EXPECT_EQ(message_of<UsageError>([] { static_cast<void>(make_backend("metal")); }),
            "unknown backend 'metal': expected one of cuda, hip, opencl");
}

TEST(Registry, ABackendWithoutItsLibraryIsUnavailableForAReason) {
  // Nothing else in this program loads a vendor library, so the overrides are what is loaded.
  setenv("KILN_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so", 1);
  EXPECT_EQ(message_of<DeviceError>([] { static_cast<void>(make_backend("opencl")->devices()); }),
            "unavailable: OpenCL library not found (no /nonexistent/libOpenCL.so)");
  setenv("KILN_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
  EXPECT_EQ(message_of<DeviceError>([] { static_cast<void>(make_backend("cuda")->devices()); }),
            "unavailable: CUDA driver library not found (no /nonexistent/libcuda.so)");
  setenv("KILN_HIP_LIBRARY", "/nonexistent/libamdhip64.so", 1);
  EXPECT_EQ(message_of<DeviceError>([] { static_cast<void>(make_backend("hip")->devices()); }),
            "unavailable: HIP library not found (no /nonexistent/libamdhip64.so)");
  setenv("KILN_NVRTC_PATH", "/nonexistent/libnvrtc.so", 1);
  DeviceInfo target;
  target.architecture = "sm_80";
  EXPECT_EQ(message_of<DeviceError>(
                [&] { static_cast<void>(make_backend("cuda")->open_compiler(target)); }),
            "unavailable: NVRTC library not found (no /nonexistent/libnvrtc.so)");
}

TEST(DynamicLibrary, ThatIsNotThereSaysWhatWasTried) {
  const std::array<std::string, 2> names = {"libkiln-a.so.1", "libkiln-b.so"};
  EXPECT_EQ(message_of<DeviceError>([&] { DynamicLibrary library("Test", names); }),
            "unavailable: Test library not found (no libkiln-a.so.1, libkiln-b.so)");
}

TEST(DynamicLibrary, ThatDoesNotLoadSaysWhy) {
  const std::array<std::string, 1> names = {KILN_SOURCE_DIR "/LICENSE"};
  EXPECT_THAT(message_of<DeviceError>([&] { DynamicLibrary library("Test", names); }),
              HasSubstr("LICENSE: "));
}

TEST(DynamicLibrary, WithoutASymbolIsTooOld) {
  const std::array<std::string, 1> names = {"libc.so.6"};
  const DynamicLibrary library("Test", names);
  EXPECT_EQ(library.path(), "libc.so.6");
  EXPECT_NE(library.find("puts"), nullptr);
  EXPECT_EQ(library.find("kiln_no_such_symbol"), nullptr);
  void (*call)() = nullptr;
  EXPECT_EQ(
      message_of<DeviceError>([&] { library.bind(call, "kiln_no_such_symbol"); }),
      "unavailable: Test library libc.so.6 is too old or not one: it lacks kiln_no_such_symbol");
}

TEST(DynamicLibrary, IsTheOneThatTheEnvironmentNames) {
  unsetenv("KILN_TEST_LIBRARY");
  EXPECT_EQ(library_candidates("KILN_TEST_LIBRARY", {"a", "b"}),
            (std::vector<std::string>{"a", "b"}));
  setenv("KILN_TEST_LIBRARY", "/elsewhere/c.so", 1);
  EXPECT_EQ(library_candidates("KILN_TEST_LIBRARY", {"a", "b"}),
            (std::vector<std::string>{"/elsewhere/c.so"}));
  unsetenv("KILN_TEST_LIBRARY");
}

TEST(DriverErrors, AreKnownByNumber) {
  const auto meaning = [](int code) { return meaning_of_driver_code(code, Outcome::launch_error); };
  EXPECT_EQ(meaning(2).outcome, Outcome::out_of_memory);
  EXPECT_FALSE(meaning(2).sticky);
  for (const int refused :
       {1, 98, 200, 209, 500, 701, 912}) {  // values, images, names, resources, clusters
    EXPECT_EQ(meaning(refused).outcome, Outcome::launch_error) << refused;
    EXPECT_FALSE(meaning(refused).sticky) << refused;
  }
  for (const int fault : {46, 214, 220, 700, 710, 714, 715, 716, 717, 718, 719, 999}) {
    EXPECT_EQ(meaning(fault).outcome, Outcome::device_fault) << fault;
    EXPECT_TRUE(meaning(fault).sticky) << fault;
  }
  EXPECT_EQ(meaning(702).outcome, Outcome::run_timeout);
  EXPECT_TRUE(meaning(702).sticky);
  EXPECT_TRUE(meaning_of_driver_code(1, Outcome::device_fault).sticky);
}

std::vector<std::byte> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(ElfImage, IsWholeOrIsNot) {
  std::vector<std::byte> image = bytes_of_file("/proc/self/exe");
  EXPECT_TRUE(is_whole_elf(image));
  constexpr std::uint32_t kBuildId = 3;
  const auto note = find_elf_note(image, kBuildId);
  ASSERT_TRUE(note) << "every program here is linked with a build id";
  EXPECT_LE(note->offset + note->bytes, image.size());
  EXPECT_FALSE(find_elf_note(image, 0x12345));
  // Cut anywhere, it is never read beyond its end.
  for (const std::size_t bytes :
       {image.size() - 1, image.size() / 2, std::size_t{64}, std::size_t{63}, std::size_t{4}}) {
    image.resize(bytes);
    EXPECT_FALSE(is_whole_elf(image)) << bytes;
    EXPECT_FALSE(find_elf_note(image, kBuildId)) << bytes;
  }
  EXPECT_FALSE(is_whole_elf({}));
}

TEST(PtxasLog, GivesTheLargestResourcesAndTheNames) {
  const std::string log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas         .     8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 400 bytes smem
)";
  Binary binary;
  read_ptxas_resources(log, binary);
  EXPECT_EQ(binary.registers, 40);
  EXPECT_EQ(binary.spill_bytes, 16);
  EXPECT_EQ(binary.shared_bytes, 400);
  EXPECT_EQ(ptxas_entries(log), (std::vector<std::string>{"first", "second"}));

  Binary silent;
  read_ptxas_resources("no such report", silent);
  EXPECT_EQ(silent.registers, -1);
  EXPECT_EQ(silent.shared_bytes, -1);
}

TEST(CompilerLog, GainsTheTemplatesPlaces) {
  Source source;
  source.origins = {"", "tile.inja:7", "load.inja:3"};
  EXPECT_EQ(with_template_places("k.cu(2): error: x is undefined\n  out = x;\n        ^\n", source),
            "tile.inja:7: error: x is undefined [line 2]\n  out = x;\n        ^\n");
  EXPECT_EQ(with_template_places("error: /cache/t_1.cl:3:40: use of y", source),
            "load.inja:3: error: use of y [line 3]");
}

TEST(CompilerLog, StaysAsItIsWhereTheOriginIsNotKnown) {
  Source source;
  source.origins = {""};
  for (const std::string log : {"k.cu(1): error: prelude", "k.cu(9): error: beyond the end",
                                "2 errors detected", "ptxas info : Used 8 registers", "", "\n\n"}) {
    EXPECT_EQ(with_template_places(log, source), log);
  }
}

}  // namespace
}  // namespace kiln
