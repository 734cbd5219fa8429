// Reads the sessions of a plan for `kiln sweep` and `kiln check`, and runs one. The whole plan is
// checked before the first session runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/search_options.hpp"
#include "cli/session_report.hpp"
#include "core/errors.hpp"
#include "core/problem.hpp"
#include "core/spec.hpp"
#include "db/store.hpp"
#include "spec/plan.hpp"
#include "templates/library.hpp"

namespace kiln::cli {

struct ReadySession {
  KernelSpec spec;
  Problem problem;
  SearchSettings settings;  ///< of the command line over those of the plan
};

/// Those of the plan file `plan`, in its order; with `kernels`, only the sessions of these. Kernels
/// that are paths are looked up beside the plan. Throws InputError with the place in the plan for a
/// kernel, problem or setting that does not exist.
[[nodiscard]] std::vector<ReadySession> ready_sessions(const std::filesystem::path& plan,
                                                       const std::vector<std::string>& kernels,
                                                       const KernelLibrary& library,
                                                       const SearchSettings& over);

[[nodiscard]] std::vector<const KernelSpec*> specs_of(const std::vector<ReadySession>& sessions);

/// Does an error that ended one session end the next one as well? Nothing could be stored, or the
/// device stays away.
[[nodiscard]] bool ends_all(const Error& error);

/// What a session that an error ended has stored; empty: nothing of it can be read.
[[nodiscard]] std::vector<TrialRecord> stored_trials(const Store& store, SessionId session);

/// Runs it on `device`, with a line of progress that begins with `title`. What ends this session
/// alone is put into `summary`; throws what ends_all().
void run_ready(const ReadySession& session, const std::string& title, const DeviceInfo& device,
               Store& store, const SearchOptions& options, SessionSummary& summary);

}  // namespace kiln::cli
