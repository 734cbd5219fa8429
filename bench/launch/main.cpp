// kiln_launch_bench: what the launcher adds to a launch, pairs in one run.
//
//   kiln_launch_bench [--backend cuda|opencl] [--bursts N] [--json]
//
// docs/benchmarks.md tells the method. Ends with 0; with 1 where a part failed, whose place in the
// report says why (the others are measured all the same); with 77 where there is no device.
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
#include "core/program.hpp"
#include "core/scratch_folder.hpp"

namespace kiln::launch_bench {
namespace {

constexpr int kNoDevice = 77;
constexpr int kFirstLaunches = 7;

struct Options {
  std::string backend = "auto";
  int bursts = 400;
  bool json = false;
  std::string child_cache;  ///< set: this process only makes a first launch from that cache
  std::string child_kernel = "transpose";
};

using Json = nlohmann::json;

Json to_json(const FirstLaunch& first) {
  return {{"config", first.config},         {"total_ms", first.total_ms},
          {"open_ms", first.open_ms},       {"prepare_ms", first.prepare_ms},
          {"from_cache", first.from_cache}, {"compiler_loaded", first.compiler_loaded}};
}

/// What a command prints, as JSON. Throws for one that fails.
Json output_of(const std::string& command) {
  const Ended ended = run_shell(command, {});
  if (!ended.is_ok())
    throw Error(ExitCode::internal, fmt::format("{} ended with {}\n{}{}", command, ended.ending(),
                                                ended.out, ended.err));
  return Json::parse(ended.out);
}

/// This process and its children find no database of the user's.
void ask_only_what_is_shipped(const std::string& folder) {
  ::setenv("XDG_DATA_HOME", folder.c_str(), 1);
  ::unsetenv("KILN_DB");
  ::unsetenv("KILN_LOCK");
}

/// A first launch can be made once in a process: others make it. The one whose total is the median,
/// with the totals of all.
Json first_launch_in_children(const std::string& environment, const std::string& program,
                              const std::string& backend, const std::string& cache,
                              const std::string& kernel) {
  const std::string command =
      fmt::format("{} '{}' --backend {} --first-launch-from '{}' --first-kernel {}", environment,
                  program, backend, cache, kernel);
  std::vector<Json> children;
  for (int i = 0; i < kFirstLaunches; ++i) children.push_back(output_of(command));
  std::sort(children.begin(), children.end(),
            [](const auto& a, const auto& b) { return a.at("total_ms") < b.at("total_ms"); });
  Json middle = children[children.size() / 2];
  for (const Json& child : children) middle["totals_ms"].push_back(child.at("total_ms"));
  return middle;
}

/// With the compiler hidden, and that it was not there after all is an error. NVRTC only: OpenCL's
/// compiler is the driver.
Json first_launch_without_compiler(const std::string& program, const std::string& backend,
                                   const std::string& cache, const std::string& kernel) {
  Json first = first_launch_in_children("KILN_NVRTC_PATH=/nowhere/libnvrtc.so", program, backend,
                                        cache, kernel);
  if (!first.at("from_cache").get<bool>()) first["error"] = "it was compiled";
  if (first.at("compiler_loaded").get<bool>()) first["error"] = "NVRTC was loaded";
  return first;
}

Json driver_calls_in_child(const std::string& program, const std::string& backend,
                           const std::string& cache) {
  if (backend != "cuda") return {{"skipped", "counted with CUDA only"}};
  const std::filesystem::path counter =
      std::filesystem::path(program).parent_path() / "kiln_launch_driver_calls";
  Json calls = output_of(fmt::format("'{}' '{}'", counter.string(), cache));
  if (calls.at("waits") != 0) calls["error"] = "a warm call waited for the device";
  if (calls.at("maps_encoded") != 0) calls["error"] = "a warm call encoded a tensor map";
  if (calls.at("memory_calls") != 0) calls["error"] = "a warm call allocated device memory";
  if (calls.at("allocations") != 0) calls["error"] = "a warm call allocated memory";
  return calls;
}

Json graph_json(Application& application, const std::string& cache) {
  const std::string graph = check_graph(application, cache);
  if (graph == "ok" || graph == "no graphs here") return {{"result", graph}};
  return {{"error", graph}};
}

Json to_json(const LaunchCost& launch, int bursts) {
  return {{"raw_ns", launch.raw_ns},
          {"kiln_ns", launch.kiln_ns},
          {"over_ns", launch.over_ns},
          {"bursts", bursts},
          {"allocations", launch.allocations}};
}

Json launch_json(Application& application, const std::string& cache, int bursts) {
  return to_json(measure_launch(application, cache, bursts), bursts);
}

Json map_launch_json(Application& application, const std::string& cache, int bursts) {
  if (!has_tensor_maps(application.device())) return {{"skipped", "no tensor maps here"}};
  const MapLaunchCost cost = measure_map_launch(application, cache, bursts);
  Json report = {{"same", to_json(cost.same, bursts)}, {"moved", to_json(cost.moved, bursts)}};
  if (cost.same.allocations + cost.moved.allocations != 0) {
    report["error"] = "a warm call allocated memory";
  }
  return report;
}

Json select_json(Application& application, const std::string& cache) {
  const SelectCost select = measure_select(application, cache);
  return {{"select_ns", select.select_ns},
          {"select_typed_ns", select.select_typed_ns},
          {"prepare_ns", select.prepare_ns},
          {"allocations", select.allocations}};
}

/// What `measure` found; where it fails, why: one part that fails costs no other.
template <typename Measure>
Json part(Measure&& measure) {
  try {
    return measure();
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

void print_first_launch(const char* title, const Json& first) {
  fmt::print("{:<16}{:.1f} ms (open {:.1f}, prepare {:.1f}), {}, NVRTC {}\n", title,
             first.at("total_ms").get<double>(), first.at("open_ms").get<double>(),
             first.at("prepare_ms").get<double>(),
             first.at("from_cache").get<bool>() ? "from the cache" : "compiled",
             first.at("compiler_loaded").get<bool>() ? "loaded" : "absent");
}

void print_part(const std::string& name, const Json& report) {
  const auto number = [&](const char* key) { return report.at(key).get<double>(); };
  if (report.contains("error")) {
    fmt::print("{:<16}failed: {}\n", name, report.at("error").get<std::string>());
  } else if (report.contains("over_ns")) {
    fmt::print(
        "{:<16}{:.0f} ns by the driver alone, {:.0f} ns through Kiln: {:.0f} ns more; "
        "{:.0f} allocations\n",
        name, number("raw_ns"), number("kiln_ns"), number("over_ns"), number("allocations"));
  } else if (report.contains("moved")) {
    print_part("  same pointers", report.at("same"));
    print_part("  new pointers", report.at("moved"));
  } else if (name == "select") {
    fmt::print(
        "{:<16}{:.0f} ns, {:.0f} ns with ProblemText; prepare {:.0f} ns; {:.0f} "
        "allocations\n",
        name, number("select_ns"), number("select_typed_ns"), number("prepare_ns"),
        number("allocations"));
  } else if (report.contains("total_ms")) {
    print_first_launch(name.c_str(), report);
  } else {
    fmt::print("{:<16}{}\n", name, report.dump());
  }
}

int run(const Options& options, const std::string& program) {
  const std::unique_ptr<Application> application = make_application(options.backend);
  if (!options.child_cache.empty()) {
    fmt::print("{}\n", to_json(measure_first_launch(*application, options.child_cache,
                                                    options.child_kernel))
                           .dump());
    return 0;
  }
  const ScratchFolder folder;
  const std::string cache = (folder.path() / "cache").string();
  const std::string& backend = application->device().backend;
  nlohmann::ordered_json report = {{"device", application->device().name},
                                   {"backend", backend},
                                   {"driver", application->device().driver}};
  report["launch"] = part([&] { return launch_json(*application, cache, options.bursts); });
  report["map_launch"] = part([&] { return map_launch_json(*application, cache, options.bursts); });
  report["select"] = part([&] { return select_json(*application, cache); });
  ask_only_what_is_shipped(cache);
  for (const auto& [name, kernel] :
       {std::pair("first_launch", "transpose"), std::pair("first_matmul", "matmul")}) {
    report[name] = part([&, kernel = kernel] {
      warm_first_launch(*application, cache, kernel);
      return first_launch_without_compiler(program, backend, cache, kernel);
    });
  }
  report["with_compiler"] =
      part([&] { return first_launch_in_children("", program, backend, cache, "transpose"); });
  report["driver_calls"] = part([&] { return driver_calls_in_child(program, backend, cache); });
  report["graph"] = part([&] { return graph_json(*application, cache); });
  bool failed = false;
  for (const auto& [name, measured] : report.items()) {
    failed |= measured.is_object() && measured.contains("error");
    if (options.json) continue;
    if (measured.is_object()) {
      print_part(name, measured);
    } else {
      fmt::print("{:<16}{}\n", name, measured.get<std::string>());
    }
  }
  if (options.json) fmt::print("{}\n", report.dump(2));
  return failed ? 1 : 0;
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
  app.add_option("--first-kernel", options.child_kernel)->group("");
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
