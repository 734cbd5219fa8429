// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "templates/reference.hpp"
#include "tests/fuzz/targets.hpp"
#include "tuner/rules/problem_limits.hpp"

namespace kiln::fuzz {

namespace {

// Enough for every shape of the seeds; a mutated one may ask for terabytes.
constexpr std::int64_t kMaxElements = 100'000;

/// What the tuner evaluates for each element of small outputs: formulas and `written`.
void check_outputs(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device) {
  const Result<LaunchPlan> plan = Setting(spec, problem, device).arguments();
  if (!plan) return;
  std::map<std::string, HostArray> arrays;
  std::int64_t elements = 0;
  for (const BufferPlan& buffer : plan->buffers) {
    if (buffer.count > kMaxElements) return;
    elements += buffer.count;
    if (elements > kMaxElements) return;
    const bool is_read = buffer.access == Access::read;
    arrays[buffer.name] =
        HostArray(is_read ? buffer.dtype : reference_dtype(buffer.dtype), buffer.shape);
  }
  std::map<std::string, double> scalars;
  for (const ScalarPlan& scalar : plan->scalars) scalars[scalar.name] = as_double(scalar.value);
  ReferenceCall call{problem, arrays, scalars};
  for (const BufferPlan& buffer : plan->buffers) {
    if (buffer.access == Access::write)
      static_cast<void>(written_elements(spec, call, buffer.name, buffer.shape));
  }
  evaluate_formulas(spec, call);
}

}  // namespace

void run_spec(std::string_view input) {
  const KernelSpec spec = parse_spec(std::string(input), "spec.toml");
  static_cast<void>(content_hash(spec));
  static_cast<void>(computation_hash(spec));
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  std::vector<std::pair<std::string, Value>> given;
  for (const ProblemField& field : spec.problem) {
    if (!field.fallback && field.type == FieldType::integer) {
      given.emplace_back(field.name, std::int64_t{1000});
    }
  }
  const Problem problem = Problem::make(spec, given);
  static_cast<void>(check_problem_fits({spec, problem, device}));
  check_outputs(spec, problem, device);
  for (const Variant& variant : spec.variants) {
    const Config config = Setting(spec, problem, device).default_config(variant);
    static_cast<void>(Setting(spec, problem, device).check(config));
    static_cast<void>(Setting(spec, problem, device).plan(config));
    static_cast<void>(Setting(spec, problem, device).parse(config.text()));
  }
}

std::vector<std::string> spec_seeds() {
  std::vector<std::string> seeds = files_of_tree("templates", "spec.toml");
  for (const char* folder : {"examples", "tests/cli/kernels", "tests/tuner/kernels"}) {
    for (std::string& text : files_of_tree(folder, "spec.toml")) seeds.push_back(std::move(text));
  }
  for (const char* part : {"[", "{a=", "a.", "(", "not "}) {
    seeds.push_back(nested("name = @", part));
    seeds.push_back(
        nested("name = 'deep'\nsummary = ''\n[problem.n]\ntype = 'int'\ndefault = \"@1\"", part));
  }
  for (std::string& text : corpus("spec")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
