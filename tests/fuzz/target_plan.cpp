// SPDX-License-Identifier: Apache-2.0
#include "spec/plan.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {

void run_plan(std::string_view input) {
  static_cast<void>(parse_plan(std::string(input), "plan.toml"));
}

std::vector<std::string> plan_seeds() {
  std::vector<std::string> seeds = files_of_tree("examples", ".plan.toml");
  for (const char* part : {"[", "{a=", "a."}) seeds.push_back(nested("name = @", part));
  for (std::string& text : corpus("plan")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
