// SPDX-License-Identifier: Apache-2.0
#include "core/setting.hpp"
#include "core/source_text.hpp"
#include "spec/parse_spec.hpp"
#include "templates/renderer.hpp"
#include "templates/source_kernels.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/templates/small_kernel.hpp"

namespace kiln::fuzz {
namespace {

/// The small kernel with a plain source in place of its template.
KernelSpec spec_of(std::string_view input) {
  std::string text = test::kScaleSpec;
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("template = \"strided.inja\"", "source = \"scale.cu\"\ninclude = [\"include\"]");
  replace("\"scale_strided\"", "\"scale<{unroll}>\"");
  KernelSpec spec = parse_spec(text, "scale/spec.toml");
  spec.files["scale.cu"] = input;
  spec.files["twice.h"] = input;  // headers that include each other
  spec.files["include/twice.h"] = "#include <twice.h>\n#include \"../scale.cu\"\n";
  return spec;
}

}  // namespace

void run_source(std::string_view input) {
  for (const SourceKernel& kernel : read_source(input).kernels) {
    if (kernel.name.empty()) throw std::logic_error("a kernel without a name");
  }
  std::size_t end = 0;
  for (const Directive& directive : directives_of(input)) {
    if (directive.begin < end || directive.end < directive.begin || directive.end > input.size())
      throw std::logic_error("directives that overlap or lie outside the text");
    end = directive.end;
  }
  const KernelSpec spec = spec_of(input);
  static_cast<void>(lint(spec));
  const Problem problem = Problem::make(spec, {{"n", std::int64_t{1000}}});
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Config config = Setting(spec, problem, device).default_config();
  static_cast<void>(Renderer(spec).render({spec, problem, device}, config));
}

std::vector<std::string> source_seeds() {
  std::vector<std::string> seeds;
  for (const char* ending : {".cu", ".cuh", ".cl", ".c"}) {
    for (std::string& text : files_of_tree("examples/plain", ending)) {
      seeds.push_back(std::move(text));
    }
  }
  for (const char* part : {"(", "<", "[", "/*", "\\\n", "#define A ", "\"", "template <int A>",
                           "__global__ void scale(", "#include \"twice.h\"\n"}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("template <int A> __global__ void scale(int* x) { x[@0] = 1; }", part));
  }
  return seeds;
}

}  // namespace kiln::fuzz
