// Every variant of every built-in kernel compiles with the vendor's own compiler, no GPU needed:
// NVRTC in kernels_cuda_test, hipRTC in kernels_hip_test (KILN_TEST_BACKEND).
//
// A push (KILN_PART) takes of the architectures beside sm_90a and gfx90a one of each compiler, by
// turns, and compiles each variant in each element type on one architecture at least.
//
// One test a kernel and architecture, each a process of its own under ctest: hipRTC is not
// thread-safe, and a compiler that crashes hides no other kernel.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/backends/required.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/reliability/size.hpp"

namespace kiln::test {
namespace {

constexpr std::string_view kBackend = KILN_TEST_BACKEND;
constexpr std::size_t kRandomCompiles = 6;  // of each variant
constexpr std::uint64_t kCompileSeed = 2;

const std::vector<std::string>& architectures_of(std::string_view backend) {
  static const std::vector<std::string> kCuda = {"sm_75",  "sm_80",  "sm_89",
                                                 "sm_90a", "sm_100", "sm_120"};
  static const std::vector<std::string> kHip = {"gfx906",  "gfx90a",  "gfx942", "gfx950",
                                                "gfx1030", "gfx1100", "gfx1201"};
  return backend == "cuda" ? kCuda : kHip;
}

const std::vector<std::string>& architectures() { return architectures_of(kBackend); }

/// hipRTC 5.2, which Debian 12 has, does not know these; hipRTC 6.4 does.
bool needs_newer_hiprtc(const std::string& architecture) {
  const std::set<std::string> newer = {"gfx942", "gfx950", "gfx1100", "gfx1201"};
  return newer.count(architecture) > 0;
}

/// Is this run by tests/support/with_private_hip, as kernels_hip6?
bool has_newer_hiprtc() { return std::getenv("KILN_TEST_HIP6") != nullptr; }

/// Why this run leaves the architecture to another one; empty: it does not.
std::string left_to_another_run(const std::string& architecture) {
  if (kBackend != "hip") return {};
  if (needs_newer_hiprtc(architecture) && !has_newer_hiprtc()) return "compiled by kernels_hip6";
  if (!needs_newer_hiprtc(architecture) && has_newer_hiprtc() && !is_soak())
    return "compiled by kernels_hip; by kernels_hip6, too, with KILN_SOAK=1";
  return {};
}

/// Where everything is compiled: every default config, and random ones, too. What the others may
/// lack is an instruction or an element type, so they compile each variant in each type; with
/// KILN_SOAK=1 every default config, too.
bool is_explored(const std::string& architecture) {
  return architecture == "sm_90a" || architecture == "gfx90a";
}

/// Of the architectures those that take their turn on a push: one of each compiler beside the
/// explored one, the next one for the next kernel.
std::vector<std::string> with_a_turn(const std::string& kernel) {
  std::vector<std::string> older;
  std::vector<std::string> newer;
  for (const std::string& architecture : architectures()) {
    if (is_explored(architecture)) continue;
    (needs_newer_hiprtc(architecture) ? newer : older).push_back(architecture);
  }
  const auto place =
      static_cast<std::size_t>(std::ranges::find(kernel_names(), kernel) - kernel_names().begin());
  std::vector<std::string> turns;
  for (const auto& all : {older, newer}) {
    if (!all.empty()) turns.push_back(all[turn_of(all.size(), place)]);
  }
  return turns;
}

using KernelAndArchitecture = std::tuple<std::string, std::string>;

class KernelCompiles : public testing::TestWithParam<KernelAndArchitecture> {
 protected:
  void SetUp() override {
    const auto& [kernel, architecture] = GetParam();
    const std::string other = left_to_another_run(architecture);
    if (!other.empty()) GTEST_SKIP() << other;
    spec_ = KernelLibrary().load(kernel);
    problems_ = problems_to_compile(spec_);
    device_ = device_for_architecture(std::string(kBackend), architecture);
    try {
      compiler_ = make_backend(kBackend)->open_compiler(device_);
    } catch (const DeviceError& error) {
      const char* library = kBackend == "cuda" ? "nvrtc" : "hiprtc";
      KILN_SKIP_UNLESS_REQUIRED(has_newer_hiprtc() ? "hiprtc6" : library, error.what());
    }
  }

  void compile(const Renderer& renderer, const Case& c) {
    const std::string text = c.text(spec_);
    const Result<LaunchPlan> plan = Setting(spec_, c.problem, device_).plan(c.config);
    ASSERT_TRUE(plan) << text << ": " << plan.failure().message;
    const Source source = renderer.render({spec_, c.problem, device_}, c.config);
    if (!compiled_.insert(binary_key(source, device_.backend, device_.architecture, "")).second)
      return;
    const Result<Binary> binary = compiler_->compile(source);
    ASSERT_TRUE(binary) << text << ": " << binary.failure().message;
    EXPECT_FALSE(binary->data.empty()) << text;
    EXPECT_GT(binary->registers, 0) << text;
    EXPECT_LE(binary->shared_bytes, device_.max_shared_bytes) << text;
  }

  /// One default config of each variant in each type.
  [[nodiscard]] std::vector<Case> each_type_once(const DeviceInfo& device) const {
    const auto place = std::ranges::find(architectures(), device.architecture);
    const auto seed = static_cast<std::uint64_t>(place - architectures().begin());
    return one_of_each_type(spec_, default_cases(spec_, problems_, device), seed);
  }

