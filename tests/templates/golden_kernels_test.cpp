// The default config of every variant of every built-in kernel, as `kiln render` prints it below
// its heading. The files show a reader what a user gets, and a change of a template shows what it
// changes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "core/source_text.hpp"
#include "templates/library.hpp"
#include "templates/prelude.hpp"
#include "templates/renderer.hpp"
#include "tests/templates/golden_file.hpp"
#include "tests/templates/usual_lines.hpp"

namespace kiln::test {
namespace {

struct Dialect {
  std::string backend;
  std::string ending;
  std::vector<std::string> architectures;  // the first on which a variant is possible counts
};

// An OpenCL device that is a CPU, which some variants ask for.
constexpr const char* kOpenClCpu = "opencl on a CPU";

DeviceInfo device_of(const Dialect& dialect, const std::string& architecture) {
  if (architecture != kOpenClCpu) return device_for_architecture(dialect.backend, architecture);
  DeviceInfo device = device_for_architecture(dialect.backend, "opencl");
  device.is_cpu = true;
  return device;
}

const std::vector<Dialect> kDialects = {{"cuda", "cu", {"sm_90a"}},
                                        {"hip", "hip", {"gfx90a", "gfx1100"}},
                                        {"opencl", "cl", {"opencl", kOpenClCpu}}};

// A variant is shown for the first of its kernel's problems that it takes.
const std::map<std::string, std::vector<std::string>> kProblems = {
    {"arg_reduce", {"n=1000000", "n=1000 results=1000"}},
    {"convolution",
     {"n=32 h=28 w=28 c=128 k=128 fh=3 dtype=f16 layout=nhwc",
      "n=32 h=28 w=28 c=128 k=128 fh=3 dtype=f32", "h=1080 w=1920 fh=5",
      "n=32 h=56 w=56 c=128 k=128 groups=128 fh=3 layout=nhwc",
      "n=32 h=56 w=56 c=128 k=128 groups=128 fh=3 dtype=f16", "n=32 h=56 w=56 c=256 k=64 fh=1",
      "h=14 w=14 c=256 k=64 fh=3"}},
    {"histogram", {"n=1000000 bins=256"}},
    {"matmul",
     {"m=1024 n=1024 k=1024 dtype=f16", "m=1024 n=1024 k=1024", "m=4 n=4096 k=4096 dtype=f16"}},
    {"normalize", {"rows=100 cols=4096 dtype=bf16"}},
    {"preprocess",
     {"n=32 src_h=2160 src_w=3840 out_h=640 out_w=640",
      "n=32 src_h=2160 src_w=3840 out_h=640 out_w=640 filter=area"}},
    {"reduce", {"n=1000000", "n=1000 results=1000", "n=1000 results=1000 axis=first"}},
    {"scan", {"n=1000000", "n=1000 rows=1000"}},
    {"transpose", {"rows=1024 cols=1024", "rows=1024 cols=4", "rows=4 cols=1024"}},
};

std::vector<std::string> problems_of(const KernelSpec& spec) {
  const auto found = kProblems.find(spec.name);
  return found == kProblems.end() ? usual_lines(spec, {1000}) : found->second;
}

/// A variant's default config as readers see it, but for the heading, which tells what the spec
/// says of each value (renderer_test.cpp shows one).
struct Shown {
  std::string problem;
  std::string config;
  std::string architecture;
  std::string text;
};

/// nullopt: no problem of the list and no architecture of the dialect admits the variant's default.
std::optional<Shown> shown_for(const KernelSpec& spec, const Variant& variant,
                               const Dialect& dialect) {
  for (const std::string& architecture : dialect.architectures) {
    const DeviceInfo device = device_of(dialect, architecture);
    for (const std::string& text : problems_of(spec)) {
      const Problem problem = Problem::parse(spec, text);
      const Setting setting(spec, problem, device);
      const Config config = setting.default_config(variant);
      if (!setting.plan(config)) continue;
      const std::string source = Renderer(spec).render_readable(setting, config);
      return Shown{problem.text(), config.text(), architecture, source.substr(source.find("\n\n"))};
    }
  }
  return std::nullopt;
}

std::set<std::string> golden_files(const std::string& kernel) {
  std::set<std::string> names;
  const std::filesystem::path folder = golden_folder() / kernel;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

/// The words of any dialect that `text` uses and the dialect of `backend` does not define.
std::set<std::string> undefined_words(const std::string& text, const std::string& backend) {
  std::set<std::string> words = identifiers_of(text);
  const std::vector<std::string> all = dialect_words("cuda");
  std::erase_if(words, [&](const auto& word) { return !std::ranges::binary_search(all, word); });
  for (const std::string& word : dialect_words(backend)) words.erase(word);
  return words;
}

class GoldenKernels : public ::testing::TestWithParam<std::string> {};

/// The first line of `text`, its problem, and the lines that `whole` does not have.
std::string lines_that_differ(const std::string& text, const std::string& whole) {
  std::set<std::string> known;
  std::string line;
  for (std::istringstream lines(whole); std::getline(lines, line);) known.insert(line);
  std::istringstream lines(text);
  std::getline(lines, line);
  std::string differing = line + "\n";
  while (std::getline(lines, line))
    if (!known.contains(line)) differing += line + "\n";
  return differing;
}

// One file for all dialects that get the same text, named by the first of them; its first line says
// for which architectures it was rendered. Another text of the variant has a file with the lines
// that the first one does not have.
TEST_P(GoldenKernels, AreWhatTheTemplatesGive) {
  const KernelSpec spec = KernelLibrary().load(GetParam());
  std::set<std::string> expected;
  for (const Variant& variant : spec.variants) {
    struct File {
      std::string name;
      std::string architectures;
    };
    std::map<std::string, File> files;   // by problem and text
    const std::string* whole = nullptr;  // the text of the first dialect
    for (const Dialect& dialect : kDialects) {
      const std::optional<Shown> shown = shown_for(spec, variant, dialect);
      if (!shown) continue;
      EXPECT_THAT(undefined_words(shown->text, dialect.backend), testing::IsEmpty())
          << variant.name << " for " << dialect.backend;
      const auto [found, is_new] =
          files.try_emplace(shown->problem + "\n// " + shown->config + shown->text);
      File& file = found->second;
      if (whole == nullptr) whole = &found->first;
      if (is_new) file.name = variant.name + "." + dialect.ending;
      file.architectures += (is_new ? "" : ", ") + shown->architecture;
    }
    EXPECT_FALSE(files.empty()) << variant.name << ": no problem of the list admits it";
    for (const auto& [text, file] : files) {
      expected.insert(file.name);
      const std::string shown = &text == whole ? text : lines_that_differ(text, *whole);
      expect_golden(spec.name + "/" + file.name, "// " + file.architectures + ": " + shown);
    }
  }
  EXPECT_EQ(golden_files(spec.name), expected);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GoldenKernels, testing::ValuesIn(KernelLibrary().names()),
                         [](const auto& kernel) { return kernel.param; });

}  // namespace
}  // namespace kiln::test
