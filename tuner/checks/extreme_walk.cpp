// Builds the patterns, launches once for each window of them, and compares the outputs together.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/extreme_walk.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/setting.hpp"

namespace kiln {
namespace {

// Elements in front of and behind the extremes: all values of the ramp in between, scattered.
constexpr std::size_t kStride = 7919;

/// The inputs that the first check fills with a ramp.
std::vector<std::string> ramps_of(const KernelSpec& spec, const LaunchPlan& plan,
                                  const Scope& scope) {
  std::vector<std::string> names;
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.workspace || buffer.access != Access::read || buffer.count == 0) continue;
    const bool is_ramp =
        evaluate_fill(spec.find_argument(buffer.name)->fill_verify, scope) == "ramp";
    if (is_ramp) names.push_back(buffer.name);
  }
  return names;
}

HostArray pattern_of(const HostArray& ramp) {
  const std::size_t count = ramp.count();
  HostArray pattern(ramp.dtype, {2 * static_cast<std::int64_t>(count)});
  const std::size_t between = std::max<std::size_t>(count, 3) - 2;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    pattern.set(i, ramp.get(std::min(1 + i * kStride % between, count - 1)));
  }
  pattern.set(count - 1, ramp.get(count - 1));
  pattern.set(count, ramp.get(0));
  return pattern;
}

/// Puts `part` in the place of the elements of `whole` from `first` on; both of one type.
void insert(const HostArray& part, HostArray& whole, std::size_t first) {
  std::copy(part.data.begin(), part.data.end(),
            whole.data.begin() + static_cast<std::ptrdiff_t>(first * size_of(whole.dtype)));
}

}  // namespace

/// The smallest element comes to lie at `place`, the largest just before it; both are never in one
/// place, so the input's last window holds the largest element alone and the first one the
/// smallest.
std::size_t ExtremeWalk::Input::window(std::size_t place) const {
  return (count() - place % (count() + 1)) * size_of(pattern.dtype);
}

Result<std::unique_ptr<ExtremeWalk>> ExtremeWalk::create(const ProblemBench::Tools& tools,
                                                         const KernelSpec& spec,
                                                         const Problem& problem, std::uint64_t seed,
                                                         std::size_t max_places) {
  const DeviceInfo& device = tools.device.info();
  const Scope scope = Setting(spec, problem, device).scope();
  const bool is_exact = strictness_of(spec, scope, InputSet::verify, /*sets_differ=*/true).exact;
  if (!has_cpu_reference(spec) || !is_exact || !spec.verify.written.empty())
    return std::unique_ptr<ExtremeWalk>();
  const Result<LaunchPlan> plan = Setting(spec, problem, device).arguments();
  if (!plan) return plan.failure();
  const std::vector<std::string> ramps = ramps_of(spec, *plan, scope);
  if (ramps.empty()) return std::unique_ptr<ExtremeWalk>();

  std::unique_ptr<ExtremeWalk> walk(new ExtremeWalk(tools, spec, problem));
  Result<std::unique_ptr<ProblemBench>> bench =
      ProblemBench::create(tools, spec, problem, seed, std::numeric_limits<double>::infinity());
  if (!bench) return bench.failure();
  walk->bench_ = std::move(*bench);
  // A visit fills outputs with poison; those that are read would need their values.
  const std::vector<ProblemData::Output>& outputs = walk->data().outputs();
  const bool only_writes = std::all_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.access == Access::write;
  });
  if (!only_writes) return std::unique_ptr<ExtremeWalk>();
  if (Status status = walk->data().load(InputSet::verify); !status) return status.failure();
  auto inputs = walk->data().download_inputs(InputSet::verify);
  if (!inputs) return inputs.failure();
  if (Status status = walk->make_patterns(ramps, *inputs); !status) return status.failure();
  walk->visits_ = std::min(walk->longest_ + 1, max_places);
  if (Status status = walk->expect(*plan, *inputs); !status) return status.failure();
  return walk;
}

Status ExtremeWalk::make_patterns(const std::vector<std::string>& ramps,
                                  const std::map<std::string, HostArray>& inputs) {
  for (const std::string& name : ramps) {
    HostArray pattern = pattern_of(inputs.at(name));
    Result<OwnedBuffer> memory = OwnedBuffer::allocate(tools_.device, pattern.data.size());
    if (!memory) return memory.failure();
    if (Status status = tools_.device.upload(memory->get(), 0, pattern.data); !status)
      return status;
    inputs_.push_back({name, std::move(pattern), std::move(*memory)});
    longest_ = std::max(longest_, inputs_.back().count());
  }
  return Done{};
}

