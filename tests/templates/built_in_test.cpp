// Every built-in kernel is clean, and the default config of each variant renders in every dialect.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/dtype.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::test {
namespace {

struct BuiltInCase {
  const char* kernel;
  const char* problem;
};

constexpr BuiltInCase kBuiltInCases[] = {
    {"arg_reduce", "n=100003"},
    {"arg_reduce", "n=1000 results=77 dtype=f16 op=max"},
    {"reduce", "n=100003"},
    {"reduce", "n=100003 dtype=f16 op=dot"},
    {"reduce", "n=100003 dtype=f64 source=index map='sin(2*x)**2*cos(x)**2'"},
    {"histogram", "n=100003"},
    {"histogram", "n=100003 dtype=f32 bins=1000"},
    {"transpose", "rows=100 cols=77"},
    {"transpose", "rows=100 cols=77 dtype=u8 batch=3"},
    {"matmul", "m=100 n=77 k=33"},
    {"matmul", "m=100 n=77 k=33 dtype=bf16 trans_a=true beta_zero=false"},
    {"convolution", "h=100 w=77 fh=15"},
    {"convolution", "h=56 w=56 fh=3 n=2 c=8 k=16 groups=2 stride=2"},
    {"preprocess", "out_h=64 out_w=64 src_h=300 src_w=401 n=2 fit=letterbox"},
    {"preprocess", "out_h=64 out_w=64 src_h=300 src_w=401 filter=area layout=hwc dtype=f16"},
    {"preprocess", "out_h=64 out_w=64 src_h=300 src_w=401 format=nv12 matrix=bt709 to=bgr"},
};

TEST(BuiltInKernels, HaveNoLintFindings) {
  for (const std::string& name : KernelLibrary().names()) {
    for (const LintFinding& finding : lint(KernelLibrary().load(name))) {
      ADD_FAILURE() << to_text(finding.where) << ": " << finding.message;
    }
  }
}

// The lists of bench/peers are read by scripts that need a GPU; a field that a kernel no longer has
// shows here.
TEST(BuiltInKernels, TakeEveryProblemOfTheListsOfPeers) {
  const std::string folder = std::string(KILN_SOURCE_DIR) + "/bench/peers/lists";
  int problems = 0;
  for (const auto& list : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(list.path());
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.front() == '#') continue;
      const std::size_t space = line.find(' ');
      ASSERT_NE(space, std::string::npos) << list.path() << ": " << line;
      const KernelSpec spec = KernelLibrary().load(line.substr(0, space));
      EXPECT_NO_THROW(static_cast<void>(Problem::parse(spec, line.substr(space + 1))))
          << list.path() << ": " << line;
      ++problems;
    }
  }
  EXPECT_GT(problems, 80);
}

TEST(BuiltInKernels, DefaultConfigsRenderInEveryDialect) {
  for (const BuiltInCase& c : kBuiltInCases) {
    KernelSpec spec = KernelLibrary().load(c.kernel);
    Renderer renderer(spec);
    Problem problem = Problem::parse(spec, c.problem);
    for (const char* backend : {"cuda", "hip", "opencl"}) {
      DeviceInfo device = device_for_architecture(backend, architecture_for(backend));
      Scope scope = Setting(spec, problem, device).scope();
      int possible = 0;
      for (const Variant& variant : spec.variants) {
        if (variant.requires_ && !variant.requires_->evaluate_bool(scope)) continue;
        ++possible;
        Source source = renderer.render({spec, problem, device},
                                        Setting(spec, problem, device).default_config(variant));
        EXPECT_FALSE(source.entries.empty()) << c.kernel << " " << variant.name;
        EXPECT_THAT(source.text, testing::Not(testing::HasSubstr("{{")))
            << c.kernel << " " << variant.name;
      }
      EXPECT_GE(possible, 2) << c.kernel << " " << c.problem << " " << backend;
    }
  }
}

// Equal sources share one compile, so tunables that only shape the launch cost none.
TEST(BuiltInKernels, RenderTheSameSourceWhereOnlyTheLaunchDiffers) {
  struct Launch {
    const char* kernel;
    const char* problem;
    const char* config;
    const char* same;
  };
  const Launch launches[] = {
      {"reduce", "n=2^28", "grid_stride:blocks_per_unit=2", "grid_stride:blocks_per_unit=16"},
      {"reduce", "n=2^28", "relay:blocks_per_unit=1", "relay:blocks_per_unit=8"},
      {"histogram", "n=2^28 bins=256", "shared:blocks_per_unit=2", "shared:blocks_per_unit=8"},
  };
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  for (const Launch& launch : launches) {
    const KernelSpec spec = KernelLibrary().load(launch.kernel);
    const Renderer renderer(spec);
    const Problem problem = Problem::parse(spec, launch.problem);
    const auto text = [&](const char* config) {
      return renderer.render({spec, problem, device}, Setting(spec, problem, device).parse(config))
          .text;
    };
    EXPECT_EQ(text(launch.config), text(launch.same)) << launch.config;
  }
}

TEST(Toolbox, RendersForEveryElementType) {
  KernelSpec spec = KernelLibrary::load_toolbox();
  EXPECT_THAT(lint(spec), testing::IsEmpty());
  Renderer renderer(spec);
  DeviceInfo device = device_for_architecture("opencl", "opencl");
  for (DType dtype : all_dtypes()) {
    Problem problem = Problem::parse(spec, "n=5000000000 dtype=" + std::string(name_of(dtype)));
    for (const Variant& variant : spec.variants) {
      Source source = renderer.render({spec, problem, device},
                                      Setting(spec, problem, device).default_config(variant));
      const auto launches =
          std::count_if(variant.steps.begin(), variant.steps.end(),
                        [](const Step& step) { return step.kind == StepKind::launch; });
      EXPECT_EQ(static_cast<std::ptrdiff_t>(source.entries.size()), launches) << variant.name;
    }
  }
}

}  // namespace
}  // namespace kiln::test
