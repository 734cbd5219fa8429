// Loads each built-in kernel with a problem and a config, and registers a benchmark for each.
// SPDX-License-Identifier: Apache-2.0
#include "bench/workbench.hpp"

#include <utility>

#include "core/setting.hpp"
#include "templates/library.hpp"

namespace kiln {
namespace {

std::vector<Workbench> load_all() {
  const std::pair<const char*, const char*> kProblems[] = {
      {"arg_reduce", "n=2^28"},
      {"convolution", "h=4096 w=4096 fh=15"},
      {"histogram", "n=2^28 dtype=f32 bins=1024"},
      {"matmul", "m=4096 n=4096 k=4096"},
      {"preprocess", "n=32 src_h=2160 src_w=3840 out_h=640 out_w=640"},
      {"reduce", "n=2^28"},
      {"transpose", "rows=8192 cols=8192"},
  };
  const KernelLibrary library;
  std::vector<Workbench> all;
  for (const auto& [kernel, text] : kProblems) {
    KernelSpec spec = library.load(kernel);
    Problem problem = Problem::parse(spec, text);
    Config config = Setting(spec, problem, workbench_device()).default_config();
    all.push_back({std::move(spec), std::move(problem), std::move(config)});
  }
  return all;
}

}  // namespace

const std::vector<Workbench>& workbenches() {
  static const std::vector<Workbench> all = load_all();
  return all;
}

const DeviceInfo& workbench_device() {
  static const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  return device;
}

void register_for_each_kernel(const std::string& name, KernelBenchmark run) {
  for (const Workbench& workbench : workbenches()) {
    benchmark::RegisterBenchmark(
        (name + "/" + workbench.spec.name).c_str(),
        [run, &workbench](benchmark::State& state) { run(state, workbench); });
  }
}

}  // namespace kiln
