// SPDX-License-Identifier: Apache-2.0
#include "core/errors.hpp"
#include "templates/library.hpp"
#include "tests/db/scratch.hpp"
#include "tests/fuzz/targets.hpp"
#include "wisdom/wisdom.hpp"
#include "wisdom/wisdom_check.hpp"

namespace kiln::fuzz {

void run_wisdom(std::string_view input) {
  static const KernelSpec kSpec = KernelLibrary().load("reduce");
  WisdomText text;
  try {
    text = read_wisdom(input, "wisdom.jsonl");
  } catch (const Error& error) {
    throw std::logic_error(std::string("a line of wisdom was thrown: ") + error.what());
  }
  for (WisdomEntry& entry : text.entries) {
    try {
      check_wisdom(kSpec, entry.best);
      static_cast<void>(imported_session(kSpec, entry.best));
    } catch (const InputError&) {
      // Does not fit the spec: the next line may.
    }
  }
}

std::vector<std::string> wisdom_seeds() {
  std::vector<std::string> seeds = files_of_tree("data", ".jsonl");
  BestRecord best = test::some_best();
  best.key = test::some_session().key;
  best.key.kernel = "reduce";
  best.device_info = test::some_device();
  best.problem_json = R"({"n":1000,"dtype":"f32"})";
  best.published_at = "2026-01-05T10:00:00Z";
  seeds.push_back(write_wisdom(std::span(&best, 1)));
  best.key.timing = Timing::graph;
  seeds.push_back(write_wisdom(std::span(&best, 1)));
  for (const char* part : {"[", "{\"a\":", "[{\"cache\":"}) {
    seeds.push_back(nested("@", part));
    seeds.push_back(nested("{\"kiln_wisdom\": @", part));
  }
  for (std::string& text : corpus("wisdom")) seeds.push_back(std::move(text));
  return seeds;
}

}  // namespace kiln::fuzz
