// Computes the required outputs with their tolerances, and compares outputs of a config with them.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/expected.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/in_parallel.hpp"
#include "tuner/checks/outside_function.hpp"
#include "tuner/checks/reference_gaps.hpp"

namespace kiln {
namespace {

// Elements looked at for the typical magnitude of a reference that stays on the device: runs of
// this many elements, spread evenly over the output.
constexpr std::int64_t kSampledRuns = 16;
constexpr std::int64_t kRunElements = 256;

// The elements that say how large a result typically is. That eight normally distributed ones are
// all within a twentieth of their spread happens once in 10^11 times; a tolerance has more margin
// than that (kSumRoundings).
constexpr double kScaleElements = 8;

/// The reference's f64 or i64 values, rounded to the element type that the device stores.
HostArray rounded_array(const HostArray& wide, DType dtype) {
  HostArray narrow(dtype, wide.shape);
  const bool whole = wide.dtype == DType::i64 && size_of(dtype) == sizeof(std::int64_t);
  in_parallel(wide.count(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (whole) {
        narrow.elements<std::int64_t>()[i] = wide.elements<std::int64_t>()[i];
      } else {
        narrow.set(i, wide.get(i));
      }
    }
  });
  return narrow;
}

/// The scalars as a kernel gets them, rounded to their types.
std::map<std::string, double> scalars_of(const LaunchPlan& plan) {
  std::map<std::string, double> scalars;
  for (const ScalarPlan& scalar : plan.scalars) {
    double& value = scalars[scalar.name] = as_double(scalar.value);
    if (!is_floating(scalar.dtype)) continue;
    HostArray rounded(scalar.dtype, {1});
    rounded.set(0, value);
    value = rounded.get(0);
  }
  return scalars;
}

std::vector<bool> part_of(const WrittenParts& parts, const std::string& output) {
  const auto part = parts.find(output);
  return part == parts.end() ? std::vector<bool>() : part->second;
}

/// What is not written must hold what it held before the run.
void leave_poison(HostArray& values, const std::vector<bool>& written) {
  const std::size_t size = size_of(values.dtype);
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i])
      std::fill_n(values.data.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                  std::byte{poison_byte(values.dtype)});
  }
}

Result<Magnitude> sampled_magnitude(Device& device, const Buffer& values,
                                    const ProblemData::Output& output,
                                    const std::vector<bool>& written) {
  Magnitude magnitude;
  const std::int64_t run = std::min(kRunElements, output.count);
  const std::int64_t runs =
      std::min(kSampledRuns, (output.count + run - 1) / std::max<std::int64_t>(run, 1));
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t start = runs == 1 ? 0 : (output.count - run) / (runs - 1) * i;
    HostArray sample(output.dtype, {run});
    const std::size_t offset = static_cast<std::size_t>(start) * size_of(output.dtype);
    if (Status status = device.download(values, offset, sample.data); !status)
      return status.failure();
    magnitude.add(sample, written, static_cast<std::size_t>(start));
  }
  return magnitude;
}

Result<double> element_at(Device& device, const Buffer& buffer, DType dtype, std::int64_t index) {
  HostArray element(dtype, {1});
  const std::size_t offset = static_cast<std::size_t>(index) * size_of(dtype);
  if (Status status = device.download(buffer, offset, element.data); !status)
    return status.failure();
  return element.get(0);
}

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

Result<std::string> describe_mismatch(Device& device, const Buffer& values, const Buffer& reference,
                                      const ProblemData::Output& output, const Tolerance& tolerance,
                                      const BufferDifference& found,
                                      const std::vector<bool>& written) {
  const Result<double> got = element_at(device, values, output.dtype, found.first_wrong);
  if (!got) return got.failure();
  const Result<double> wanted = element_at(device, reference, output.dtype, found.first_wrong);
  if (!wanted) return wanted.failure();
  const auto first = static_cast<std::size_t>(found.first_wrong);
  if (!written.empty() && !written[first]) {
    return fmt::format(
        "{} of {} elements of '{}' are wrong; the first is {}{}: {} was written, and [verify] "
        "written says that this element is left",
        found.wrong, output.count, output.name, output.name,
        place_of(found.first_wrong, output.shape), number_text(*got));
  }
  const double allowed = tolerance.absolute + tolerance.relative * std::abs(*wanted);
  return fmt::format(
      "{} of {} elements of '{}' are wrong; the first is {}{}: {}, expected {} (allowed error "
      "{:.3g})",
      found.wrong, output.count, output.name, output.name,
      place_of(found.first_wrong, output.shape), number_text(*got), number_text(*wanted), allowed);
}

}  // namespace

