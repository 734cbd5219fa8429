// What the backends share.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "backends/cached_compiler.hpp"
#include "backends/compiler_log.hpp"
#include "backends/cuda/nvml.hpp"
#include "backends/cuda/ptxas_log.hpp"
#include "backends/driver_errors.hpp"
#include "backends/elf_image.hpp"
#include "backends/hip/hip_partition.hpp"
#include "backends/last_level_override.hpp"
#include "core/device.hpp"
#include "core/dynamic_library.hpp"
#include "core/errors.hpp"
#include "core/scratch_folder.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;

// What the backends share: the registry, library loading, compiler messages.

template <typename Error, typename Action>
std::string message_of(Action action) {
  return test::error_of<Error>([&] { action(); }, "nothing was thrown");
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
  AmdPartition() { std::filesystem::create_directories(folder_ / kBoard); }
  void write(const char* file, const char* text) const {
    std::ofstream(folder_ / kBoard / file) << text;
  }

  static constexpr const char* kBoard = "0000:c1:00.0";
  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
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

// Binaries that are kept: found again by the same source, made anew by anything else.

/// Counts what it is asked for; fails for a source that is called "wrong".
class CountingCompiler final : public Compiler {
 public:
  explicit CountingCompiler(int& calls) : calls_(calls) {}
  Result<Binary> compile(const Source& source) override {
    ++calls_;
    if (source.name == "wrong") return Failure{Outcome::compile_error, "it is wrong"};
    Binary binary;
    binary.data = {std::byte{1}, std::byte{2}};
    binary.registers = 40;
    return binary;
  }
  void prepare_for(BinaryUse use) override { EXPECT_EQ(use, BinaryUse::ready); }

 private:
  int& calls_;
};

class CachedCompilerTest : public testing::Test {
 protected:
  CachedCompilerTest() { ::setenv("KILN_CACHE", folder_.path().c_str(), 1); }
  ~CachedCompilerTest() override { ::unsetenv("KILN_CACHE"); }

  /// Compiles as a process of its own would, on a device whose driver is `driver`.
  Result<Binary> compile(const std::string& name, const std::string& text,
                         const std::string& driver) {
    DeviceInfo device = device_for_architecture("cuda", "sm_90a");
    device.driver = driver;
    CachedCompiler compiler(std::make_unique<CountingCompiler>(calls_), device, "--options");
    Source source;
    source.name = name;
    source.text = text;
    return compiler.compile(source);
  }

  ScratchFolder folder_;
  int calls_ = 0;
};

TEST_F(CachedCompilerTest, CompilesASourceOnce) {
  for (int i = 0; i < 3; ++i) {
    const Result<Binary> binary = compile("fill", "void fill();", "580");
    ASSERT_TRUE(binary);
    EXPECT_EQ(binary->data.size(), 2U);
    EXPECT_EQ(binary->registers, 40);
  }
  EXPECT_EQ(calls_, 1);
}

TEST_F(CachedCompilerTest, CompilesAnewForAnotherSourceOrDriver) {
  ASSERT_TRUE(compile("fill", "void fill();", "580"));
  ASSERT_TRUE(compile("fill", "void fill(int);", "580"));
  ASSERT_TRUE(compile("fill", "void fill();", "590"));
  EXPECT_EQ(calls_, 3);
}

TEST_F(CachedCompilerTest, KeepsNoFailure) {
  EXPECT_FALSE(compile("wrong", "void fill();", "580"));
  EXPECT_FALSE(compile("wrong", "void fill();", "580"));
  EXPECT_EQ(calls_, 2);
}

TEST_F(CachedCompilerTest, WorksWithoutAFolder) {
  ::setenv("KILN_CACHE", "/dev/null/nowhere", 1);
  ASSERT_TRUE(compile("fill", "void fill();", "580"));
  ASSERT_TRUE(compile("fill", "void fill();", "580"));
  EXPECT_EQ(calls_, 2);
}

// What Kiln makes of NVML's answers, with a stub in NVML's place.

constexpr const char* kBusId = "0000:18:00.0";

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KILN_NVML_LIBRARY", KILN_NVML_STUB, 1);  // read by the first question of the process
    stub_ = ::dlopen(KILN_NVML_STUB, RTLD_NOW);
    ASSERT_NE(stub_, nullptr) << ::dlerror();
    variable<unsigned long long>("kiln_stub_reasons") = 0;
    variable<bool>("kiln_stub_counts_energy") = true;
    variable<bool>("kiln_stub_tells_power") = true;
  }

  template <typename T>
  T& variable(const char* name) {
    return *static_cast<T*>(::dlsym(stub_, name));
  }

  void* stub_ = nullptr;
};

