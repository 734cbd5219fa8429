// SPDX-License-Identifier: Apache-2.0
#include "core/errors.hpp"
#include "interchange/described_space.hpp"
#include "interchange/foreign_groups.hpp"
#include "interchange/recorded_trials.hpp"
#include "templates/library.hpp"
#include "tests/db/scratch.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

/// What `kiln db import` does with a file of another tool.
void import_recorded(std::string_view input) {
  static const KernelSpec kSpec = KernelLibrary().load(KILN_SOURCE_DIR "/tests/cli/kernels/scale");
  static const DeviceInfo kDevice = [] {
    DeviceInfo device = test::some_device();
    device.name = "GeForce RTX 3080";  // as the examples have it
    return device;
  }();
  static_cast<void>(
      bests_of_files(kSpec, "n=4096", kDevice, {read_recorded_trials(input, "recorded.json")}));
}

}  // namespace

void run_interchange(std::string_view input) {
  const bool describes_spaces =
      input.find("\"ConfigurationSpace\"") != input.npos || input.find("\"spaces\"") != input.npos;
  if (describes_spaces) {
    static_cast<void>(read_described_spaces(input, "space.json"));
  } else {
    import_recorded(input);
  }
}

std::vector<std::string> interchange_seeds() {
  std::vector<std::string> seeds = files_of_tree("tests/interchange", ".json");
  for (const char* part : {"[", "{\"a\":", "[{\"cache\":"}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("{\"cache\": @", part));
    seeds.push_back(nested("{\"spaces\": [{\"name\": \"a\", \"parameters\": {\"x\": @", part));
  }
  // Rows without an end, of which each could be looked for to the end of the file.
  seeds.push_back(nested("{\"tune_params_keys\": [], \"cache\": {@", "\"a\":{x\n"));
  seeds.push_back(nested("{\"results\": [@, \"configuration\"", "{\"a\":\n"));
  seeds.push_back(nested("{\"Results\": [@, \"ComputationResults\"", "{\"Configuration\":\n"));
  for (std::string& text : corpus("interchange")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
