// The tests' program is its own worker program: scripted for kScriptedBackend, real for the others.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "scripted_worker.hpp"

int main(int argc, char** argv) {
  if (const auto worker = kiln::parse_worker_arguments(argc, argv)) {
    const bool scripted = worker->backend == kiln::kScriptedBackend;
    return kiln::run_worker(*worker, scripted ? kiln::scripted_parts() : kiln::real_parts());
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
