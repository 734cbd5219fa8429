// Runs the `kiln` program as a user does: words in; exit code, stdout and stderr out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "core/scratch_folder.hpp"

namespace kiln::cli {

using testing::HasSubstr;
using testing::StartsWith;

/// Words of a command line: "show latest" are two. Within braces each is one, whatever it holds.
struct Words : std::vector<std::string> {
  using vector::vector;
  Words(const char* line) : Words(std::string(line)) {}  // NOLINT: implicit, reads better
  Words(const std::string& line);                        // NOLINT
};
[[nodiscard]] Words operator+(Words words, const Words& more);

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Output {
  int exit_code = -1;  ///< -1: ended by a signal
  std::string out;
  std::string err;
};

/// A started program; it is killed when the object goes before it ended.
class RunningKiln {
 public:
  /// Runs in `folder`, which is also its home; the user's own database is out of reach.
  RunningKiln(const std::filesystem::path& folder, const Words& words,
              const Environment& environment = {});
  ~RunningKiln();
  RunningKiln(const RunningKiln&) = delete;
  RunningKiln& operator=(const RunningKiln&) = delete;

  void signal(int number) const;
  /// 0: it has ended.
  [[nodiscard]] pid_t process() const { return process_; }
  [[nodiscard]] bool has_ended();
  /// What stderr holds so far.
  [[nodiscard]] std::string error_text() const;
  /// Waits for its end.
  [[nodiscard]] Output output();

 private:
  void collect(int status);

  std::filesystem::path streams_;  ///< its stdout and stderr: this path with .out and .err
  pid_t process_ = 0;              ///< 0: ended
  Output output_;
};

/// Tests of the program share an empty folder each.
class ProgramTest : public testing::Test {
 protected:
  [[nodiscard]] Output kiln(const Words& words, const Environment& environment = {}) const;
  /// Runs and expects success and JSON, alone on stdout.
  [[nodiscard]] Json kiln_json(const Words& words) const;
  /// Writes a file in the folder, and its folders.
  void write(const std::filesystem::path& name, const std::string& text) const;
  /// Writes a gzip file in the folder.
  void write_gzip(const std::string& name, const std::string& text) const;
  /// Copies a kernel's folder ("examples/polynomial") under the name `copy`.
  void copy_kernel(const std::string& kernel, const std::string& copy) const;
  /// Replaces the only occurrence of `from` in a file of the folder.
  void edit(const std::filesystem::path& name, const std::string& from,
            const std::string& to) const;

  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

/// The same, where there is an OpenCL device to tune on.
class TuningTest : public ProgramTest {
 protected:
  void SetUp() override;
  /// `kiln tune` of tests/cli/kernels/scale for n=100 on the first OpenCL device.
  [[nodiscard]] static Words tune_scale(const Words& more);
};

[[nodiscard]] std::string read_text(const std::filesystem::path& path);

}  // namespace kiln::cli