std::size_t ExtremeWalk::place(std::size_t visit) const {
  return visit * longest_ / std::max<std::size_t>(visits_ - 1, 1);
}

Status ExtremeWalk::expect(const LaunchPlan& plan, const std::map<std::string, HostArray>& inputs) {
  std::vector<ProblemData::Output> outputs = data().outputs();
  std::map<std::string, HostArray> all;
  for (const ProblemData::Output& output : outputs) {
    std::vector<std::int64_t> shape = output.shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(visits_));
    all[output.name] = HostArray(reference_dtype(output.dtype), shape);
    kept_.push_back({output, {}});
    Result<OwnedBuffer> memory = OwnedBuffer::allocate(
        tools_.device, visits_ * std::max<std::size_t>(kept_.back().bytes(), 1));
    if (!memory) return memory.failure();
    kept_.back().values = std::move(*memory);
  }
  for (std::size_t visit = 0; visit < visits_; ++visit) {
    std::map<std::string, HostArray> arrays = inputs;
    for (const Input& input : inputs_) {
      std::vector<std::byte>& bytes = arrays.at(input.name).data;
      std::copy_n(input.pattern.data.data() + input.window(place(visit)), bytes.size(),
                  bytes.begin());
    }
    (void)run_reference(spec_, problem_, plan, outputs, arrays);
    for (const ProblemData::Output& output : outputs) {
      insert(arrays.at(output.name), all.at(output.name),
             visit * static_cast<std::size_t>(output.count));
    }
  }
  for (ProblemData::Output& output : outputs) {
    output.shape = all.at(output.name).shape;
    output.count *= static_cast<std::int64_t>(visits_);
  }
  Result<ExpectedOutputs> expected = ExpectedOutputs::from_arrays(
      tools_.device, outputs, all, {.exact = true, .stated = {}, .stated_of = {}});
  if (!expected) return expected.failure();
  expected_ = std::move(*expected);
  return Done{};
}

/// Nothing is waited for: the queue keeps the order.
Status ExtremeWalk::visit(std::size_t number, const ConfigRun& run) {
  Device& device = tools_.device;
  const auto view = [&](const std::string& name) { return *data().find(name, InputSet::verify); };
  for (const Input& input : inputs_) {
    const Buffer to = view(input.name);
    const std::size_t from = input.window(place(number));
    if (Status status = device.copy(input.on_device.get(), from, to, 0, to.bytes); !status)
      return status;
  }
  for (const Kept& kept : kept_) {
    const std::uint8_t poison = poison_byte(kept.output.dtype);
    if (Status status = device.fill(view(kept.output.name), 0, kept.bytes(), poison); !status)
      return status;
  }
  if (Status status = run.sequence(InputSet::verify).enqueue(device); !status) return status;
  for (const Kept& kept : kept_) {
    if (Status status = device.copy(view(kept.output.name), 0, kept.values.get(),
                                    number * kept.bytes(), kept.bytes());
        !status)
      return status;
  }
  return Done{};
}

Status ExtremeWalk::check(const Config& config, const ConfigRun& run) {
  const Result<LaunchPlan> plan = Setting(spec_, problem_, tools_.device.info()).plan(config);
  if (!plan) return Done{};
  Result<ConfigRun> here = run.rebound(bench_->bench(), *plan);
  if (!here) return here.failure();
  if (Status status = here->prepare(InputSet::verify); !status) return status;
  for (std::size_t number = 0; number < visits_; ++number) {
    if (Status status = visit(number, *here); !status) return status;
  }
  if (Status status = tools_.device.synchronize(); !status) return status;
  const Result<ExpectedOutputs::Check> found =
      expected_->check(tools_.device, tools_.toolbox, [&](const std::string& name) {
        const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                       [&](const Kept& each) { return each.output.name == name; });
        return &kept->values.get();
      });
  if (!found) return found.failure();
  if (found->mismatch.empty()) return Done{};
  return Failure{Outcome::wrong_result,
                 fmt::format("on {}, with the extremes of its input in one of {} places after the "
                             "other (the first index): {}",
                             problem_.text(), visits_, found->mismatch)};
}

}  // namespace kiln
