// The first line of the input says what the rest is: problem, config, expression or formula.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/config.hpp"
#include "core/expression.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

void run_problem(const KernelSpec& spec, const DeviceInfo& device, std::string_view text) {
  const Problem problem = Problem::parse(spec, text);
  // The canonical text is a problem text and means the same.
  if (Problem::parse(spec, problem.text()) != problem) {
    throw std::logic_error("the text of a problem is another problem: " + problem.text());
  }
  for (const Variant& variant : spec.variants) {
    static_cast<void>(Setting(spec, problem, device)
                          .plan(Setting(spec, problem, device).default_config(variant)));
  }
}

void run_config(const KernelSpec& spec, const DeviceInfo& device, std::string_view text) {
  const Problem problem = Problem::parse(spec, "rows=512");
  const Config config = Setting(spec, problem, device).parse(text);
  if (Setting(spec, problem, device).parse(config.text()) != config) {
    throw std::logic_error("the text of a config is another config: " + config.text());
  }
  static_cast<void>(Setting(spec, problem, device).check(config));
}

void run_expression(const KernelSpec& spec, const DeviceInfo& device, std::string_view text) {
  const Expression expression = Expression::parse(text);
  const std::vector<const Value*> nothing_known(expression.names().size(), nullptr);
  static_cast<void>(expression.evaluate(nothing_known));
  const Scope scope = Setting(spec, Problem::parse(spec, "rows=512"), device).scope();
  static_cast<void>(expression.evaluate(scope));
}

void run_formula(std::string_view text) {
  const std::array<std::string, 2> variables = {"x", "y"};
  static_cast<void>(Expression::parse_formula(text, variables).to_c("float"));
}

}  // namespace

void run_text(std::string_view input) {
  static const KernelSpec kSpec = parse_spec(test::kTransposeSpec, "spec.toml");
  static const DeviceInfo kDevice = device_for_architecture("cuda", "sm_90a");
  const std::size_t end = input.find('\n');
  const std::string_view kind = input.substr(0, end);
  const std::string_view text = end == std::string_view::npos ? "" : input.substr(end + 1);
  if (kind == "problem") {
    run_problem(kSpec, kDevice, text);
  } else if (kind == "config") {
    run_config(kSpec, kDevice, text);
  } else if (kind == "formula") {
    run_formula(text);
  } else {
    run_expression(kSpec, kDevice, text);
  }
}

std::vector<std::string> text_seeds() {
  std::vector<std::string> seeds = {
      "problem\nrows=512,cols=2^10,dtype=f16,map='sin(x) + 1'",
      "problem\nrows=64Ki cols=1e6 order=column scale=0.25 in_place=false",
      "config\ntile:tile_rows=32,tile_cols=16",
      "config\nnaive",
      "expression\nceil_div(rows, 3) * 2 ** 4 if rows % 7 in (1, 2) else min(rows, cols) // 2",
      "expression\nnot in_place and 1 < rows <= 4096 or sizeof(dtype) == 4",
      "expression\nround_up(pow2(rows), device.warp_size) + log2(cols) - max(1, 2.5e3)",
      "formula\nsin(x) * exp(-y / 2) + (x if x > 0 else abs(y)) ** 0.5",
  };
  for (const char* part : {"(", "-", "not ", "1 if 1 else ", "2 ** ", "min(", "1 < ", "rows + "}) {
    seeds.push_back(nested("expression\n@1", part));
    seeds.push_back(nested("formula\n@x", part));
  }
  for (std::string& text : corpus("text")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
