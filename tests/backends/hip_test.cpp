// What is particular to HIP: hipRTC, which needs no GPU, and what the backend reads out of HIP's
// answers.
//
// Run again with KILN_HIP_LIBRARY naming HIP on the CPU (tests/support), the stories prove the host
// code; nothing here has run on AMD hardware yet.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "backends/elf_image.hpp"
#include "backends/hip/code_object.hpp"
#include "backends/hip/hip_api.hpp"
#include "backends/hip/hip_devices.hpp"
#include "tests/backends/stories.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kHipStage = R"(
KERNEL stage(GLOBAL float* out, int n) {
  SHARED float tile[256];
  tile[THREAD_X] = out[THREAD_X];
  BARRIER();
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += tile[(THREAD_X + i) % 256];
  out[THREAD_X] = sum;
}
)";

std::unique_ptr<Compiler> compiler_for(const std::string& architecture) {
  DeviceInfo target;
  target.backend = "hip";
  target.architecture = architecture;
  return make_backend("hip")->open_compiler(target);
}

TEST(HipNames, VersionsAreReadAsWritten) {
  EXPECT_EQ(hip_version_text(50221153), "5.2.21153");
  EXPECT_EQ(hip_version_text(60342131), "6.3.42131");
}

TEST(HipNames, AnIsaNamesItsArchitecture) {
  EXPECT_EQ(architecture_of_isa("amdgcn-amd-amdhsa--gfx90a"), "gfx90a");
  EXPECT_EQ(architecture_of_isa("amdgcn-amd-amdhsa--gfx9-4-generic"), "gfx9-4-generic");
  EXPECT_EQ(architecture_of_isa("gfx90a"), "");
}

TEST(HipNames, TheArchitectureIsFoundInAnyLayout) {
  const auto block_with = [](std::string_view text, std::size_t at) {
    std::vector<char> block(2048, '\0');
    std::string_view("gfx in a marketing name").copy(block.data(), 64);
    block[at - 1] = 7;  // the number before may have no zero byte
    text.copy(block.data() + at, text.size());
    return block;
  };
  const std::vector<std::string> known = {"gfx90a", "sm_90a"};
  for (const std::size_t at : {396U, 1160U}) {
    EXPECT_EQ(find_architecture(block_with("gfx90a:sramecc+:xnack-", at), known), "gfx90a");
    EXPECT_EQ(find_architecture(block_with("gfx1201", at), known), "gfx1201")
        << "unknown to the compiler";
    EXPECT_EQ(find_architecture(block_with("sm_90a", at), known), "sm_90a");
  }
  EXPECT_EQ(find_architecture(std::vector<char>(2048, '\0'), known), "");
  EXPECT_EQ(find_architecture({}, known), "");
}

/// hipRTC alone: no device.
class Hiprtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(hiprtc());
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED("hiprtc", error.what());
    }
    if (!knows("gfx906")) GTEST_SKIP() << hiprtc().path << " compiles for no AMD device";
  }

  static bool knows(const std::string& architecture) {
    const std::vector<std::string>& known = hiprtc().architectures;
    return std::find(known.begin(), known.end(), architecture) != known.end();
  }
};

TEST_F(Hiprtc, CompilesForAmdDevicesWithoutOne) {
  for (const std::string architecture : {"gfx906", "gfx90a", "gfx1030"}) {
    const Result<Binary> binary =
        compiler_for(architecture)->compile(story_source("hip", kHipStage, {"stage"}));
    ASSERT_TRUE(binary) << architecture << ": " << binary.failure().message;
    EXPECT_GT(binary->data.size(), 0U);
    EXPECT_GT(binary->registers, 0) << architecture;
    EXPECT_EQ(binary->spill_bytes, 0) << architecture;
    EXPECT_EQ(binary->shared_bytes, 1024) << architecture;
  }
}

