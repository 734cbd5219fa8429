// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/recorded_trials.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {

void run_interchange(std::string_view input) {
  static_cast<void>(read_recorded_trials(input, "cache.json"));
}

std::vector<std::string> interchange_seeds() {
  std::vector<std::string> seeds = files_of_tree("tests/core", ".json");
  for (const char* part : {"[", "{\"a\":", "[{\"cache\":"}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("{\"cache\": @", part));
  }
  for (std::string& text : corpus("interchange")) {
    seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace kiln::fuzz