HostArray widened(const HostArray& narrow) {
  HostArray wide(reference_dtype(narrow.dtype), narrow.shape);
  const bool whole = wide.dtype == DType::i64 && size_of(narrow.dtype) == sizeof(std::int64_t);
  for (std::size_t i = 0; i < narrow.count(); ++i) {
    if (whole) {
      wide.elements<std::int64_t>()[i] = narrow.elements<std::int64_t>()[i];
    } else {
      wide.set(i, narrow.get(i));
    }
  }
  return wide;
}

void Magnitude::add(const HostArray& values, const std::vector<bool>& written, std::size_t start) {
  for (std::size_t i = 0; i < values.count(); ++i) {
    if (!written.empty() && !written[start + i]) continue;
    const double value = values.get(i);
    if (std::isfinite(value)) sum_ += static_cast<long double>(value) * value;
    count_ += 1;
  }
}

void Magnitude::add(const Magnitude& other) {
  sum_ += other.sum_;
  count_ += other.count_;
}

double Magnitude::root() const {
  return count_ > 0 ? static_cast<double>(std::sqrt(sum_ / count_)) : 0;
}

std::optional<double> Strictness::stated_for(const std::string& output) const {
  const auto found = stated_of.find(output);
  return found == stated_of.end() ? stated : found->second;
}

Strictness strictness_of(const KernelSpec& spec, const Scope& scope, InputSet set,
                         bool sets_differ) {
  const Verification& verify = spec.verify;
  Strictness strictness;
  strictness.sum_length = verify.sum_length.evaluate_number(scope);
  if (verify.input_eps) strictness.input_eps = verify.input_eps->evaluate_number(scope);
  if (verify.differing) strictness.differing = verify.differing->evaluate_number(scope);
  if (verify.tolerance) strictness.stated = verify.tolerance->evaluate_number(scope);
  for (const auto& [output, tolerance] : verify.tolerances)
    strictness.stated_of[output] = tolerance.evaluate_number(scope);
  const bool may_be_exact = set != InputSet::timing || !sets_differ;
  strictness.exact = may_be_exact && verify.exact && verify.exact->evaluate_bool(scope);
  return strictness;
}

bool has_cpu_reference(const KernelSpec& spec) { return !spec.verify.by_itself(); }

WrittenParts written_parts(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                           const std::vector<ProblemData::Output>& outputs,
                           std::map<std::string, HostArray>& inputs) {
  WrittenParts parts;
  const std::map<std::string, double> scalars = scalars_of(plan);
  const ReferenceCall call{problem, inputs, scalars};
  for (const ProblemData::Output& output : outputs) {
    std::vector<bool> written = written_elements(spec, call, output.name, output.shape);
    if (!written.empty()) parts.emplace(output.name, std::move(written));
  }
  return parts;
}

double run_reference(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                     const std::vector<ProblemData::Output>& outputs,
                     std::map<std::string, HostArray>& arrays) {
  if (spec.verify.outside && spec.verify.outside->function) {
    return call_outside_function(spec, problem, plan, outputs, arrays);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (const ProblemData::Output& output : outputs) {
    const auto before = arrays.find(output.name);
    arrays[output.name] = before == arrays.end()
                              ? HostArray(reference_dtype(output.dtype), output.shape)
                              : widened(before->second);
  }
  const std::map<std::string, double> scalars = scalars_of(plan);
  ReferenceCall call{problem, arrays, scalars};
  if (spec.verify.reference.empty()) {
    evaluate_formulas(spec, call);
    return seconds();
  }
  const ReferenceFunction reference = find_reference(spec.verify.reference);
  if (reference == nullptr) {
    throw InputError(fmt::format("{}: there is no CPU reference named '{}'; there are {}",
                                 spec.path, spec.verify.reference,
                                 fmt::join(references_by_folder() | std::views::keys, ", ")));
  }
  reference(call);
  return seconds();
}

Result<ExpectedOutputs> ExpectedOutputs::from_cpu(Device& device, const KernelSpec& spec,
                                                  const Problem& problem, const LaunchPlan& plan,
                                                  ProblemData& data, InputSet set,
                                                  const Strictness& strictness, double* seconds) {
  if (Status status = data.load(set); !status) return status.failure();
  Result<std::map<std::string, HostArray>> arrays = data.download_inputs(set);
  if (!arrays) return arrays.failure();
  const WrittenParts written = written_parts(spec, problem, plan, data.outputs(), *arrays);
  *seconds = std::max(*seconds, run_reference(spec, problem, plan, data.outputs(), *arrays));
  return from_arrays(device, data.outputs(), *arrays, strictness, written);
}

Result<ExpectedOutputs> ExpectedOutputs::from_arrays(
    Device& device, const std::vector<ProblemData::Output>& outputs,
    const std::map<std::string, HostArray>& arrays, const Strictness& strictness,
    const WrittenParts& parts) {
  ExpectedOutputs expected(strictness);
  for (const ProblemData::Output& output : outputs) {
    const HostArray& wide = arrays.at(output.name);
    std::vector<bool> written = part_of(parts, output.name);
    HostArray values = rounded_array(wide, output.dtype);
    Magnitude magnitude;  // of what the type can hold: what is too large says nothing of the others
    magnitude.add(values, written);
    leave_poison(values, written);
    Result<OwnedBuffer> memory =
        OwnedBuffer::allocate(device, std::max<std::size_t>(values.data.size(), 1));
    if (!memory) return memory.failure();
    if (Status status = device.upload(memory->get(), 0, values.data); !status)
      return status.failure();
    expected.entries_.push_back({output, std::move(*memory), magnitude, std::move(written)});
  }
  return expected;
}

Result<ExpectedOutputs> ExpectedOutputs::from_outputs(Device& device, ProblemData& data,
                                                      InputSet set, const Strictness& strictness,
                                                      const WrittenParts& parts) {
  ExpectedOutputs expected(strictness);
  for (const ProblemData::Output& output : data.outputs()) {
    std::vector<bool> written = part_of(parts, output.name);
    const std::size_t bytes = static_cast<std::size_t>(output.count) * size_of(output.dtype);
    Result<OwnedBuffer> memory = OwnedBuffer::allocate(device, std::max<std::size_t>(bytes, 1));
    if (!memory) return memory.failure();
    if (Status status = device.copy(*data.find(output.name, set), 0, memory->get(), 0, bytes);
        !status) {
      return status.failure();
    }
    const Result<Magnitude> magnitude = sampled_magnitude(device, memory->get(), output, written);
    if (!magnitude) return magnitude.failure();
    expected.entries_.push_back({output, std::move(*memory), *magnitude, std::move(written)});
  }
  return expected;
}

const Buffer& ExpectedOutputs::values_of(const std::string& output) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return each.output.name == output; });
  return entry->values.get();
}

