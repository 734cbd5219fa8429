// Runs configs of built-in kernels on an OpenCL device and proves their results as the tuner does:
// by the kernel's CPU loop, with poisoned outputs, red zones and hashed inputs. A kernel that
// crashes takes its process along, so ctest runs one process a kernel, and the last words of a
// crash name the case.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "backends/cached_compiler.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/backends/required.hpp"
#include "tests/kernels/cases.hpp"
#include "tests/kernels/problems.hpp"
#include "tuner/checks/problem_bench.hpp"

namespace kiln::test {

inline constexpr std::uint64_t kInputSeed = 3;

// ---- What is running now, for the last words of a crash

inline std::string running_now;

extern "C" inline void say_what_was_running(int signal) {
  const ssize_t ignored = ::write(STDERR_FILENO, running_now.data(), running_now.size());
  static_cast<void>(ignored);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// A kernel on the first OpenCL device; the parameter is its name, where kernel() says nothing
/// else.
class KernelRuns : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
      std::signal(signal, say_what_was_running);
    // PoCL compiles a kernel once, for blocks of any size, instead of once more for each launch.
    ::setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", /*replace=*/0);
  }

  void SetUp() override {
    spec_ = KernelLibrary().load(kernel());
    renderer_.emplace(spec_);
    try {
      backend_ = make_backend(KILN_TEST_BACKEND);
      device_ = backend_->open_device(0);
      compiler_ = backend_->open_compiler(device_->info());
      toolbox_compiler_ = std::make_unique<CachedCompiler>(
          backend_->open_compiler(device_->info()), device_->info(), backend_->compiler_options());
    } catch (const DeviceError& error) {
      KILN_SKIP_UNLESS_REQUIRED(KILN_TEST_BACKEND, error.what());
    }
    toolbox_.emplace(*device_, *toolbox_compiler_);
  }

  [[nodiscard]] virtual std::string kernel() const { return GetParam(); }

  /// Compiles once a source.
  Result<Binary> compile(const Case& c) {
    const Source source = renderer_->render({spec_, c.problem, device_->info()}, c.config);
    const std::string key = binary_key(source, KILN_TEST_BACKEND, device_->info().architecture, "");
    if (const auto found = binaries_.find(key); found != binaries_.end()) return found->second;
    Result<Binary> binary = compiler_->compile(source);
    if (binary) binaries_.emplace(key, *binary);
    return binary;
  }

  /// Arguments and expected results, kept until another problem comes.
  ProblemBench* bench_for(const Problem& problem) {
    if (bench_ && bench_problem_ == problem) return bench_.get();
    bench_.reset();
    Result<std::unique_ptr<ProblemBench>> made =
        ProblemBench::create({*device_, *compiler_, *toolbox_}, spec_, problem, kInputSeed,
                             std::numeric_limits<double>::infinity());
    if (!made) {
      ADD_FAILURE() << problem.text() << ": " << made.failure().message;
      return nullptr;
    }
    bench_ = std::move(*made);
    bench_problem_ = problem;
    return bench_.get();
  }

  void run(const Case& c) {
    const std::string text = c.text(spec_);
    running_now = "crashed in " + text + "\n";
    const Result<LaunchPlan> plan = Setting(spec_, c.problem, device_->info()).plan(c.config);
    ASSERT_TRUE(plan) << text << ": " << plan.failure().message;
    ProblemBench* bench = bench_for(c.problem);
    ASSERT_NE(bench, nullptr) << text;
    const Result<Binary> binary = compile(c);
    ASSERT_TRUE(binary) << text << ": " << binary.failure().message;
    Result<ConfigRun> config = ConfigRun::load(bench->bench(), *plan, *binary);
    ASSERT_TRUE(config) << text << ": " << config.failure().message;
    for (const InputSet set : {InputSet::verify, InputSet::timing}) {
      const Result<double> error = config->run_checked(set, bench->expected(set));
      EXPECT_TRUE(error) << text << ": " << error.failure().message;
    }
    variants_.insert(c.config.variant);
    ++cases_;
  }

  /// All that this device can run; the problems to compile reach every one.
  void expect_that_all_variants_ran() {
    std::set<std::string> possible;
    for (const Case& c : default_cases(spec_, problems_to_compile(spec_), device_->info()))
      possible.insert(c.config.variant);
    EXPECT_EQ(variants_, possible);
    RecordProperty("cases", cases_);
  }

  KernelSpec spec_;
  std::optional<Renderer> renderer_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<Compiler> toolbox_compiler_;
  std::optional<Toolbox> toolbox_;
  std::unique_ptr<ProblemBench> bench_;
  Problem bench_problem_;
  std::map<std::string, Binary> binaries_;
  std::set<std::string> variants_;  // that ran
  int cases_ = 0;
};

}  // namespace kiln::test
