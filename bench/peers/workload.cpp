// From a line to arrays on the device, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/workload.hpp"

#include <stdexcept>

#include "core/errors.hpp"
#include "templates/library.hpp"

namespace kiln::peers {
namespace {

/// Sizes, types and costs do not depend on the device; a plan wants one all the same.
const DeviceInfo& any_device() {
  static const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  return device;
}

Pattern pattern_of(const Workload& workload) {
  if (workload.kernel != "histogram") return Pattern::uniform;
  const std::string name = workload.problem.text_of("distribution");
  if (name == "constant") return Pattern::constant;
  if (name == "sorted") return Pattern::sorted;
  if (name == "skewed") return Pattern::skewed;
  return Pattern::uniform;
}

/// Sums of products with mixed signs stay small; plain sums are of positive terms, so that a
/// relative error means something.
FillRange range_of(const Workload& workload, DType dtype) {
  if (workload.kernel == "histogram" && dtype == DType::i32) return {-1e6, 1e6 - 1};
  if (dtype == DType::u8) return {0, 255};
  if (!is_floating(dtype)) return {-1e9, 1e9};
  if (workload.kernel == "matmul") return {-1, 1};
  return {0, 1};
}

void set_scalars(Workload& workload) {
  if (workload.kernel == "matmul") {
    workload.scalars = {{"alpha", 1.0}, {"beta", workload.is("beta_zero", "true") ? 0.0 : 1.0}};
  } else if (workload.kernel == "histogram" && !workload.is("dtype", "u8")) {
    const FillRange range = workload.is("dtype", "f32") ? FillRange{0, 1} : FillRange{-1e6, 1e6};
    const auto bins = static_cast<double>(workload.problem.integer("bins"));
    workload.scalars = {
        {"low", range.low}, {"high", range.high}, {"scale", bins / (range.high - range.low)}};
  }
}

void make_arrays(Workload& workload, const KernelSpec& spec, std::uint64_t seed,
                 cudaStream_t stream) {
  const Config config = default_config(spec, workload.problem, any_device());
  const Result<LaunchPlan> plan = make_launch_plan(spec, config, workload.problem, any_device());
  if (!plan) throw InputError(workload.title + ": " + plan.failure().message);
  for (const BufferPlan& buffer : plan->buffers) {
    if (buffer.workspace) continue;
    if (buffer.access == Access::read) {
      DeviceArray array(buffer.dtype, buffer.count);
      fill(array, pattern_of(workload), range_of(workload, buffer.dtype), ++seed, stream);
      workload.inputs.emplace(buffer.name, std::move(array));
    } else if (!workload.output.empty()) {
      workload.other_outputs.push_back({buffer.name, buffer.dtype, buffer.count});
    } else {
      workload.output = buffer.name;
      workload.output_dtype = buffer.dtype;
      workload.output_count = buffer.count;
    }
  }
}

}  // namespace

Workload make_workload(const std::string& line, std::uint64_t seed, cudaStream_t stream) {
  const std::size_t space = line.find(' ');
  if (space == std::string::npos)
    throw InputError("'" + line + "' is no problem; expected e.g. \"reduce n=2^20\"");
  Workload workload;
  workload.kernel = line.substr(0, space);
  const KernelSpec spec = KernelLibrary().load(workload.kernel);
  workload.problem = Problem::parse(spec, line.substr(space + 1));
  workload.text = workload.problem.text();
  workload.title = workload.kernel + " " + workload.problem.short_text(spec);
  workload.cost = problem_cost(spec, workload.problem, any_device());
  set_scalars(workload);
  make_arrays(workload, spec, seed, stream);
  return workload;
}

}  // namespace kiln::peers
