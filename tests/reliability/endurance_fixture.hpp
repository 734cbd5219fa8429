// What the tests of long and hostile sessions share: the scripted kernel, a scratch folder, sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "scripted_worker.hpp"
#include "templates/library.hpp"
#include "tuner/session/session.hpp"

namespace kiln {

/// `full` with KILN_SOAK=1 in the environment, else `usual`.
[[nodiscard]] inline int soak_size(int usual, int full) {
  const char* soak = std::getenv("KILN_SOAK");
  return soak != nullptr && std::string(soak) == "1" ? full : usual;
}

class EnduranceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder =
        (std::filesystem::temp_directory_path() / "kiln-endurance-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

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
  std::filesystem::path folder_;
};

}  // namespace kiln
