// The report: one row for each pair of a tuned kernel and a peer, as a table or as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/peers/agreement.hpp"
#include "bench/peers/timing.hpp"

namespace kiln::peers {

struct Row {
  std::string problem;  ///< "reduce n=1048576 dtype=f32"
  std::string peer;     ///< "CUB DeviceReduce::Sum"
  std::string config;
  std::string grade;
  double kiln_us = 0;  ///< medians
  double peer_us = 0;
  double bytes = 0;  ///< that the problem must move
  double flops = 0;
  Agreement agreement;
  bool compared = false;             ///< the peer computes something that can be compared
  std::vector<double> kiln_samples;  ///< microseconds, in the order taken
  std::vector<double> peer_samples;
};

/// A problem without rows, with the reason.
struct Missing {
  std::string problem;
  std::string reason;
  bool failed = true;  ///< false: there is simply nothing to compare with
};

struct Report {
  std::string device;
  std::string driver;
  TimingOptions timing;
  std::vector<Row> rows;
  std::vector<Missing> missing;
};

/// One line a row; the speed-up says how many times as fast Kiln is.
[[nodiscard]] std::string table_text(const Report& report);
[[nodiscard]] std::string json_text(const Report& report);

}  // namespace kiln::peers
