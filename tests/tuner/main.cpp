// The tests' program is its own worker program, as `kiln` is.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tuner/device/worker.hpp"

int main(int argc, char** argv) {
  if (const auto worker = kiln::parse_worker_arguments(argc, argv))
    return kiln::run_worker(*worker);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