TEST_F(NvmlTest, TellsClocksHeatAndPower) {
  const Device::ClockState state = NvmlDevice(kBusId).clock_state();
  EXPECT_EQ(state.clock_khz, 1980000);
  EXPECT_EQ(state.memory_clock_khz, 3201000);
  EXPECT_EQ(state.temperature_c, 61);
  EXPECT_EQ(state.power_mw, 500000);
  EXPECT_FALSE(state.throttled);
  EXPECT_EQ(state.throttle, "none");
}

TEST_F(NvmlTest, NamesWhatHoldsTheClockBack) {
  variable<unsigned long long>("kiln_stub_reasons") = 0x4 | 0x20;
  const Device::ClockState state = NvmlDevice(kBusId).clock_state();
  EXPECT_TRUE(state.throttled);
  EXPECT_EQ(state.throttle, "power_cap,heat");
  EXPECT_EQ(throttle_text(0x1 | 0x2 | 0x10 | 0x100), "none") << "idle, set by the user, in step";
  EXPECT_EQ(throttle_text(0x8 | 0x40 | 0x80), "slowdown,hardware_heat,power_brake");
}

TEST_F(NvmlTest, CountsEnergyWithTheBoardsOwnMeter) {
  NvmlDevice device(kBusId);
  EXPECT_EQ(device.energy_unavailable(), "");
  variable<unsigned long long>("kiln_stub_millijoules") = 1500;
  EXPECT_DOUBLE_EQ(device.energy_j().value(), 1.5);
  variable<unsigned long long>("kiln_stub_millijoules") = 4000;
  EXPECT_DOUBLE_EQ(device.energy_j().value(), 4.0);
}

TEST_F(NvmlTest, SumsUpThePowerWhereTheBoardHasNoMeter) {
  variable<bool>("kiln_stub_counts_energy") = false;
  NvmlDevice device(kBusId);
  EXPECT_EQ(device.energy_unavailable(), "");
  const auto start = std::chrono::steady_clock::now();
  const double before = device.energy_j().value();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double joules = device.energy_j().value() - before;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_GE(joules, 500 * 0.019);
  EXPECT_LE(joules, 500 * spent.count() + 1e-6);
}

TEST_F(NvmlTest, SaysWhyEnergyIsNotKnown) {
  variable<bool>("kiln_stub_counts_energy") = false;
  variable<bool>("kiln_stub_tells_power") = false;
  NvmlDevice silent(kBusId);
  EXPECT_EQ(silent.energy_unavailable(), "NVML reports neither energy nor power for this device");
  EXPECT_FALSE(silent.energy_j().has_value());
  NvmlDevice unknown("0000:99:00.0");
  EXPECT_EQ(unknown.energy_unavailable(), "NVML does not know the device 0000:99:00.0 (error 6)");
  EXPECT_EQ(unknown.clock_state().throttle, "unknown");
}

TEST(NvmlDeathTest, WithoutTheLibraryNothingIsKnown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked before
  const auto ask = [] {
    ::setenv("KILN_NVML_LIBRARY", "/nowhere/libnvidia-ml.so.1", 1);
    NvmlDevice device(kBusId);
    std::fprintf(stderr, "%s; throttle %s", device.energy_unavailable().c_str(),
                 device.clock_state().throttle.c_str());
    std::exit(device.energy_j() ? 1 : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0),
              "unavailable: NVML library not found \\(no /nowhere/libnvidia-ml.so.1\\); throttle "
              "unknown");
}

}  // namespace
}  // namespace kiln
