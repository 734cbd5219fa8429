// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "core/errors.hpp"
#include "lookup/call_records.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {

void run_calls(std::string_view input) {
  try {
    for (const CallRecord& record : read_calls(input, "calls.jsonl").records) {
      if (record.calls() < 0) throw std::logic_error("a count of calls below 0");
    }
  } catch (const Error& error) {
    throw std::logic_error(std::string("a line of calls was thrown: ") + error.what());
  }
}

std::vector<std::string> calls_seeds() {
  std::vector<std::string> seeds = {
      R"({"kernel":"reduce","problem":"n=1000","device":"cuda/nvidia/GPU/sm_90a","grade":"exact",)"
      R"("config":"ticket:block_size=256","selections":1,"launches":9223372036854775807,)"
      R"("recorded_at":"2026-01-05T10:00:00Z"})"};
  seeds.push_back(seeds.front() + "\n" + seeds.front() + "\n");
  for (const char* part : {"[", "{\"a\":"}) seeds.push_back(nested("@", part));
  for (std::string& text : corpus("calls")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
