// The summary of finished sessions: one row each, the same for `tune` and `sweep`, as text,
// Markdown or JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "core/setting.hpp"
#include "tuner/device/ceilings.hpp"
#include "tuner/session/session.hpp"

namespace kiln::cli {

/// A session that ended, or the reason why it could not run.
struct SessionSummary {
  std::string kernel;
  std::string problem;            ///< short text
  double read_share = 0;          ///< share of the problem's bytes that are read, for the ceiling
  DType arithmetic = DType::f32;  ///< type of the arithmetic, for the ceiling
  std::optional<SessionResult> result;
  std::string error;                     ///< why there is no result
  std::vector<std::string> not_tried{};  ///< by any check, a phrase each
  std::string doubt{};  ///< a kernel that is proved only against itself: a sentence; else empty
  std::vector<TrialRecord> trials{};    ///< of the session, for the remarks; empty: there are none
  std::vector<std::string> variants{};  ///< that alone were asked for (--variant); empty: all
};

/// Is the trial of a variant that was asked for? The default config of another one is measured
/// beside them.
[[nodiscard]] bool is_asked_for(const SessionSummary& session, const TrialRecord& trial);

/// Has the session a best, and did a config of a variant that was asked for run?
[[nodiscard]] bool found_best(const SessionSummary& session);

[[nodiscard]] SessionSummary summarise(const Setting& setting);

/// A budget that was too short, and the first reason of the failures of each variant: a line each.
[[nodiscard]] std::vector<std::string> trouble_lines(const SessionSummary& session);

/// What a table has no room for, a line each: the objective's value where it is not time,
/// trouble_lines(), noise, a clock that was held back, drift. `unit`: of the objective.
[[nodiscard]] std::vector<std::string> remarks(const SessionSummary& session,
                                               const std::string& unit);

/// Returns a line for each kernel of these sessions whose only reference is one of its variants.
[[nodiscard]] std::vector<std::string> doubts(const std::vector<SessionSummary>& sessions);

enum class ReportFormat { text, markdown, json };

/// The whole report, ended with a newline. With ceilings it has the share reached. As text it is a
/// table with each config on a line of its own; a block of lines a session where the screen is too
/// narrow for the table.
[[nodiscard]] std::string report(const std::vector<SessionSummary>& sessions,
                                 const std::optional<Ceilings>& ceilings, ReportFormat format,
                                 const Screen& screen = {});

}  // namespace kiln::cli
