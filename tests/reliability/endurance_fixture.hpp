// What the tests of long and hostile sessions share: the scripted kernel, a scratch folder, sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "core/scratch_folder.hpp"
#include "scripted_worker.hpp"
#include "templates/library.hpp"
#include "tuner/session/session.hpp"

namespace kiln {

class EnduranceTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path database() const { return folder_ / "kiln.db"; }

  /// A session over the whole scripted space, in the order of `seed`, with deadlines that are
  /// short, but not for a loaded machine.
  [[nodiscard]] TuneRequest scripted_request(std::uint64_t seed) const {
    TuneRequest made{spec_, Problem::parse(spec_, "n=1000"), kScriptedBackend, 0, {}};
    made.options.strategy = "random";
    made.options.seed = seed;
    made.options.variants = {"script"};
    made.options.compile_workers = 4;
    made.options.compile_deadline = std::chrono::milliseconds(2500);
    made.options.deadlines.run_floor = std::chrono::milliseconds(1000);
    made.options.deadlines.run_cap = std::chrono::milliseconds(5000);
    made.options.measure.stop.max_ns = 20e6;
    return made;
  }

  /// KILN_SOURCE_DIR in the environment: where the sources are now, for a program that was carried
  /// to another machine.
  static std::string source_folder() {
    const char* moved = std::getenv("KILN_SOURCE_DIR");
    return moved != nullptr ? moved : KILN_SOURCE_DIR;
  }

  KernelSpec spec_ = KernelLibrary().load(source_folder() + "/tests/reliability/kernels/scripted");
  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

}  // namespace kiln
