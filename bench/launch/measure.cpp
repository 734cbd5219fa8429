// SPDX-License-Identifier: Apache-2.0
#include "bench/launch/measure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include <kiln/kernels.hpp>

#include "core/config.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/support/allocation_counter.hpp"

namespace kiln::launch_bench {
namespace {

using Clock = std::chrono::steady_clock;
using test::allocations_of_this_thread;

constexpr std::size_t kSide = 32;  // a matrix that takes the device no time
constexpr std::size_t kBytes = kSide * kSide * sizeof(float);
constexpr const char* kProblem = "rows=32 cols=32";  // of the transpose: one step
constexpr const char* kMapKernel = KILN_SOURCE_DIR "/examples/bulk_transpose";
constexpr int kLaunchesPerBurst = 64;  // far less than a driver's queue holds

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}
double ms_since(Clock::time_point start) { return ns_since(start) / 1e6; }

bool is_loaded(std::string_view library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

Launcher open_launcher(const Application& application, const std::string& cache) {
  Launcher::Options options = application.options();
  options.databases = {cache + "/none.db"};
  options.cache_folder = cache;
  options.kernel_paths = {kMapKernel};
  return Launcher(options);
}

/// As programs open it: what is shipped answers.
Launcher open_shipped(const Application& application, const std::string& cache) {
  Launcher::Options options = application.options();
  options.cache_folder = cache;
  return Launcher(options);
}

/// The kernel that the launcher runs for kProblem, launched by the driver alone.
std::unique_ptr<RawLaunch> make_raw_launch(Application& application, const KernelSpec& spec,
                                           void* in, void* out, const std::string& config) {
  const Problem problem = Problem::parse(spec, kProblem);
  const Setting setting(spec, problem, application.device());
  const Config chosen = setting.parse(config);
  const Result<LaunchPlan> plan = setting.plan(chosen);
  if (!plan || plan->steps.size() != 1) throw Error(ExitCode::internal, "not one step");
  const Source source = Renderer(spec).render(setting, chosen);
  return application.raw_launch(source, *plan, {in, out});
}

/// Bursts of `raw` and of `through_kiln`, which is told how many launches of a burst came before.
template <typename Launch>
LaunchCost compare_launches(Application& application, int bursts, RawLaunch& raw,
                            Launch&& through_kiln) {
  bool refused = false;
  const auto burst = [&](auto&& launch) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kLaunchesPerBurst; ++i) launch(i);
    const double took = ns_since(start) / kLaunchesPerBurst;
    application.wait();
    return took;
  };
  const auto raw_burst = [&] { return burst([&](int) { raw.launch(); }); };
  const auto kiln_burst = [&] {
    return burst([&](int i) { refused |= !through_kiln(i).has_value(); });
  };
  for (int i = 0; i < 10; ++i) {
    raw_burst();
    kiln_burst();
  }
  LaunchCost cost;
  std::vector<double> raw_ns;
  std::vector<double> kiln_ns;
  std::vector<double> over_ns;
  for (int i = 0; i < bursts; ++i) {  // who goes first changes, so that neither gains by it
    double one = 0;
    double other = 0;
    if (i % 2 == 0) one = raw_burst();
    const std::uint64_t before = allocations_of_this_thread();
    other = kiln_burst();
    cost.allocations += allocations_of_this_thread() - before;
    if (i % 2 != 0) one = raw_burst();
    raw_ns.push_back(one);
    kiln_ns.push_back(other);
    over_ns.push_back(other - one);
  }
  if (refused) throw DeviceError("a launch failed");
  cost.raw_ns = median(raw_ns);
  cost.kiln_ns = median(kiln_ns);
  cost.over_ns = median(over_ns);
  return cost;
}

/// The memory of a first launch, and what comes of it.
class FirstWork {
 public:
  FirstWork(Application& application, const std::string& kernel)
      : application_(application), is_matmul_(kernel == "matmul"), problem_(problem_of(kernel)) {
    if (is_matmul_) {
      memory_ = {application.upload(kM * kK, 1), application.upload(kK * kN, 1),
                 application.upload(kM * kN, 0)};
    } else {
      memory_ = {application.upload(kSide * kSide, 3), application.upload(kSide * kSide, 0)};
    }
  }