bool ExpectedOutputs::is_in_part() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return !entry.written.empty(); });
}

bool ExpectedOutputs::wants_scale() const {
  if (strictness_.exact) return false;
  return std::any_of(entries_.begin(), entries_.end(), [this](const Entry& entry) {
    const double known = entry.magnitude.count();
    if (strictness_.stated_for(entry.output.name) == 0.0) return false;
    return is_floating(entry.output.dtype) && known > 0 && known < kScaleElements;
  });
}

void ExpectedOutputs::learn_scale(const ExpectedOutputs& other) {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    entries_[i].magnitude.add(other.entries_[i].magnitude);
}

Tolerance ExpectedOutputs::tolerance_of(const Entry& entry) const {
  if (strictness_.exact) return {};
  const DType dtype = entry.output.dtype;
  const double scale = entry.magnitude.root();
  if (const std::optional<double> stated = strictness_.stated_for(entry.output.name))
    return stated_tolerance(dtype, *stated, scale);
  return default_tolerance(dtype, strictness_.sum_length, scale, strictness_.input_eps);
}

Result<ExpectedOutputs::Check> ExpectedOutputs::check(Device& device, Toolbox& toolbox,
                                                      const BufferLookup& find_output) const {
  Check check;
  for (const Entry& entry : entries_) {
    const ProblemData::Output& output = entry.output;
    const Buffer& values = *find_output(output.name);
    const Tolerance tolerance = tolerance_of(entry);
    const auto compare = [&](PoisonRule rule) {
      return toolbox.compare(values, entry.values.get(), output.dtype, output.count, tolerance,
                             rule, strictness_.any_nonfinite);
    };
    const bool is_poisoned = output.access == Access::write && is_floating(output.dtype);
    const PoisonRule rule = !is_poisoned            ? PoisonRule::is_a_nan
                            : entry.written.empty() ? PoisonRule::is_unwritten
                                                    : PoisonRule::is_kept;
    Result<BufferDifference> found = compare(rule);
    if (found && found->wrong > 0 && rule == PoisonRule::is_unwritten) {
      found = compare(PoisonRule::is_a_nan);
      if (found && found->wrong == 0) check.may_be_unwritten = true;
    }
    if (!found) return found.failure();
    if (static_cast<double>(found->wrong) <=
        strictness_.differing * static_cast<double>(output.count))
      found->wrong = 0;
    check.max_error = std::max(check.max_error, found->wrong > 0 || strictness_.differing == 0
                                                    ? found->max_error
                                                    : std::min(found->max_error, 1.0));
    if (found->wrong == 0 || !check.mismatch.empty()) continue;
    Result<std::string> mismatch = describe_mismatch(device, values, entry.values.get(), output,
                                                     tolerance, *found, entry.written);
    if (!mismatch) return mismatch.failure();
    check.mismatch = std::move(*mismatch);
  }
  return check;
}

}  // namespace kiln
