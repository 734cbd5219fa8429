// Every built-in kernel is clean, and the default config of each variant is legal for awkward
// problems, and renders, for every kind of device.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/dtype.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "tests/templates/built_in_kernels.hpp"
#include "tests/templates/usual_lines.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

constexpr const char* kMostElements = "n=4294967295";  // that a histogram counts

const std::map<std::string, std::vector<std::string>> kAwkwardProblems = {
    {"arg_reduce",
     {"n=1", "n=5e9", "n=77,dtype=f64,op=max", "n=1000,results=1000", "n=3,results=1e6,dtype=f16",
      "n=1e8,results=3,dtype=i32", "n=1000 results=77 dtype=f16 op=max"}},
    {"convolution",
     {"h=1,w=1,fh=31", "h=100 w=77 fh=15", "h=224,w=224,fh=7,n=32,c=3,k=64,stride=2",
      "h=56,w=56,fh=11,c=64,k=64,stride=4", "h=56,w=56,fh=3,n=32,c=128,k=128,groups=128",
      "h=7,w=7,fh=1,n=70000,c=512,k=512", "h=56 w=56 fh=3 n=2 c=8 k=16 groups=2 stride=2"}},
    {"histogram",
     {"n=1", "n=1000003,distribution=constant", kMostElements, "n=77,dtype=f32,bins=2",
      "n=77,dtype=i32,bins=1000", "n=77,dtype=f32,bins=65536"}},
    {"matmul",
     {"m=1,n=1,k=1", "m=100 n=77 k=33", "m=100,n=36,k=300,dtype=f64,trans_a=true",
      "m=16,n=4096,k=4096,dtype=f16,trans_b=true,beta_zero=false", "m=128,n=128,k=65536,dtype=bf16",
      "m=100 n=77 k=33 dtype=bf16 trans_a=true beta_zero=false"}},
    {"preprocess",
     {"out_h=64 out_w=64 src_h=300 src_w=401 n=2 fit=letterbox",
      "out_h=64 out_w=64 src_h=300 src_w=401 filter=area layout=hwc dtype=f16",
      "out_h=64 out_w=64 src_h=300 src_w=401 format=nv12 matrix=bt709 to=bgr"}},
    {"reduce",
     {"n=1", "n=1000003", "n=77,dtype=f64", "n=77,dtype=i32,op=min", "n=77,dtype=f16,op=dot",
      "n=77,dtype=bf16,op=max", "n=77,dtype=i32,op=dot", "n=77,map='x*x'",
      "n=1e9,source=index,map='sin(2*pi*i/n)**2'"}},
    {"transpose",
     {"rows=1,cols=1,dtype=u8", "rows=33,cols=100000,dtype=f16",
      "rows=100 cols=77 dtype=u8 batch=3", "rows=4096,cols=4096,dtype=f64,batch=100000"}},
};

std::vector<std::string> awkward_problems(const KernelSpec& spec) {
  const auto found = kAwkwardProblems.find(spec.name);
  return found == kAwkwardProblems.end() ? usual_lines(spec, {1, 77, 1000003}) : found->second;
}

std::vector<DeviceInfo> all_devices() {
  std::vector<DeviceInfo> devices;
  for (const char* name : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"})
    devices.push_back(device_for_architecture("cuda", name));
  for (const char* name : {"gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"})
    devices.push_back(device_for_architecture("hip", name));
  devices.push_back(device_for_architecture("opencl", "opencl"));
  return devices;
}

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

class BuiltInKernel : public testing::TestWithParam<std::string> {};

TEST_P(BuiltInKernel, HasLegalDefaultsThatRenderForEveryDevice) {
  const KernelSpec spec = KernelLibrary().load(GetParam());
  const Renderer renderer(spec);
  for (const std::string& text : awkward_problems(spec)) {
    const Problem problem = Problem::parse(spec, text);
    for (const DeviceInfo& device : all_devices()) {
      const Setting setting(spec, problem, device);
      const Scope& scope = setting.scope();
      int possible = 0;
      for (const Variant& variant : spec.variants) {
        if (variant.requires_ && !variant.requires_->evaluate_bool(scope)) continue;
        ++possible;
        SCOPED_TRACE(text + " on " + device.architecture + ": " + variant.name);
        const Config config = setting.default_config(variant);
        const Result<LaunchPlan> plan = setting.plan(config);
        // HIP cannot launch a thread for each of so many elements.
        if (device.backend == "hip" && variant.name == "global_atomic" && text == kMostElements) {
          ASSERT_FALSE(plan);
          EXPECT_THAT(plan.failure().message, HasSubstr("this device takes at most 4294967295"));
          continue;
        }
        ASSERT_TRUE(plan) << plan.failure().message;
        const Source source = renderer.render(setting, config);
        for (const StepPlan& step : plan->steps) {
          if (step.kind != StepKind::launch) continue;
          EXPECT_THAT(source.entries, testing::Contains(step.entry));
          EXPECT_THAT(source.text, HasSubstr(" " + step.entry + "("));
        }
        EXPECT_THAT(source.text, testing::Not(HasSubstr("{{")));
      }
      EXPECT_GE(possible, 2) << text << " on " << device.architecture;
    }
  }
}

// Where a problem is too large for the CPU loop.
TEST_P(BuiltInKernel, HasALegalReferenceOnADeviceWithF64) {
  const KernelSpec spec = KernelLibrary().load(GetParam());
  if (spec.verify.device_reference.empty()) return;
  for (const std::string& problem : awkward_problems(spec))
    EXPECT_EQ(objection_to(spec.name, problem, spec.verify.device_reference), "legal") << problem;
}

INSTANTIATE_TEST_SUITE_P(Of, BuiltInKernel, testing::ValuesIn(KernelLibrary().names()),
                         [](const auto& kernel) { return kernel.param; });

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
  for (const Launch& launch : launches) {
    const Rendered render(launch.kernel);
    EXPECT_EQ(render(launch.problem, launch.config), render(launch.problem, launch.same))
        << launch.config;
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
