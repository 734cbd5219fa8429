// What libkiln_blas.so recorded of a program: its products, how often they were asked for, and what
// they took.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/json_output.hpp"
#include "core/json.hpp"

namespace kiln::cli {

struct RecordedCall {
  std::string function;  ///< "cublasSgemm_v2"
  std::string library;   ///< "cublas 13.1.0"
  std::string problem;   ///< of `matmul`, with every field that the call sets
  std::int64_t calls = 0;
  std::int64_t taken_over = 0;
  double gpu_ns = 0;  ///< mean of the sampled calls; 0: none was sampled
  [[nodiscard]] double total_ns() const { return gpu_ns * static_cast<double>(calls); }
};

struct RecordedProgram {
  std::string library_path;         ///< of cuBLAS; empty: no call was seen
  std::string device;               ///< "cuda:0"
  std::vector<RecordedCall> calls;  ///< the most expensive first
  std::int64_t not_understood = 0;  ///< calls that Kiln has no words for
};

/// Reads FILE.PID of every process that wrote one, and adds them up. Throws InputError for a file
/// that is no record.
[[nodiscard]] RecordedProgram read_records(const std::filesystem::path& file);

/// Reads one file that `kiln run --record` wrote.
[[nodiscard]] RecordedProgram read_record(const std::filesystem::path& file);

[[nodiscard]] Json to_json(const RecordedProgram& program);

}  // namespace kiln::cli
