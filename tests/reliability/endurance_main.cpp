// The tests' program is its own worker program: scripted for kScriptedBackend, unless a test on a
// GPU asks for the real one, and real for the others.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "mutant_subjects.hpp"
#include "scripted_worker.hpp"

int main(int argc, char** argv) {
  if (const auto worker = kiln::parse_worker_arguments(argc, argv)) {
    const bool scripted = worker->backend == kiln::kScriptedBackend &&
                          std::getenv(kiln::kRealWorkersVariable) == nullptr;
    return kiln::run_worker(*worker, scripted ? kiln::scripted_parts() : kiln::logged_real_parts());
  }
  try {
    (void)kiln::mutant_options();  // the lists of tests depend on it
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
