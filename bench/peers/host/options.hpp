// The command line of kiln_vs_peers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/peers/host/timing_options.hpp"

namespace kiln::peers {

/// How a problem is tuned before it is compared.
struct TuneOptions {
  std::optional<double> seconds;       ///< of each session; empty: nothing is tuned
  bool only = false;                   ///< compare nothing afterwards
  std::string program;                 ///< `kiln`; empty: beside this program, else from $PATH
  std::vector<std::string> arguments;  ///< handed to `kiln tune` as they are
};

struct Options {
  std::vector<std::string> problems;
  std::vector<std::string> lists;
  std::string only;      ///< "1-6,9": which of the problems; empty: all
  std::string database;  ///< empty: where kiln looks
  std::string json;
  std::string json_lines;
  bool show = false;  ///< print the numbered problems and do nothing else
  std::vector<CacheMode> caches = {CacheMode::cold};
  TimingOptions timing;
  TuneOptions tune;
};

/// Reads the command line. Returns nothing when the program must end with `exit_code`: help was
/// asked for, or one message about what is wrong was printed.
[[nodiscard]] std::optional<Options> read_options(int argc, const char* const* argv,
                                                  int& exit_code);

}  // namespace kiln::peers
