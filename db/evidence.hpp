// Evidence: the facts that support a session's best. It holds the finals with their samples, the
// configs that came close, the origins of the first configs, and the time use.
//
// BestRecord stores it as JSON text, which imported rows may have from strangers. It is put
// together as a value, written once, and read by read_evidence(). Lookups read many rows and need
// no samples: they have close_configs() (db/close_configs.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/time_use.hpp"

namespace kiln {

/// A config of the finals with its time in each round.
struct Finalist {
  std::string config;
  std::int64_t sequence = 0;        ///< of its trial; 0: not known
  std::vector<double> ns;           ///< per round
  std::optional<double> median_ns;  ///< nullopt: the finals were for another objective than time
  std::optional<double> value;      ///< of another objective: the median
  std::vector<double> values;       ///< the same per round
};

/// A config and its time as a multiple of the best of its problem (at least 1).
struct CloseConfig {
  std::string config;
  double slowdown = 1;
  /// Reported by the compiler; below 0 if the row does not say.
  std::int64_t registers = -1;     ///< per thread
  std::int64_t shared_bytes = -1;  ///< per block, static
};

struct Evidence {
  std::string objective;  ///< empty: time
  /// Renderer::source_hash() of the best's config when it was measured; empty: not known.
  std::string source;
  std::vector<Finalist> finalists;
  /// What the verdict went by; nullopt: no finals.
  struct Rule {
    double practical_tie = 0;
    double confidence = 0;
  };
  std::optional<Rule> rule;
  std::optional<std::vector<CloseConfig>> close;  ///< close to the fastest, in order of time
  std::optional<std::vector<CloseConfig>> first;  ///< the other first trials, in order of time
  /// Configs of the warm start that reached the finals, with their origins; nullopt: there was
  /// none.
  struct Origin {
    std::string config;
    std::string from;
  };
  std::optional<std::vector<Origin>> warm_start;
  /// The session whose trials were taken over, and how many.
  struct Earlier {
    std::int64_t session = 0;
    std::int64_t trials = 0;
  };
  std::optional<Earlier> earlier;
  std::optional<TimeUse> time_use;
  /// The best in turn with a vendor library's own call for the problem (kiln tune --against).
  struct Rival {
    std::string library;           ///< "cublas 13.1.0"
    std::vector<double> ns;        ///< the library's, per round, in the session's cache mode
    std::vector<double> best_ns;   ///< the best's, in the same rounds
    std::vector<double> other_ns;  ///< the library's, in the other cache mode
    std::vector<double> other_best_ns;
    /// The norm of a result's error over the norm of the result, beside the reference.
    double error = 0;
    double best_error = 0;
    std::string verdict;  ///< as name_of(RivalVerdict) has it
  };
  std::optional<Rival> rival;          ///< nullopt: not asked for, or the library did not run
  std::vector<std::string> not_tried;  ///< what no check tried, a phrase each
};

/// How the best stands beside a vendor library's own call.
enum class RivalVerdict {
  faster,      ///< in both cache modes, beyond noise, with an error no larger
  tie,         ///< neither is clearly faster
  slower,      ///< clearly slower in one cache mode at least
  less_exact,  ///< its error is larger
  wrong,       ///< the library's result is not what the reference says
};
/// "faster", "tie", "slower", "less_exact", "wrong".
[[nodiscard]] std::string_view name_of(RivalVerdict verdict);

/// JSON with sorted keys; absent parts are left out.
[[nodiscard]] std::string to_text(const Evidence& evidence);

/// Reads what the text holds; parts and entries that cannot be read are left out. Reads at most
/// `kMaxListed` entries of a list (db/close_configs.hpp).
[[nodiscard]] Evidence read_evidence(const std::string& text);

}  // namespace kiln
