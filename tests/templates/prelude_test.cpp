// The dialects speak the same words, and a kernel gets only those it uses.
// SPDX-License-Identifier: Apache-2.0
#include "templates/prelude.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Words of units and launches that OpenCL has no language for.
bool is_of_a_unit(const std::string& word) {
  return word.starts_with("MATRIX_") || word.starts_with("ASYNC_") || word == "DEPENDENT_LAUNCH";
}

TEST(Prelude, AllDialectsDefineTheSameWords) {
  EXPECT_THAT(dialect_words("hip"), testing::SizeIs(testing::Gt(100U)));
  std::vector<std::string> common = dialect_words("hip");
  std::erase_if(common, is_of_a_unit);
  EXPECT_EQ(dialect_words("opencl"), common);
  EXPECT_THAT(dialect_words("cuda"), testing::IsSupersetOf(dialect_words("hip")));
}

/// The identifiers below a heading of docs/dialect.md.
std::set<std::string> documented_words(const std::string& heading) {
  std::ifstream file(KILN_SOURCE_DIR "/docs/dialect.md");
  std::set<std::string> words;
  bool is_below = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_below = line == "## " + heading;
    if (!is_below) continue;
    std::string word;
    for (const char c : line + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
      } else {
        words.insert(std::exchange(word, ""));
      }
    }
  }
  return words;
}

// What only CUDA has is told apart, so that nobody takes it for a word of all three languages.
TEST(Prelude, WordsOfCudaAloneAreDocumentedAsSuch) {
  const std::vector<std::string> common = dialect_words("hip");
  std::vector<std::string> of_cuda;
  std::ranges::set_difference(dialect_words("cuda"), common, std::back_inserter(of_cuda));
  EXPECT_THAT(of_cuda, testing::Contains("TENSOR_MAP_PARAM"));
  const std::set<std::string> documented = documented_words("Words of CUDA alone");
  for (const std::string& word : of_cuda) EXPECT_TRUE(documented.count(word) == 1) << word;
}

TEST(Prelude, WordsOfCudaAndHipAreDocumentedAsSuch) {
  std::vector<std::string> of_both;
  std::ranges::set_difference(dialect_words("hip"), dialect_words("opencl"),
                              std::back_inserter(of_both));
  EXPECT_THAT(of_both, testing::Contains("MATRIX_LOAD"));
  const std::set<std::string> documented = documented_words("Words of CUDA and HIP");
  for (const std::string& word : of_both) EXPECT_TRUE(documented.count(word) == 1) << word;
}

TEST(Prelude, OnlyWhatAKernelUsesAndWhatThatUses) {
  EXPECT_EQ(prelude_for("hip", "void f() { x = F32_TO_BF16(y) + THREAD_X; }", 64),
            "#define DEVICE_FUNCTION static __device__ __attribute__((always_inline)) inline\n"
            "\n"
            "#define THREAD_X ((int)threadIdx.x)\n"
            "\n"
            "typedef unsigned int u32;\n"
            "typedef float f32;\n"
            "\n"
            "typedef unsigned short bf16_t;  // the bits of a bfloat16\n"
            "\n"
            "#define F32_TO_BITS(value) __builtin_bit_cast(u32, (f32)(value))\n"
            "\n"
            "DEVICE_FUNCTION bf16_t kiln_f32_to_bf16(f32 value) {\n"
            "  u32 bits = F32_TO_BITS(value);\n"
            "  if (value != value) return (bf16_t)0x7fff;\n"
            "  return (bf16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);  // ties to even\n"
            "}\n"
            "#define F32_TO_BF16(value) kiln_f32_to_bf16(value)\n");
  EXPECT_EQ(prelude_for("cuda", "// BARRIER() in a comment /* THREAD_X */ is not used\n", 32), "");
}

// A comment belongs to the lines below it; where none of them is used, it is not shown.
TEST(Prelude, AWordBringsItsComment) {
  const std::string bulk = "// Stores of this thread since the last commit are a group";
  EXPECT_THAT(prelude_for("cuda", "BULK_WAIT(0);", 32), StartsWith(bulk));
  const std::string relaxed = "// Orders no memory but what MBARRIER_FENCE did";
  EXPECT_THAT(prelude_for("cuda", "CLUSTER_BARRIER_RELAXED();", 32), StartsWith(relaxed));
  EXPECT_THAT(prelude_for("cuda", "CLUSTER_BARRIER();", 32), Not(HasSubstr("//")));
}

std::string dialect_text(const std::string& backend) {
  std::ifstream file(KILN_SOURCE_DIR "/templates/dialects/" + backend + ".h");
  return {std::istreambuf_iterator<char>(file), {}};
}

// So that no definition is left out because the reader of dialects does not see its name.
TEST(Prelude, EveryLineOfADialectIsFoundByItsWords) {
  for (const std::string backend : {"cuda", "hip", "opencl"}) {
    std::istringstream lines(dialect_text(backend));
    const std::string everything = prelude_for(backend, dialect_text(backend), 32);
    std::string words;
    for (const std::string& word : dialect_words(backend)) words += word + " ";
    const std::string named = prelude_for(backend, words, 32);
    EXPECT_EQ(named, everything);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("//") || line.ends_with("WARP_SIZE")) continue;
      if (line.starts_with("#define WARP_SIZE")) line = "#define WARP_SIZE 32";
      EXPECT_THAT(named, HasSubstr(line + "\n")) << backend;
    }
  }
}

TEST(Prelude, WarpSizeIsTheDevices) {
  EXPECT_EQ(prelude_for("hip", "WARP_SIZE", 32), "#define WARP_SIZE 32\n");
  EXPECT_EQ(prelude_for("opencl", "WARP_SIZE", 1), "#define WARP_SIZE 1\n");
  EXPECT_THAT(prelude_for("hip", "KERNEL_MIN_BLOCKS(256, 1, 1, 2) f() {}", 64),
              HasSubstr("#define WARP_SIZE 64\n"));
}

TEST(Prelude, NoDialectIncludesAHeader) {
  for (const char* backend : {"cuda", "hip", "opencl"}) {
    std::string everything;
    for (const std::string& word : dialect_words(backend)) everything += word + " ";
    EXPECT_THAT(prelude_for(backend, everything, 32), Not(HasSubstr("#include"))) << backend;
  }
}

TEST(Prelude, AnUnknownBackendIsNamed) {
  EXPECT_EQ(test::error_of<DeviceError>([&] { return prelude_for("metal", "", 32); }),
            "there is no dialect for backend 'metal' (cuda, hip, opencl)");
}

}  // namespace
}  // namespace kiln
