// kiln_launch_bench: what the launcher adds to a launch, pairs in one run.
//
//   kiln_launch_bench [--backend cuda|opencl] [--bursts N] [--json]
//
// docs/benchmarks.md tells the method. Ends with 0; with 1 where a result is wrong or the device
// fails; with 77 where there is no device.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/launch/measure.hpp"
#include "core/errors.hpp"

namespace kiln::launch_bench {
namespace {

constexpr int kNoDevice = 77;
constexpr int kFirstLaunches = 7;

struct Options {
  std::string backend = "auto";
  int bursts = 400;
  bool json = false;
  std::string child_cache;  ///< set: this process only makes a first launch from that cache
};

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-bench-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string cache() const { return path_ + "/cache"; }

 private:
  std::string path_;
};

nlohmann::json to_json(const FirstLaunch& first) {
  return {{"total_ms", first.total_ms},
          {"open_ms", first.open_ms},
          {"prepare_ms", first.prepare_ms},
          {"from_cache", first.from_cache}};
}

/// A first launch can be made once in a process: others make it, with the compiler hidden from
/// them. The one whose total is the median.
nlohmann::json first_launch_in_children(const std::string& program, const std::string& backend,
                                        const std::string& cache) {
  const std::string command =
      fmt::format("KILN_NVRTC_PATH=/nowhere '{}' --backend {} --first-launch-from '{}'", program,
                  backend, cache);
  std::vector<nlohmann::json> children;
  for (int i = 0; i < kFirstLaunches; ++i) {
    FILE* output = ::popen(command.c_str(), "r");
    if (output == nullptr) throw Error(ExitCode::internal, "popen failed");
    std::string text;
    std::array<char, 4096> part{};
    while (std::fgets(part.data(), static_cast<int>(part.size()), output) != nullptr) {
      text += part.data();
    }
    if (::pclose(output) != 0) throw Error(ExitCode::internal, "a first launch failed: " + text);
    children.push_back(nlohmann::json::parse(text));
  }
  std::sort(children.begin(), children.end(),
            [](const auto& a, const auto& b) { return a.at("total_ms") < b.at("total_ms"); });
  return children[children.size() / 2];
}

void print(const nlohmann::json& report) {
  const auto number = [&](const char* part, const char* name) {
    return report.at(part).at(name).get<double>();
  };
  fmt::print("device          {}\n", report.at("device").get<std::string>());
  fmt::print(
      "launch          {:.0f} ns by the driver alone, {:.0f} ns through Kiln: {:.0f} ns more\n",
      number("launch", "raw_ns"), number("launch", "kiln_ns"), number("launch", "over_ns"));
  fmt::print("select          {:.0f} ns, {:.0f} ns with ProblemText; prepare {:.0f} ns\n",
             number("select", "select_ns"), number("select", "select_typed_ns"),
             number("select", "prepare_ns"));
  fmt::print(
      "first launch    {:.1f} ms (open {:.1f}, prepare {:.1f}), {}\n",
      number("first_launch", "total_ms"), number("first_launch", "open_ms"),
      number("first_launch", "prepare_ms"),
      report.at("first_launch").at("from_cache").get<bool>() ? "from the cache" : "compiled");
  fmt::print("allocations     {:.0f} in warm launches, {:.0f} in warm selections\n",
             number("launch", "allocations"), number("select", "allocations"));
  fmt::print("graph capture   {}\n", report.at("graph").get<std::string>());
}

int run(const Options& options, const std::string& program) {
  const std::unique_ptr<Application> application = make_application(options.backend);
  if (!options.child_cache.empty()) {
    fmt::print("{}\n", to_json(measure_first_launch(*application, options.child_cache)).dump());
    return 0;
  }
  const ScratchFolder folder;
  const std::string cache = folder.cache();
  const LaunchCost launch = measure_launch(*application, cache, options.bursts);
  const SelectCost select = measure_select(*application, cache);
  const std::string& backend = application->device().backend;
  const nlohmann::json report = {
      {"device", application->device().name},
      {"backend", backend},
      {"driver", application->device().driver},
      {"launch",
       {{"raw_ns", launch.raw_ns},
        {"kiln_ns", launch.kiln_ns},
        {"over_ns", launch.over_ns},
        {"bursts", options.bursts},
        {"allocations", launch.allocations}}},
      {"select",
       {{"select_ns", select.select_ns},
        {"select_typed_ns", select.select_typed_ns},
        {"prepare_ns", select.prepare_ns},
        {"allocations", select.allocations}}},
      {"first_launch", first_launch_in_children(program, backend, cache)},
      {"graph", check_graph(*application, cache)}};
  if (options.json) {
    fmt::print("{}\n", report.dump(2));
  } else {
    print(report);
  }
  const std::string graph = report.at("graph");
  return graph == "ok" || graph == "no graphs here" ? 0 : 1;
}

}  // namespace

std::unique_ptr<Application> make_application(const std::string& backend) {
  if (backend == "cuda") return make_cuda_application();
  if (backend == "opencl") return make_opencl_application();
  try {
    return make_cuda_application();
  } catch (const DeviceError&) {
    return make_opencl_application();
  }
}

}  // namespace kiln::launch_bench

int main(int argc, char** argv) {
  kiln::launch_bench::Options options;
  CLI::App app("What the launcher adds to a launch by the driver alone.", "kiln_launch_bench");
  app.add_option("--backend", options.backend, "cuda, opencl, or auto: the first that is there")
      ->check(CLI::IsMember({"auto", "cuda", "opencl"}));
  app.add_option("--bursts", options.bursts, "bursts of 64 launches for each side")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--json", options.json, "print one JSON object");
  app.add_option("--first-launch-from", options.child_cache)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    return kiln::launch_bench::run(options, std::filesystem::read_symlink("/proc/self/exe"));
  } catch (const kiln::DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return std::string_view(error.what()).find("unavailable") != std::string_view::npos
               ? kiln::launch_bench::kNoDevice
               : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
