// SPDX-License-Identifier: Apache-2.0
#include "blas/ready_product.hpp"

#include <array>
#include <utility>

#include "blas/settings.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "templates/renderer.hpp"

namespace kiln::blas {
namespace {

constexpr std::size_t kPartAlignment = 512;  // bytes
constexpr std::uintptr_t kAlignment = 16;    // bytes: `matmul` loads whole vectors
constexpr std::size_t kMostArguments = 16;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

bool is_aligned(const void* pointer) {
  return pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % kAlignment == 0;
}

LaunchArgument operand(std::string_view name, const void* pointer) {
  return memory(name, pointer, static_cast<std::size_t>(-1));
}

}  // namespace

Result<std::unique_ptr<ReadyProduct>> ReadyProduct::make(
    const std::shared_ptr<Runtime>& runtime, Workspaces& workspaces,
    const std::shared_ptr<const KernelSpec>& spec, const Problem& problem, const Config& config) {
  const Setting setting(*spec, problem, runtime->info());
  Result<LaunchPlan> plan = setting.plan(config);
  if (!plan) return plan.failure();
  std::unique_ptr<ReadyProduct> ready(new ReadyProduct(workspaces));
  ready->has_bias_ = plan->find_buffer("bias") != nullptr;
  for (const BufferPlan& buffer : plan->buffers) {
    if (!buffer.workspace) continue;
    std::size_t& end = buffer.zeroed ? ready->workspace_.zeroed : ready->workspace_.scratch;
    const auto bytes = static_cast<std::size_t>(buffer.bytes());
    ready->parts_.push_back({buffer.name, bytes, end, buffer.zeroed});
    end += aligned(bytes);
  }
  if (ready->parts_.size() + 6 > kMostArguments)
    return Failure{Outcome::constraint, "the config has too many workspaces"};
  try {
    Source source = Renderer(*spec, config.variant).render(setting, config);
    Expected<std::unique_ptr<PreparedKernel>> kernel = PreparedKernel::make(
        runtime, {spec, std::move(*plan), std::move(source), Launcher::Workspace::caller});
    if (!kernel) return Failure{Outcome::compile_error, kernel.error().message};
    ready->kernel_ = std::move(*kernel);
  } catch (const Error& error) {
    return Failure{Outcome::compile_error, error.what()};
  }
  return ready;
}

bool ReadyProduct::launch(const ProductCall& call) const noexcept {
  const ProductOperands& operands = call.operands;
  if (has_failed_.load(std::memory_order_relaxed) || !is_aligned(operands.a) ||
      !is_aligned(operands.b) || !is_aligned(operands.c) ||
      (has_bias_ && !is_aligned(operands.bias))) {
    return false;
  }
  try {
    std::array<LaunchArgument, kMostArguments> arguments;
    std::size_t count = 0;
    arguments[count++] = operand("a", operands.a);
    arguments[count++] = operand("b", operands.b);
    arguments[count++] = operand("c", operands.c);
    arguments[count++] = scalar("alpha", operands.alpha);
    arguments[count++] = scalar("beta", operands.beta);
    if (has_bias_) arguments[count++] = operand("bias", operands.bias);
    std::optional<Workspaces::Lease> lease;
    if (!parts_.empty()) {
      lease = workspaces_.lease(call.stream, workspace_);
      if (!lease) return false;
    }
    for (const Part& part : parts_) {
      const std::uintptr_t address =
          (part.zeroed ? lease->zeroed() : lease->scratch()) + part.offset;
      arguments[count++] = memory(part.name, reinterpret_cast<const void*>(address), part.bytes);
    }
    const Expected<void> launched = kernel_->launch(call.stream, {arguments.data(), count});
    if (launched) return true;
    if (lease) lease->soil();
    if (!has_failed_.exchange(true))
      tell(std::string(call.function) + " stays the library's: " + launched.error().message);
  } catch (...) {
    has_failed_ = true;
  }
  return false;
}

}  // namespace kiln::blas
