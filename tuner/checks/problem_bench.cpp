// Prepares a problem: fills its arguments, chooses its reference, and checks a device reference.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/problem_bench.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/hash.hpp"
#include "core/outside_reference.hpp"
#include "core/setting.hpp"
#include "templates/renderer.hpp"
#include "tuner/checks/reference_gaps.hpp"
#include "tuner/rules/drawn_scalars.hpp"
#include "tuner/rules/shrink_problem.hpp"

namespace kiln {
namespace {

/// Tells what is being done until the end of its life.
class ToldWork {
 public:
  ToldWork(const ProblemBench::Tools& tools, const std::string& text) : tools_(tools) {
    if (tools_.doing) tools_.doing(text);
  }
  ~ToldWork() {
    if (tools_.doing) tools_.doing("");
  }
  ToldWork(const ToldWork&) = delete;

 private:
  const ProblemBench::Tools& tools_;
};

/// "running reference.c:mm on n=1536 with a=0".
std::string running_text(const KernelSpec& spec, const Problem& problem,
                         const ScalarValues& scalars) {
  std::string what = "the formulas of the spec";
  if (spec.verify.outside && spec.verify.outside->function) {
    what = spec.verify.outside->function->file + ":" + spec.verify.outside->function->name;
  } else if (!spec.verify.reference.empty()) {
    what = "the CPU loop '" + spec.verify.reference + "'";
  }
  const std::string values = scalars_text(scalars);
  return fmt::format("running {} on {}{}", what, problem.text(),
                     values.empty() ? "" : " with " + values);
}

std::string cpu_reference_text(const KernelSpec& spec) {
  if (spec.verify.outside && spec.verify.outside->function) {
    const OutsideFunction& function = *spec.verify.outside->function;
    return "the function '" + function.name + "' of " + function.file;
  }
  return spec.verify.reference.empty() ? "the formulas of the spec"
                                       : "the CPU loop '" + spec.verify.reference + "'";
}

bool is_for_cpu(const Setting& setting, const ReferenceLimits& limits) {
  if (!has_cpu_reference(setting.spec())) return false;
  const bool names_other = !setting.spec().verify.device_reference.empty();
  return cpu_operations(setting) <=
         (names_other ? limits.max_operations : limits.patient_operations);
}

/// A Failure where it cannot run on this problem; on others it may.
Result<Config> device_reference(const Setting& setting) {
  const std::string& named = setting.spec().verify.device_reference;
  Result<Config> config = named.empty() ? setting.launchable_default() : setting.launchable(named);
  if (!config || setting.spec().config_values.empty()) return config;
  for (const auto& [name, value] : setting.spec().config_values) {
    for (auto& [tunable, its_value] : config->values) {
      if (tunable == name) its_value = value;
    }
  }
  return setting.launchable(config->text());
}

}  // namespace

Result<std::unique_ptr<ProblemBench>> ProblemBench::create(
    const Tools& tools, const KernelSpec& spec, const Problem& problem, std::uint64_t seed,
    const ReferenceLimits& limits, VerifyInputs verify, const ScalarValues& scalars) {
  const DeviceInfo& device = tools.device.info();
  const bool may_be_recorded = verify == VerifyInputs::filled;
  const bool is_recorded = may_be_recorded && find_recorded(spec, problem) != nullptr;
  if (!is_recorded && spec.verify.device_reference.empty() && !has_cpu_reference(spec)) {
    throw InputError(spec.verify.where,
                     fmt::format("[verify]: nothing says what is right for {}: it is no problem of "
                                 "[[verify.expected]], and there is no other reference",
                                 problem.text()));
  }
  const Setting setting(spec, problem, device);
  const bool on_cpu = is_recorded || is_for_cpu(setting, limits);
  Config config;  // of a device reference
  if (!on_cpu) {
    Result<Config> chosen = device_reference(setting);
    if (!chosen) return chosen.failure();
    config = std::move(*chosen);
  }
  const Result<LaunchPlan> plan =
      on_cpu ? setting.arguments(scalars) : setting.plan(config, scalars);
  if (!plan) return plan.failure();

  std::optional<RecordedValues> recorded;
  if (is_recorded) recorded = read_recorded(spec, problem, *plan);
  // On about a hundred other sizes, mapping pages for each would take long.
  const bool is_called = verify != VerifyInputs::filled && verify != VerifyInputs::with_edges;
  std::unique_ptr<ProblemBench> bench(
      new ProblemBench(tools, spec, problem, seed, is_called ? Fence::behind : Fence::none));
  Result<std::unique_ptr<ProblemData>> data = ProblemData::create(
      tools.device, tools.toolbox, spec, problem, *plan, seed, verify,
      recorded ? std::move(recorded->inputs) : std::map<std::string, HostArray>());
  if (!data) return data.failure();
  bench->data_ = std::move(*data);
  bench->scalars_ = scalars;
  bench->has_specials_ =
      verify == VerifyInputs::with_nans || verify == VerifyInputs::with_infinities;

  if (recorded) {
    if (Status status = bench->expect_recorded(*recorded, *plan); !status) return status.failure();
    return bench;
  }
  if (!on_cpu && has_cpu_reference(spec)) {
    if (Status status = bench->check_device_reference(config, seed, limits); !status)
      return status.failure();
  }
  Status status = on_cpu ? bench->expect_from_cpu(*plan)
                         : bench->expect_from_device(config, *plan, limits.long_run_seconds);
  if (!status) return status.failure();
  return bench;
}

/// Drawn scalars are fractions, too, with which products of whole numbers round.
Strictness ProblemBench::strictness(InputSet set, const ScalarValues& scalars) const {
  Strictness strictness = strictness_of(
      spec_, Setting(spec_, problem_, tools_.device.info()).scope(), set, data_->kinds_differ());
  strictness.exact = strictness.exact && scalars.empty();
  strictness.any_nonfinite = has_specials_;
  return strictness;
}

Status ProblemBench::reseed(std::uint64_t seed) {
  if (!cpu_plan_) return Done{};
  seed_ = seed;
  data_->reseed(seed);
  return expect_from_cpu(LaunchPlan(*cpu_plan_));
}

Status ProblemBench::expect(const Reference& reference) {
  if (Status status = expect_set(reference, InputSet::verify); !status) return status;
  return data_->sets_differ() ? expect_set(reference, InputSet::timing) : Status(Done{});
}

/// Also of other inputs, where a few results do not tell how large they typically are. What was
/// learned of that stays through reseed().
Status ProblemBench::expect_set(const Reference& reference, InputSet set) {
  std::optional<ExpectedOutputs>& slot = set == InputSet::verify ? verify_ : timing_;
  Result<ExpectedOutputs> expected = expect_scaled(reference, set, slot ? &*slot : nullptr);
  if (!expected) return expected.failure();
  slot = std::move(*expected);
  return Done{};
}

Result<ExpectedOutputs> ProblemBench::expect_scaled(const Reference& reference, InputSet set,
                                                    const ExpectedOutputs* known) {
  Result<ExpectedOutputs> expected = reference(set);
  if (!expected) return expected;
  if (known != nullptr) expected->learn_scale(*known);
  bool reseeded = false;
  for (std::uint64_t i = 1; expected->wants_scale(); ++i, reseeded = true) {
    data_->reseed(seed_ ^ hash64(fmt::format("scale {}", i)));
    const Result<ExpectedOutputs> other = reference(set);
    if (!other) return other.failure();
    expected->learn_scale(*other);
  }
  if (reseeded) data_->reseed(seed_);
  return expected;
}

Result<ExpectedOutputs> ProblemBench::expected_of(InputSet set, const ScalarValues& scalars) {
  const Setting setting(spec_, problem_, tools_.device.info());
  const Result<LaunchPlan> plan =
      cpu_plan_ ? setting.arguments(scalars) : setting.plan(device_reference_, scalars);
  if (!plan) return plan.failure();
  if (cpu_plan_) {
    return expect_scaled([&](InputSet each) { return expect_from_loop(*plan, each, scalars); }, set,
                         nullptr);
  }
  const Result<Binary> binary = compile(device_reference_);
  if (!binary) return binary.failure();
  Result<ConfigRun> run = ConfigRun::load(bench(), *plan, *binary);
  if (!run) return run.failure();
  return expect_scaled([&](InputSet each) { return expect_run(*plan, *run, each, scalars); }, set,
                       nullptr);
}

/// One set of inputs, so one of outputs; there are no others that could tell how large results
/// typically are.
Status ProblemBench::expect_recorded(const RecordedValues& recorded, const LaunchPlan& plan) {
  reference_ = "the recorded outputs of " + recorded.source;
  const Result<WrittenParts> parts = written_parts_of(InputSet::verify, plan);
  if (!parts) return parts.failure();
  Result<ExpectedOutputs> expected = ExpectedOutputs::from_arrays(
      tools_.device, data_->outputs(), recorded.outputs, strictness(InputSet::verify, {}), *parts);
  if (!expected) return expected.failure();
  verify_ = std::move(*expected);
  return Done{};
}

Status ProblemBench::expect_from_cpu(const LaunchPlan& plan) {
  cpu_plan_ = plan;
  reference_ = cpu_reference_text(spec_);
  return expect([&](InputSet set) { return expect_from_loop(plan, set, scalars_); });
}

Result<ExpectedOutputs> ProblemBench::expect_from_loop(const LaunchPlan& plan, InputSet set,
                                                       const ScalarValues& scalars) {
  const ToldWork work(tools_, running_text(spec_, problem_, scalars));
  return ExpectedOutputs::from_cpu(tools_.device, spec_, problem_, plan, *data_, set,
                                   strictness(set, scalars), &reference_seconds_);
}

/// The set for timing first: where a run takes long, there is no other. Exact inputs are then left
/// to the small problems.
Status ProblemBench::expect_in_time(const Reference& reference, const ConfigRun& run,
                                    double long_run_seconds) {
  if (!data_->sets_differ() || !has_cpu_reference(spec_)) return expect(reference);
  if (Status status = expect_set(reference, InputSet::timing); !status) return status;
  runs_long_ = run.last_run_ns() > long_run_seconds * 1e9;
  if (!runs_long_) return expect_set(reference, InputSet::verify);
  verify_ = std::move(timing_);
  timing_.reset();
  data_->keep_timing_set();
  return Done{};
}

Status ProblemBench::expect_from_device(const Config& config, const LaunchPlan& plan,
                                        double long_run_seconds) {
  device_reference_ = config;
  reference_ = "the variant '" + config.text() + "'";
  if (has_cpu_reference(spec_)) {
    reference_ += ", which agreed with " + cpu_reference_text(spec_) + " on a smaller problem";
  }
  const ToldWork work(tools_, fmt::format("running {} on {}", config.text(), problem_.text()));
  const Result<Binary> binary = compile(config);
  if (!binary) return binary.failure();
  Result<ConfigRun> run = ConfigRun::load(bench(), plan, *binary);
  if (!run) return run.failure();
  Status status = expect_in_time(
      [&](InputSet set) { return expect_run(plan, *run, set, scalars_); }, *run, long_run_seconds);
  if (!status) return status;
  if (!changed_something_)
    return reference_fault("changes no element of any output, so that nothing can be proved by it");
  return Done{};
}

Failure ProblemBench::reference_fault(const std::string& what) const {
  return {Outcome::wrong_result,
          fmt::format("{}:{}: the device reference '{}' {}", spec_.path, spec_.verify.where.line,
                      spec_.verify.device_reference, what)};
}

Result<std::vector<std::uint64_t>> ProblemBench::output_checksums(InputSet set) {
  std::vector<std::uint64_t> checksums;
  for (const ProblemData::Output& output : data_->outputs()) {
    const Buffer& values = *data_->find(output.name, set);
    const Result<std::uint64_t> checksum = tools_.toolbox.checksum(values, values.bytes);
    if (!checksum) return checksum.failure();
    checksums.push_back(*checksum);
  }
  return checksums;
}

Result<WrittenParts> ProblemBench::written_parts_of(InputSet set, const LaunchPlan& plan) {
  if (spec_.verify.written.empty()) return WrittenParts();
  if (Status status = data_->load(set); !status) return status.failure();
  Result<std::map<std::string, HostArray>> inputs = data_->download_inputs(set);
  if (!inputs) return inputs.failure();
  return written_parts(spec_, problem_, plan, data_->outputs(), *inputs);
}

Result<ExpectedOutputs> ProblemBench::expect_run(const LaunchPlan& plan, ConfigRun& run,
                                                 InputSet set, const ScalarValues& scalars) {
  if (Status status = data_->load(set); !status) return status.failure();
  const Result<WrittenParts> parts = written_parts_of(set, plan);
  if (!parts) return parts.failure();
  const Result<std::vector<std::uint64_t>> before = output_checksums(set);
  if (!before) return before.failure();
  if (Status status = run.run_once(set); !status) return status.failure();
  const Result<std::vector<std::uint64_t>> after = output_checksums(set);
  if (!after) return after.failure();
  changed_something_ |= *before != *after;
  Result<ExpectedOutputs> expected =
      ExpectedOutputs::from_outputs(tools_.device, *data_, set, strictness(set, scalars), *parts);
  if (!expected) return expected;
  const Result<bool> holds_poison = any_poison(set);
  if (!holds_poison) return holds_poison.failure();
  if (!*holds_poison && spec_.verify.written.empty() && has_cpu_reference(spec_)) return expected;
  const Result<std::string> gaps = gaps_in(run, set, *expected, *parts);
  if (!gaps) return gaps.failure();
  if (!gaps->empty()) return reference_fault(*gaps);
  return expected;
}

Result<bool> ProblemBench::any_poison(InputSet set) {
  for (const ProblemData::Output& output : data_->outputs()) {
    if (output.access != Access::write) continue;
    const std::size_t bytes = static_cast<std::size_t>(output.count) * size_of(output.dtype);
    Result<OwnedBuffer> poison =
        OwnedBuffer::allocate(tools_.device, std::max<std::size_t>(bytes, 1));
    if (!poison) return true;  // no room: the second run tells
    if (Status status =
            tools_.device.fill(poison->get(), 0, bytes, poison_byte(output.dtype, Poison::usual));
        !status)
      return status.failure();
    const Result<BufferDifference> others = tools_.toolbox.compare(
        *data_->find(output.name, set), poison->get(), output.dtype, output.count, Tolerance{});
    if (!others) return others.failure();
    if (others->wrong < output.count) return true;
  }
  return false;
}

Result<std::string> ProblemBench::gaps_in(ConfigRun& run, InputSet set,
                                          const ExpectedOutputs& expected,
                                          const WrittenParts& parts) {
  data_->set_poison(Poison::other);
  workspaces_.set_poison(Poison::other);
  const Status again = run.run_once(set);
  data_->set_poison(Poison::usual);
  workspaces_.set_poison(Poison::usual);
  if (!again) return again.failure();
  for (const ProblemData::Output& output : data_->outputs()) {
    if (output.access != Access::write) continue;  // what is not written keeps its value
    const auto part = parts.find(output.name);
    Result<std::string> gaps =
        gaps_of(tools_.device, tools_.toolbox,
                {output, expected.values_of(output.name), *data_->find(output.name, set)},
                part == parts.end() ? std::vector<bool>() : part->second);
    if (!gaps || !gaps->empty()) return gaps;
  }
  return std::string();
}

/// Runs the device reference on a problem that the CPU loop can do, and compares.
Status ProblemBench::check_device_reference(const Config& config, std::uint64_t seed,
                                            const ReferenceLimits& limits) {
  const Problem small =
      shrink_problem({spec_, problem_, tools_.device.info()}, limits.agreed_operations);
  Result<std::unique_ptr<ProblemBench>> trusted =
      create(tools_, spec_, small, seed, std::numeric_limits<double>::infinity());
  if (!trusted) return trusted.failure();
  const Result<LaunchPlan> plan = Setting(spec_, small, tools_.device.info()).plan(config);
  if (!plan) return plan.failure();
  const Result<Binary> binary = compile(config);
  if (!binary) return binary.failure();
  Result<ConfigRun> run = ConfigRun::load((*trusted)->bench(), *plan, *binary);
  if (!run) return run.failure();
  for (const InputSet set : {InputSet::verify, InputSet::timing}) {
    const Result<double> error = run->run_checked(set, (*trusted)->expected(set));
    if (error) continue;
    Failure failure = error.failure();
    failure.message = fmt::format("the device reference '{}' fails on {}: {}", config.text(),
                                  small.text(), failure.message);
    return failure;
  }
  return Done{};
}

Result<Binary> ProblemBench::compile(const Config& config) const {
  return tools_.compiler.compile(
      Renderer(spec_).render({spec_, problem_, tools_.device.info()}, config));
}

}  // namespace kiln