TEST_F(Hiprtc, RefusesAnArchitectureItDoesNotKnowAndLivesOn) {
  std::vector<std::string> unknown = {
      "gfx9999", "sm_90a", "", "gfx90a:xnack+", "generic", "gfx9-generic", "gfx9-4-generic"};
  if (!knows("gfx942")) unknown.emplace_back("gfx942");
  for (const std::string& architecture : unknown) {
    const std::string error =
        test::error_of<DeviceError>([&] { return compiler_for(architecture); });
    EXPECT_THAT(error, StartsWith("hiprtc "));
    EXPECT_THAT(error, HasSubstr("does not know '" + architecture + "': it knows gfx"));
  }
  EXPECT_TRUE(compiler_for("gfx906")->compile(story_source("hip", kHipStage, {"stage"})));
}

TEST_F(Hiprtc, PointsAtTheTemplateInErrors) {
  const Result<Binary> binary = compiler_for("gfx90a")->compile(story_source(
      "hip", "KERNEL broken(GLOBAL int* out) {\n  out[0] = undefined_name;\n}\n", {"broken"}));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.failure().message,
              HasSubstr("story.inja:2: error: use of undeclared identifier 'undefined_name'"));
}

TEST_F(Hiprtc, NamesAnEntryThatIsNotThere) {
  const Result<Binary> binary =
      compiler_for("gfx90a")->compile(story_source("hip", kHipStage, {"stage", "merge"}));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().message, "story has no kernel named 'merge' (it has: stage)");
}

TEST_F(Hiprtc, AnOptionThatDoesNotExistIsACompileError) {
  Source source = story_source("hip", kHipStage, {"stage"});
  source.options = {"--no-such-option"};
  const Result<Binary> binary = compiler_for("gfx90a")->compile(source);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.failure().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.failure().message, HasSubstr("--no-such-option"));
}

TEST_F(Hiprtc, DamagedMetadataIsNoMetadata) {
  Result<Binary> binary =
      compiler_for("gfx90a")->compile(story_source("hip", kHipStage, {"stage"}));
  ASSERT_TRUE(binary) << binary.failure().message;
  Binary read;
  read.data = binary->data;
  EXPECT_EQ(read_code_object(read), (std::vector<std::string>{"stage"}));

  constexpr std::uint32_t kMetadataNote = 32;
  const auto note = find_elf_note(binary->data, kMetadataNote);
  ASSERT_TRUE(note);
  for (std::uint64_t i = 0; i < note->bytes; ++i) {
    Binary damaged;
    damaged.data = binary->data;
    damaged.data[note->offset + i] ^= std::byte{0xFF};
    static_cast<void>(
        read_code_object(damaged));  // whatever it reads, it neither throws nor overruns
  }
  for (std::uint64_t i = 0; i < note->bytes; ++i) binary->data[note->offset + i] = std::byte{0xC1};
  Binary garbage;
  garbage.data = binary->data;
  EXPECT_TRUE(read_code_object(garbage).empty());
  EXPECT_EQ(garbage.registers, -1);
}

class HipStory : public BackendStory {};

TEST_F(HipStory, TheDeviceHasAWavefront) {
  const DeviceInfo& info = device_->info();
  EXPECT_THAT(info.warp_size, testing::AnyOf(32, 64));
  EXPECT_THAT(info.compiler, StartsWith("hiprtc "));
  EXPECT_THAT(info.runtime, StartsWith("HIP "));
  EXPECT_TRUE(info.has_shuffle);
}

TEST_F(HipStory, AnApplicationsStreamIsUsed) {
  const std::unique_ptr<Device> attached = backend_->attach(NativeQueue{});
  EXPECT_EQ(attached->info(), device_->info());
  const Result<Buffer> buffer = attached->allocate(64);
  ASSERT_TRUE(buffer) << buffer.failure().message;
  EXPECT_TRUE(attached->fill(*buffer, 0, 64, 7));
  EXPECT_EQ(download<std::uint8_t>(*buffer, 64), std::vector<std::uint8_t>(64, 7));
}

}  // namespace
}  // namespace kiln
