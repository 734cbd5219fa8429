// Lookup: finds the config to run for a problem, with the grade of the match and the reason in
// words.
//
// Pure: works on rows already read. Missing data never throws. The config is always legal for this
// problem on this device; if no config is legal, the result says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/setting.hpp"
#include "db/records.hpp"

namespace kiln {

/// Recognises the bests of a kernel. Another kernel of the same name may compute something else. If
/// a session did not record what it computes, its name decides. For shipped rows it is known.
class KernelIdentity {
 public:
  /// `spec` must outlive it.
  explicit KernelIdentity(const KernelSpec& spec);
  [[nodiscard]] bool has(const BestRecord& best) const;

 private:
  const KernelSpec& spec_;
  std::string computation_;
};

/// The most runners-up that a match lists.
inline constexpr std::size_t kMaxRunnersUp = 7;

enum class Grade { exact, near_size, same_arch, same_vendor, fallback };
/// All grades, the best first.
inline constexpr std::array kGrades = {Grade::exact, Grade::near_size, Grade::same_arch,
                                       Grade::same_vendor, Grade::fallback};
/// "exact", "near_size", "same_arch", "same_vendor", "default".
[[nodiscard]] std::string_view name_of(Grade grade);
[[nodiscard]] std::optional<Grade> parse_grade(std::string_view name);

/// A difference between a device as a best was measured on it and as it is now.
struct DeviceChange {
  std::string text;      ///< "driver 3.0 is now 3.1"
  double doublings = 0;  ///< a row ranks as if its problem were this much further away
};

/// What has changed on the best's device, which is `device` now: its driver, its compiler. An empty
/// compiler is not known.
[[nodiscard]] std::vector<DeviceChange> changes_since(const BestRecord& best,
                                                      const DeviceInfo& device);

/// The end of a reason if the answering row was not measured by the `wanted` timing.
[[nodiscard]] std::string other_timing_text(Timing wanted);

struct Match {
  Config config;
  Grade grade = Grade::fallback;
  double distance = 0;        ///< log2 units between the problems; 0 for exact and default
  std::string reason;         ///< one sentence
  bool stale = false;         ///< tuned under another driver, compiler or source
  bool other_timing = false;  ///< measured by another timing than the one that was requested
  bool raced = false;         ///< was the fastest of several on an application's own launches
  /// For a problem that nobody tuned: further configs that may be as good, the most expected of
  /// first. Not checked for being legal.
  std::vector<std::string> runners_up;
  std::optional<BestRecord> best;  ///< the row that answered; none for default
  /// The steps of the lookup, one sentence each (kiln best --explain).
  std::vector<std::string> steps;
};

/// Tries the exact row, then the nearest row, then the default (docs/lookup.md). `bests` may hold
/// rows of any kernel and device, in any order: only their content decides. Rows of other devices
/// and stale rows count as further away. If two rows match equally well, the better grade wins,
/// then the lower layer (user before shipped), then the newer row. Only the source of the row that
/// is about to answer is checked (source_check.hpp). A config that is illegal for the setting is
/// skipped, and the reason says so. A Failure means that not even the default is legal here.
/// `timing`: how the caller launches. A row of the other timing answers only where its problem and
/// device have no row of this one, and the reason says so.
[[nodiscard]] Result<Match> lookup(const Setting& setting, std::span<const BestRecord> bests,
                                   Timing timing = Timing::eager);

}  // namespace kiln
