// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/described_space.hpp"
#include "core/interchange/kernel_launcher_wisdom.hpp"
#include "core/interchange/recorded_trials.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {

void run_interchange(std::string_view input) {
  const bool describes_spaces =
      input.find("\"ConfigurationSpace\"") != input.npos || input.find("\"spaces\"") != input.npos;
  if (describes_spaces) {
    static_cast<void>(read_described_spaces(input, "space.json"));
  } else if (is_kernel_launcher_wisdom(input)) {
    static_cast<void>(read_kernel_launcher_wisdom(input, "kernel.wisdom"));
  } else {
    static_cast<void>(read_recorded_trials(input, "cache.json"));
  }
}

std::vector<std::string> interchange_seeds() {
  std::vector<std::string> seeds = files_of_tree("tests/core", ".json");
  for (const char* part : {"[", "{\"a\":", "[{\"cache\":"}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("{\"cache\": @", part));
    seeds.push_back(nested("{\"spaces\": [{\"name\": \"a\", \"parameters\": {\"x\": @", part));
  }
  // Rows without an end, of which each could be looked for to the end of the file.
  seeds.push_back(nested("{\"tune_params_keys\": [], \"cache\": {@", "\"a\":{x\n"));
  seeds.push_back(nested("{\"results\": [@, \"configuration\"", "{\"a\":\n"));
  for (std::string& text : corpus("interchange")) {
    seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace kiln::fuzz
