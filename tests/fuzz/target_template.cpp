// SPDX-License-Identifier: Apache-2.0
#include "templates/renderer.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::fuzz {

void run_template(std::string_view input) {
  static const KernelSpec kSpec = parse_spec(test::kScaleSpec, "scale/spec.toml");
  KernelSpec spec = kSpec;
  for (const Variant& variant : spec.variants) {
    spec.files[variant.template_file] = input;
  }
  static_cast<void>(lint(spec));
  const Renderer renderer(spec);
  const Problem problem = Problem::make(spec, {{"n", std::int64_t{1000}}});
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  for (const Variant& variant : spec.variants) {
    const Config config = default_config(variant, spec, problem, device);
    static_cast<void>(renderer.render(config, problem, device));
  }
}

std::vector<std::string> template_seeds() {
  std::vector<std::string> seeds = files_of_tree("templates", ".inja");
  for (const char* part :
       {"{{ (", "{% if 1 %}", "(", "not ", "-", "[", "{% for a in range(9) %}", "max("}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("{{ @1 }}", part));
  }
  for (std::string& text : corpus("template")) {
    seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace kiln::fuzz
