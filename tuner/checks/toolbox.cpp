// Compiles the kernels of the toolbox when they are first needed, and launches them.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/toolbox.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "templates/library.hpp"
#include "templates/reference.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/launch_sequence.hpp"

namespace kiln {
namespace {

/// Of the scalar `poison` of toolbox_compare.
constexpr int kAnyNonfinite = 4;
constexpr std::size_t kComparisonWords = 3;
// A CPU's runtime aligns every shared array; the sum of their sizes says less than they take.
constexpr std::int64_t kSharedSlack = 4096;

Value number_for(DType dtype, double value) {
  return is_floating(dtype) ? Value(value) : Value(static_cast<std::int64_t>(std::llround(value)));
}

/// The number by which toolbox/fill.inja knows a fill: its place in the list of
/// docs/spec_format.md.
std::int64_t number_of(const std::string& fill) {
  const std::vector<std::string>& names = fill_names();
  return std::find(names.begin(), names.end(), fill) - names.begin();
}

}  // namespace

struct Toolbox::Impl {
  Impl(Device& used_device, Compiler& used_compiler)
      : device(used_device),
        compiler(used_compiler),
        spec(KernelLibrary::load_toolbox()),
        renderer(spec) {}

  /// Scalars and buffers of one call, by the names of toolbox/spec.toml.
  struct Call {
    std::string variant;
    DType dtype = DType::u8;
    std::int64_t count = 0;
    std::map<std::string, double> scalars;
    std::uint64_t seed = 0;
    std::map<std::string, Buffer> buffers;
  };

  Status run(Call call);
  Result<Module*> module_for(const Config& config, const Problem& problem, const std::string& key);
  Result<Buffer> scratch(const std::string& name, std::size_t bytes);
  Result<std::vector<std::uint64_t>> read_words(const Buffer& buffer, std::size_t words);

