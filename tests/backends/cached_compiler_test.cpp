// Binaries that are kept: found again by the same source, made anew by anything else.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cached_compiler.hpp"

#include <stdlib.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "core/device.hpp"

namespace kiln {
namespace {

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
  CachedCompilerTest() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-cached-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    ::setenv("KILN_CACHE", folder_.c_str(), 1);
  }
  ~CachedCompilerTest() override {
    ::unsetenv("KILN_CACHE");
    std::filesystem::remove_all(folder_);
  }

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

  std::filesystem::path folder_;
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

}  // namespace
}  // namespace kiln