  static std::string problem_of(const std::string& kernel) {
    return kernel == "matmul" ? fmt::format("m={} n={} k={}", kM, kN, kK) : kProblem;
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  void launch(const Launcher::Kernel& kernel) const {
    if (!is_matmul_) {
      kernel
          .launch(application_.queue(),
                  {memory("in", memory_[0], kBytes), memory("out", memory_[1], kBytes)})
          .value();
      return;
    }
    kernel
        .launch(application_.queue(), {memory("a", memory_[0], kM * kK * sizeof(float)),
                                       memory("b", memory_[1], kK * kN * sizeof(float)),
                                       memory("c", memory_[2], kM * kN * sizeof(float)),
                                       scalar("alpha", 1.0F), scalar("beta", 0.0F)})
        .value();
  }
  void check() const {
    const float expected = is_matmul_ ? static_cast<float>(kK) : 3;
    if (application_.download(memory_.back()) != expected) {
      throw DeviceError("the first launch gave a wrong result");
    }
  }

 private:
  static constexpr std::size_t kM = 710, kN = 330, kK = 190;
  Application& application_;
  bool is_matmul_;
  std::string problem_;
  std::vector<void*> memory_;
};

}  // namespace

LaunchCost measure_launch(Application& application, const std::string& cache, int bursts) {
  const Launcher launcher = open_launcher(application, cache);
  const Launcher::Kernel kernel = launcher.prepare("transpose", kProblem).value();
  void* in = application.upload(kSide * kSide, 1);
  void* out = application.upload(kSide * kSide, 0);
  const std::unique_ptr<RawLaunch> raw = make_raw_launch(
      application, KernelLibrary().load("transpose"), in, out, kernel.match().config);
  const LaunchCost cost = compare_launches(application, bursts, *raw, [&](int) {
    return kernel.launch(application.queue(),
                         {memory("in", in, kBytes), memory("out", out, kBytes)});
  });
  if (application.download(out) != 1) throw DeviceError("a launch failed");
  return cost;
}

MapLaunchCost measure_map_launch(Application& application, const std::string& cache, int bursts) {
  if (!has_tensor_maps(application.device())) throw DeviceError("no tensor maps on this device");
  const Launcher launcher = open_launcher(application, cache);
  const Launcher::Kernel kernel = launcher.prepare("bulk_transpose", kProblem).value();
  const std::array in = {application.upload(kSide * kSide, 1),
                         application.upload(kSide * kSide, 2)};
  const std::array out = {application.upload(kSide * kSide, 0),
                          application.upload(kSide * kSide, 0)};
  const std::unique_ptr<RawLaunch> raw = make_raw_launch(
      application, KernelLibrary().load(kMapKernel), in[0], out[0], kernel.match().config);
  const auto launch = [&](std::size_t pair) {
    return kernel.launch(application.queue(),
                         {memory("in", in[pair], kBytes), memory("out", out[pair], kBytes)});
  };
  MapLaunchCost cost;
  cost.same = compare_launches(application, bursts, *raw, [&](int) { return launch(0); });
  cost.moved = compare_launches(application, bursts, *raw,
                                [&](int i) { return launch(static_cast<std::size_t>(i % 2)); });
  if (application.download(out[0]) != 1 || application.download(out[1]) != 2) {
    throw DeviceError("a launch failed");
  }
  return cost;
}

