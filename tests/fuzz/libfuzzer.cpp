// One target as libFuzzer calls it. fuzz_NAME -seed_inputs=... as libFuzzer documents; the seeds of
// the tree are written by `fuzz_seeds NAME --write FOLDER`.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "core/errors.hpp"
#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kiln::fuzz::Target& target = *kiln::fuzz::find_target(KILN_FUZZ_TARGET);
  try {
    target.run({reinterpret_cast<const char*>(data), size});
  } catch (const kiln::Error&) {
    // An answer.
  }
  return 0;
}