  /// Of those, what a push compiles on this architecture, so that it compiles each on one at least:
  /// all where it is the architecture's turn; else what the explored one and those before lack.
  [[nodiscard]] std::vector<Case> left_to_this_architecture() const {
    std::vector<std::string> order = with_a_turn(spec_.name);
    const auto has_a_turn = [&](const std::string& each) {
      return std::ranges::find(order, each) != order.end();
    };
    std::vector<Case> cases = each_type_once(device_);
    if (has_a_turn(device_.architecture)) return cases;
    std::vector<std::string> others = architectures();
    std::erase_if(others, has_a_turn);
    std::ranges::stable_partition(others, is_explored);
    order.insert(order.end(), others.begin(), std::ranges::find(others, device_.architecture));
    std::set<std::string> compiled_elsewhere;
    for (const std::string& before : order) {
      for (const Case& c : each_type_once(device_for_architecture(std::string(kBackend), before)))
        compiled_elsewhere.insert(kind_of(spec_, c));
    }
    std::erase_if(cases,
                  [&](const Case& c) { return compiled_elsewhere.count(kind_of(spec_, c)) > 0; });
    return cases;
  }

  KernelSpec spec_;
  std::vector<Problem> problems_;
  DeviceInfo device_;
  std::unique_ptr<Compiler> compiler_;
  std::set<std::string> compiled_;  // equal sources are compiled once
};

TEST_P(KernelCompiles, InEveryVariant) {
  const Renderer renderer(spec_);
  const bool is_part = part_of_lists() > 1;
  std::vector<Case> cases;
  if (is_explored(device_.architecture) || is_soak())
    cases = drawn_cases(default_cases(spec_, problems_, device_));
  else if (!is_part)
    cases = each_type_once(device_);
  if (is_part) {
    for (Case& c : left_to_this_architecture()) cases.push_back(std::move(c));
    if (cases.empty()) GTEST_SKIP() << "left to other commits, which draw other architectures";
  }
  std::set<std::string> variants;
  for (const Case& c : cases) variants.insert(c.config.variant);
  for (const Case& c : cases) compile(renderer, c);
  EXPECT_GE(compiled_.size(), is_part ? variants.size() : spec_.variants.size());
  if (is_explored(device_.architecture)) {
    for (const Case& c :
         drawn_cases(random_cases(spec_, problems_, device_, kRandomCompiles, kCompileSeed)))
      compile(renderer, c);
  }
  RecordProperty("sources", static_cast<int>(compiled_.size()));
}

INSTANTIATE_TEST_SUITE_P(Each, KernelCompiles,
                         testing::Combine(testing::ValuesIn(kernel_names()),
                                          testing::ValuesIn(architectures())),
                         [](const testing::TestParamInfo<KernelAndArchitecture>& each) {
                           return std::get<0>(each.param) + "_" + std::get<1>(each.param);
                         });

TEST(Toolbox, Compiles) {
  const KernelSpec spec = KernelLibrary::load_toolbox();
  const Renderer renderer(spec);
  const DeviceInfo device =
      device_for_architecture(std::string(kBackend), kBackend == "cuda" ? "sm_90a" : "gfx90a");
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_backend(kBackend)->open_compiler(device);
  } catch (const DeviceError& error) {
    KILN_SKIP_UNLESS_REQUIRED(kBackend == "cuda" ? "nvrtc" : "hiprtc", error.what());
  }
  for (const DType dtype : all_dtypes()) {
    // As long as the shared memory that poison_shared is asked to fill.
    const std::string name(name_of(dtype));
    const Problem problem = Problem::make(
        spec, {{"n", device.max_shared_bytes_optin}, {"dtype", name}, {"reference", name}});
    for (const Variant& variant : spec.variants) {
      const bool is_typed = variant.name == "fill" || variant.name == "compare";
      if (!is_typed && dtype != DType::u8) continue;
      const std::string text = variant.name + " " + name;
      const Config config = Setting(spec, problem, device).default_config(variant);
      const Result<LaunchPlan> plan = Setting(spec, problem, device).plan(config);
      EXPECT_TRUE(plan) << text << ": " << plan.failure().message;
      const Result<Binary> binary =
          compiler->compile(renderer.render({spec, problem, device}, config));
      EXPECT_TRUE(binary) << text << ": " << binary.failure().message;
    }
  }
}

TEST(Kernels, AreAllOfTheLibrary) { EXPECT_EQ(kernel_names(), KernelLibrary().names()); }

TEST(KernelVariants, AreEachPossibleOnOneOfTheArchitectures) {
  for (const std::string& kernel : kernel_names()) {
    const KernelSpec spec = KernelLibrary().load(kernel);
    const std::vector<Problem> problems = problems_to_compile(spec);
    std::set<std::string> possible;
    for (const std::string backend : {"cuda", "hip"}) {  // some variants are made for one of them
      for (const std::string& architecture : architectures_of(backend)) {
        const DeviceInfo device = device_for_architecture(backend, architecture);
        for (const Case& c : default_cases(spec, problems, device))
          possible.insert(c.config.variant);
      }
    }
    for (const Variant& variant : spec.variants) {
      EXPECT_THAT(possible, testing::Contains(variant.name)) << kernel;
    }
  }
}

}  // namespace
}  // namespace kiln::test
