// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"
#include "core/launch_plan.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {

void run_spec(std::string_view input) {
  const KernelSpec spec = parse_spec(std::string(input), "spec.toml");
  static_cast<void>(content_hash(spec));
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  std::vector<std::pair<std::string, Value>> given;
  for (const ProblemField& field : spec.problem) {
    if (!field.fallback && field.type == FieldType::integer) {
      given.emplace_back(field.name, std::int64_t{1000});
    }
  }
  const Problem problem = Problem::make(spec, given);
  for (const Variant& variant : spec.variants) {
    const Config config = default_config(variant, spec, problem, device);
    static_cast<void>(check_config(spec, config, problem, device));
    static_cast<void>(make_launch_plan(spec, config, problem, device));
    static_cast<void>(parse_config(spec, config.text(), problem, device));
  }
}

std::vector<std::string> spec_seeds() {
  std::vector<std::string> seeds = files_of_tree("templates", "spec.toml");
  for (const char* part : {"[", "{a=", "a.", "(", "not "}) {
    seeds.push_back(nested("name = @", part));
    seeds.push_back(
        nested("name = 'deep'\nsummary = ''\n[problem.n]\ntype = 'int'\ndefault = \"@1\"", part));
  }
  for (std::string& text : corpus("spec")) {
    seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace kiln::fuzz
