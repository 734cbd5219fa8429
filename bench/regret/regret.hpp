// Regret of a lookup: the config that it gives for a problem that was never tuned, beside the best
// of a fresh session, in turn on one device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "lookup/lookup.hpp"
#include "templates/library.hpp"
#include "tuner/device/trial_engine.hpp"

namespace kiln::regret {

/// One problem.
struct Regret {
  std::string kernel;
  std::string problem;
  std::string error;  ///< not empty: it could not be compared, and why
  Grade grade = Grade::fallback;
  std::string looked_up;
  std::string fresh;
  double looked_up_ns = 0;  ///< medians of samples taken in turn; 0 where the configs are the same
  double fresh_ns = 0;
  double share = 0;  ///< looked_up_ns / fresh_ns - 1; 0 where the configs are the same
};

class Comparison {
 public:
  /// May `tuned` hold sessions of the problem itself?
  enum class Own { refused, taken };

  /// `tuned` answers the lookups; `fresh` holds a session of each problem. Throws DeviceError.
  Comparison(const std::string& backend, int ordinal, std::vector<BestRecord> tuned,
             std::vector<BestRecord> fresh, Own own);

  /// Rows that were tuned on another device: how many of which.
  [[nodiscard]] std::vector<std::string> warnings() const;

  /// Throws InputError for a kernel or a problem that is none.
  [[nodiscard]] Regret compare(const std::string& kernel, const std::string& problem);

 private:
  struct Entry {
    KernelSpec spec;
    Problem problem;
    Config looked_up;
    Config fresh;
  };
  /// Fills times and share in.
  void measure(const Entry& entry, Regret& regret);
  [[nodiscard]] Result<Binary> compile(const Entry& entry, const Config& config) const;

  KernelLibrary library_;
  std::vector<BestRecord> tuned_;
  std::vector<BestRecord> fresh_;
  Own own_;
  std::unique_ptr<TrialEngine> engine_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Compiler> compiler_;
};

}  // namespace kiln::regret