SelectCost measure_select(Application& application, const std::string& cache) {
  constexpr int kProblems = 50;
  constexpr int kRounds = 2000;
  constexpr int kRepeats = 21;
  const Launcher launcher = open_launcher(application, cache);
  std::vector<std::string> problems;
  for (int i = 0; i < kProblems; ++i) {
    problems.push_back(fmt::format("rows={} cols=4096 dtype=f32", 4096 + i));
  }
  // ns per call; the results are used, so that no call can be left out.
  const auto time = [&](auto&& call) {
    for (int i = 0; i < kProblems; ++i) call(i);
    std::vector<double> repeats;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const Clock::time_point start = Clock::now();
      for (int round = 0; round < kRounds; ++round) call(round % kProblems);
      repeats.push_back(ns_since(start) / kRounds);
    }
    return median(repeats);
  };
  const auto text = [&](int i) -> const std::string& {
    return problems[static_cast<std::size_t>(i)];
  };
  bool wrong = false;
  SelectCost cost;
  cost.prepare_ns =
      time([&](int i) { wrong |= !launcher.prepare("transpose", text(i)).has_value(); });
  cost.select_ns =
      time([&](int i) { wrong |= !launcher.select("transpose", text(i)).has_value(); });
  cost.select_typed_ns = time([&](int i) {
    ProblemText problem;
    problem.add("rows", 4096 + i).add("cols", 4096).add("dtype", "f32");
    wrong |= !launcher.select("transpose", problem).has_value();
  });
  const std::uint64_t before = allocations_of_this_thread();
  for (int i = 0; i < kProblems; ++i) {
    wrong |= !launcher.select("transpose", text(i)) || !launcher.prepare("transpose", text(i));
  }
  cost.allocations = allocations_of_this_thread() - before;
  if (wrong) throw Error(ExitCode::internal, "a selection failed");
  return cost;
}

FirstLaunch measure_first_launch(Application& application, const std::string& cache,
                                 const std::string& kernel) {
  const FirstWork work(application, kernel);
  FirstLaunch first;
  const Clock::time_point start = Clock::now();
  const Launcher launcher = open_shipped(application, cache);
  first.open_ms = ms_since(start);
  const Launcher::Kernel prepared = launcher.prepare(kernel, work.problem()).value();
  first.prepare_ms = ms_since(start) - first.open_ms;
  work.launch(prepared);
  application.wait();
  first.total_ms = ms_since(start);
  first.config = prepared.match().config;
  first.from_cache = prepared.from_cache();
  first.compiler_loaded = is_loaded("libnvrtc");
  work.check();
  return first;
}

void warm_first_launch(const Application& application, const std::string& cache,
                       const std::string& kernel) {
  open_shipped(application, cache).prepare(kernel, FirstWork::problem_of(kernel)).value();
}

namespace {

/// The graph keeps the maps that it was captured with, whatever is launched in between.
std::string check_graph_of_maps(Application& application, const std::string& cache) {
  const Launcher launcher = open_launcher(application, cache);
  const Launcher::Kernel kernel = launcher.prepare("bulk_transpose", kProblem).value();
  void* queue = application.queue();
  kernel.prepare_queue(queue).value();
  const std::array in = {application.upload(kSide * kSide, 1),
                         application.upload(kSide * kSide, 2)};
  const std::array out = {application.upload(kSide * kSide, 0),
                          application.upload(kSide * kSide, 0)};
  std::string wrong;
  application.run_as_graph(
      [&] {
        for (std::size_t i = 0; i < in.size(); ++i) {
          const auto done =
              kernel.launch(queue, {memory("in", in[i], kBytes), memory("out", out[i], kBytes)});
          if (!done) wrong = done.error().message;
        }
      },
      3);
  if (wrong.empty() && (application.download(out[0]) != 1 || application.download(out[1]) != 2)) {
    wrong = "a captured launch took the tensor maps of another";
  }
  return wrong;
}

}  // namespace

std::string check_graph(Application& application, const std::string& cache) {
  if (!application.has_graphs()) return "no graphs here";
  if (has_tensor_maps(application.device())) {
    std::string wrong = check_graph_of_maps(application, cache);
    if (!wrong.empty()) return wrong;
  }
  constexpr std::size_t kCount = 100000;
  const Launcher launcher = open_launcher(application, cache);
  const Launcher::Kernel sum = launcher.prepare("reduce", "n=100000").value();
  sum.prepare_queue(application.queue()).value();
  void* in = application.upload(kCount, 2);
  void* out = application.upload(1, 0);
  std::string wrong;
  application.run_as_graph(
      [&] {
        for (int i = 0; i < 10; ++i) {
          const auto done =
              sum.launch(application.queue(),
                         {memory("in", in, kCount * sizeof(float)), memory("out", out, 4)});
          if (!done) wrong = done.error().message;
        }
      },
      3);
  const float result = application.download(out);
  if (wrong.empty() && result != 2.0F * kCount) wrong = fmt::format("the sum is {}", result);
  return wrong.empty() ? "ok" : wrong;
}

}  // namespace kiln::launch_bench
