// Makes the scalars, inputs and outputs of a problem on the device, as its spec asks for them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/workload.hpp"

#include "bench/peers/cuda_check.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "templates/reference.hpp"

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
  if (size_of(dtype) == 1 && !is_floating(dtype)) return {-128, 127};  // i8
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

/// An input whose elements the spec computes, on the device; the host keeps them too.
DeviceArray computed_input(Workload& workload, const KernelSpec& spec, const BufferPlan& buffer) {
  const Scope scope = Setting(spec, workload.problem, any_device()).scope();
  const HostArray values = computed_elements(spec.find_argument(buffer.name)->elements,
                                             buffer.dtype, buffer.shape, scope);
  DeviceArray array(buffer.dtype, buffer.count);
  KILN_CUDA(cudaMemcpy(array.data(), values.data.data(), array.bytes(), cudaMemcpyHostToDevice));
  std::vector<double>& kept = workload.computed[buffer.name];
  for (std::size_t i = 0; i < values.count(); ++i) kept.push_back(values.get(i));
  return array;
}

void make_arrays(Workload& workload, const KernelSpec& spec, std::uint64_t seed,
                 cudaStream_t stream) {
  const Config config = Setting(spec, workload.problem, any_device()).default_config();
  const Result<LaunchPlan> plan = Setting(spec, workload.problem, any_device()).plan(config);
  if (!plan) throw InputError(workload.title + ": " + plan.failure().message);
  if (workload.kernel == "preprocess") {
    for (const ScalarPlan& scalar : plan->scalars) {
      if (scalar.from_caller) workload.scalars[scalar.name] = as_double(scalar.value);
    }
  }
  for (const BufferPlan& buffer : plan->buffers) {
    if (buffer.workspace) continue;
    if (!spec.find_argument(buffer.name)->elements.empty()) {
      workload.inputs.emplace(buffer.name, computed_input(workload, spec, buffer));
      continue;
    }
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

MatmulShape product_of(const Workload& workload, const KernelSpec& spec) {
  return matmul_shape(
      spec, workload.problem,
      {workload.inputs.at("a").dtype(), workload.inputs.at("b").dtype(), workload.output_dtype,
       workload.scalars.at("alpha"), workload.scalars.at("beta")});
}

}  // namespace

Workload make_workload(const ParsedProblem& parsed, std::uint64_t seed, cudaStream_t stream) {
  Workload workload;
  workload.kernel = parsed.spec.name;
  workload.problem = parsed.problem;
  workload.text = workload.problem.text();
  workload.title = parsed.title();
  workload.cost = Setting(parsed.spec, workload.problem, any_device()).cost();
  set_scalars(workload);
  make_arrays(workload, parsed.spec, seed, stream);
  if (workload.kernel == "matmul") workload.product = product_of(workload, parsed.spec);
  return workload;
}

FillRange output_range(const Workload& workload) {
  return workload.kernel == "matmul" ? FillRange{-1, 1} : FillRange{0, 100};
}

}  // namespace kiln::peers
