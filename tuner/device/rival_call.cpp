// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/rival_call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace kiln {
namespace {

double scalar_of(const LaunchPlan& plan, const std::string& name, double otherwise) {
  const ScalarPlan* scalar = plan.find_scalar(name);
  return scalar != nullptr ? as_double(scalar->value) : otherwise;
}

void* address_in(const Bench& bench, const std::string& name) {
  const Buffer* buffer = bench.data.find(name, InputSet::timing);
  return buffer != nullptr ? reinterpret_cast<void*>(buffer->handle + buffer->offset) : nullptr;
}

}  // namespace

Result<std::unique_ptr<RivalCall>> RivalCall::make(const std::string& library, const Bench& bench,
                                                   const KernelSpec& spec, const Problem& problem,
                                                   const LaunchPlan& plan) {
  const std::optional<MatrixProduct> product =
      spec.name == "matmul" && library == "cublas" ? product_of(problem) : std::nullopt;
  if (!product) {
    return Failure{Outcome::launch_error,
                   fmt::format("{} has no call for {} {}", library, spec.name, problem.text())};
  }
  const NativeQueue native = bench.device.native();
  if (native.context == nullptr)
    return Failure{Outcome::launch_error, library + " runs on CUDA devices only"};
  Result<std::unique_ptr<CublasCall>> call = make_cublas_call(
      native, *product,
      {address_in(bench, "a"), address_in(bench, "b"), address_in(bench, "c"),
       address_in(bench, "bias"), scalar_of(plan, "alpha", 1), scalar_of(plan, "beta", 0)});
  if (!call) return call.failure();
  return std::unique_ptr<RivalCall>(new RivalCall(bench, std::move(*call)));
}

Status RivalCall::enqueue(Device& /*device*/) const { return call_->enqueue(); }

Status RivalCall::run_once() const {
  if (Status status = bench_.data.load(InputSet::timing); !status) return status;
  if (Status status = call_->enqueue(); !status) return status;
  return bench_.device.synchronize();
}

Result<double> relative_error(Device& device, DType dtype, const Buffer& found,
                              const Buffer& expected) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;  // elements
  constexpr std::size_t kChunks = 64;
  const std::size_t count = std::min(found.bytes, expected.bytes) / size_of(dtype);
  const std::size_t chunk = std::min(count, kChunk);
  const std::size_t chunks = chunk == 0 ? 0 : std::min(kChunks, (count + chunk - 1) / chunk);
  HostArray result(dtype, {static_cast<std::int64_t>(chunk)});
  HostArray reference(dtype, {static_cast<std::int64_t>(chunk)});
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t first = chunks == 1 ? 0 : (count - chunk) / (chunks - 1) * i;
    const std::size_t offset = first * size_of(dtype);
    if (Status status = device.download(found, offset, std::span(result.data)); !status)
      return status.failure();
    if (Status status = device.download(expected, offset, std::span(reference.data)); !status)
      return status.failure();
    for (std::size_t at = 0; at < chunk; ++at) {
      const double right = reference.get(at);
      const double difference = result.get(at) - right;
      error += difference * difference;
      norm += right * right;
    }
  }
  if (norm == 0) return error == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::sqrt(error / norm);
}

}  // namespace kiln
