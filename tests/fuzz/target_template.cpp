// SPDX-License-Identifier: Apache-2.0
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "templates/renderer.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::fuzz {

namespace {
constexpr int kTwins = 30;
}

void run_template(std::string_view input) {
  static const KernelSpec kSpec = parse_spec(test::kScaleSpec, "scale/spec.toml");
  KernelSpec spec = kSpec;
  for (const Variant& variant : spec.variants) spec.files[variant.template_file] = input;
  // Each includes the next one, or the input, twice: what is said in it is said very often.
  for (int i = 0; i < kTwins; ++i) {
    const std::string next = "{% include \"twin" + std::to_string(i + 1) + ".inja\" %}\n";
    spec.files["twin" + std::to_string(i) + ".inja"] = next + next;
  }
  spec.files["twin" + std::to_string(kTwins) + ".inja"] = "{% set t = t + t %}{{ t }}\n";
  static_cast<void>(lint(spec));
  const Renderer renderer(spec);
  const Problem problem = Problem::make(spec, {{"n", std::int64_t{1000}}});
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  for (const Variant& variant : spec.variants) {
    const Config config = Setting(spec, problem, device).default_config(variant);
    static_cast<void>(renderer.render({spec, problem, device}, config));
  }
}

std::vector<std::string> template_seeds() {
  std::vector<std::string> seeds = files_of_tree("templates", ".inja");
  for (const char* part :
       {"{{ (", "{% if 1 %}", "(", "not ", "-", "[", "{% for a in range(9) %}", "max("}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("{{ @1 }}", part));
  }
  std::string doubled = "{% set t = \"text\" %}\n";
  for (int i = 0; i < 30; ++i) doubled += "{% set t = t + t %}{# twice #} // more\n";
  seeds.push_back(doubled + "{{ t }}\n");
  for (const char* first : {"twin0.inja", "twin14.inja", "twin25.inja"}) {
    seeds.push_back("{% set t = \"a\" %}{% include \"" + std::string(first) + "\" %}\n");
  }
  seeds.push_back("{% for a in range(60000) %}{% set b = range(60000) %}\n{% endfor %}\n");
  for (std::string& text : corpus("template")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