  Device& device;
  Compiler& compiler;
  KernelSpec spec;
  Renderer renderer;
  std::map<std::string, std::unique_ptr<Module>> modules;  ///< by variant and dtype
  std::map<std::string, OwnedBuffer> scratches;            ///< results and workspaces, kept
  bool can_poison_shared = true;
};

Result<Module*> Toolbox::Impl::module_for(const Config& config, const Problem& problem,
                                          const std::string& key) {
  std::unique_ptr<Module>& module = modules[key];
  if (module) return module.get();
  const Result<Binary> binary =
      compiler.compile(renderer.render({spec, problem, device.info()}, config));
  if (!binary) return binary.failure();
  Result<std::unique_ptr<Module>> loaded = device.load(*binary);
  if (!loaded) return loaded.failure();
  module = std::move(*loaded);
  return module.get();
}

Result<Buffer> Toolbox::Impl::scratch(const std::string& name, std::size_t bytes) {
  OwnedBuffer& buffer = scratches[name];
  if (buffer.get().bytes < bytes) {
    buffer.reset();
    Result<OwnedBuffer> memory = OwnedBuffer::allocate(device, bytes);
    if (!memory) return memory.failure();
    buffer = std::move(*memory);
  }
  return buffer.get();
}

Status Toolbox::Impl::run(Call call) {
  const std::string dtype(name_of(call.dtype));
  const std::string wide = device.info().has_f64 ? "f64" : "f32";
  const Problem problem = Problem::make(
      spec, {{"n", Value(call.count)}, {"dtype", dtype}, {"reference", dtype}, {"wide", wide}});
  const Config config =
      Setting(spec, problem, device.info()).default_config(*spec.find_variant(call.variant));
  Result<LaunchPlan> plan = Setting(spec, problem, device.info()).plan(config);
  if (!plan) return plan.failure();
  for (ScalarPlan& scalar : plan->scalars) {
    const auto given = call.scalars.find(scalar.name);
    if (given != call.scalars.end()) scalar.value = number_for(scalar.dtype, given->second);
    if (scalar.name == "seed") scalar.value = static_cast<std::int64_t>(call.seed);
  }
  for (const BufferPlan& buffer : plan->buffers) {
    if (!buffer.workspace) continue;
    const Result<Buffer> memory = scratch(buffer.name, static_cast<std::size_t>(buffer.bytes()));
    if (!memory) return memory.failure();
    call.buffers[buffer.name] = *memory;
  }
  const Result<Module*> module = module_for(config, problem, call.variant + " " + dtype);
  if (!module) return module.failure();
  const auto find_buffer = [&](const std::string& name) {
    const auto found = call.buffers.find(name);
    return found == call.buffers.end() ? nullptr : &found->second;
  };
  return LaunchSequence(*plan, **module, find_buffer).enqueue(device);
}

Result<std::vector<std::uint64_t>> Toolbox::Impl::read_words(const Buffer& buffer,
                                                             std::size_t words) {
  std::vector<std::uint64_t> values(words);
  if (Status status = device.download(buffer, 0, std::as_writable_bytes(std::span(values)));
      !status) {
    return status.failure();
  }
  return values;
}

Toolbox::Toolbox(Device& device, Compiler& compiler)
    : impl_(std::make_unique<Impl>(device, compiler)) {}
Toolbox::~Toolbox() = default;

Status Toolbox::fill(const Buffer& buffer, DType dtype, std::int64_t count, const Fill& fill) {
  if (count == 0) return Done{};
  return impl_->run({.variant = "fill",
                     .dtype = dtype,
                     .count = count,
                     .scalars = {{"kind", static_cast<double>(number_of(fill.kind))},
                                 {"low", fill.low},
                                 {"high", fill.high}},
                     .seed = fill.seed,
                     .buffers = {{"values", buffer}}});
}

Result<BufferDifference> Toolbox::compare(const Buffer& values, const Buffer& reference,
                                          DType dtype, std::int64_t count,
                                          const Tolerance& tolerance, PoisonRule poison,
                                          bool any_nonfinite) {
  if (count == 0) return BufferDifference{};
  const Result<Buffer> result =
      impl_->scratch("comparison", kComparisonWords * sizeof(std::uint64_t));
  if (!result) return result.failure();
  Status status = impl_->run(
      {.variant = "compare",
       .dtype = dtype,
       .count = count,
       .scalars = {{"absolute", tolerance.absolute},
                   {"relative", tolerance.relative},
                   {"poison", static_cast<double>(poison) + (any_nonfinite ? kAnyNonfinite : 0)}},
       .buffers = {{"values", values}, {"reference", reference}, {"comparison", *result}}});
  if (!status) return status.failure();
  const auto words = impl_->read_words(*result, kComparisonWords);
  if (!words) return words.failure();
  return BufferDifference{static_cast<std::int64_t>((*words)[0]),
                          static_cast<std::int64_t>((*words)[1]),
                          std::bit_cast<float>(static_cast<std::uint32_t>((*words)[2]))};
}

Result<std::uint64_t> Toolbox::checksum(const Buffer& buffer, std::size_t bytes) {
  if (bytes == 0) return std::uint64_t{0};
  const Result<Buffer> result = impl_->scratch("sum", sizeof(std::uint64_t));
  if (!result) return result.failure();
  Status status = impl_->run({.variant = "checksum",
                              .dtype = DType::u8,
                              .count = static_cast<std::int64_t>(bytes),
                              .scalars = {{"first", 0}},
                              .buffers = {{"values", buffer}, {"sum", *result}}});
  if (!status) return status.failure();
  const auto words = impl_->read_words(*result, 1);
  if (!words) return words.failure();
  return words->front();
}

Status Toolbox::poison_shared(std::int64_t bytes) {
  const DeviceInfo& device = impl_->device.info();
  if (!impl_->can_poison_shared) return Done{};
  std::int64_t count = device.max_shared_bytes_optin;
  if (device.is_cpu) count = std::min(count, (bytes + kSharedSlack) / kSharedSlack * kSharedSlack);
  Impl::Call call;
  call.variant = "poison_shared";
  call.count = count;
  if (device.is_cpu) call.scalars["wait_for"] = static_cast<double>(device.compute_units);
  const Status status = impl_->run(std::move(call));
  if (!status && status.failure().sticky) return status;
  impl_->can_poison_shared = bool(status);
  return Done{};
}

}  // namespace kiln
