// SPDX-License-Identifier: Apache-2.0
#include "cli/planned.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/progress.hpp"
#include "cli/text_files.hpp"
#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "core/suggest.hpp"
#include "core/transient_error.hpp"
#include "tuner/session/attempt_witness.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

ReadySession ready_session(const PlannedSession& planned, const fs::path& plan,
                           const KernelLibrary& library, const SearchSettings& over) {
  const bool is_path =
      planned.kernel.find('/') != std::string::npos || planned.kernel.starts_with(".");
  const fs::path beside_plan = plan.parent_path() / planned.kernel;
  const auto at = [](const SourceLocation& where, const auto& work) {
    try {
      return work();
    } catch (const InputError& error) {
      throw InputError(where, error.what());
    }
  };
  KernelSpec spec = at(planned.kernel_where, [&] {
    return library.load(is_path ? beside_plan.string() : planned.kernel);
  });
  Problem problem = at(planned.where, [&] { return Problem::parse(spec, planned.problem); });
  SearchSettings settings = merge(over, planned.settings);
  check_names(settings, spec);
  return {std::move(spec), std::move(problem), std::move(settings)};
}

/// `kernels`: names of specs, or folders.
void keep_kernels(std::vector<ReadySession>& sessions, const fs::path& plan,
                  std::vector<std::string> kernels, const KernelLibrary& library) {
  if (kernels.empty()) return;
  for (std::string& name : kernels) {
    if (name.find('/') != std::string::npos || name.starts_with("."))
      name = library.load(name).name;
  }
  std::vector<std::string> there;
  for (const ReadySession& session : sessions) {
    const std::string& name = session.spec.name;
    if (std::find(there.begin(), there.end(), name) == there.end()) there.push_back(name);
  }
  for (const std::string& name : kernels) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    throw InputError(fmt::format("{}: the plan has no kernel '{}'{} (it has: {})", plan.string(),
                                 name, did_you_mean(name, there), comma_list(there)));
  }
  std::erase_if(sessions, [&](const ReadySession& session) {
    return std::find(kernels.begin(), kernels.end(), session.spec.name) == kernels.end();
  });
}

}  // namespace

std::vector<ReadySession> ready_sessions(const fs::path& plan,
                                         const std::vector<std::string>& kernels,
                                         const KernelLibrary& library, const SearchSettings& over) {
  const SweepPlan parsed = parse_plan(read_input(plan, kPlanFile), plan.string());
  std::vector<ReadySession> sessions;
  for (const PlannedSession& planned : parsed.sessions) {
    sessions.push_back(ready_session(planned, plan, library, over));
  }
  keep_kernels(sessions, plan, kernels, library);
  return sessions;
}

std::vector<const KernelSpec*> specs_of(const std::vector<ReadySession>& sessions) {
  std::vector<const KernelSpec*> specs;
  for (const ReadySession& session : sessions) specs.push_back(&session.spec);
  return specs;
}

bool ends_all(const Error& error) {
  return dynamic_cast<const DatabaseError*>(&error) != nullptr ||
         dynamic_cast<const TransientError*>(&error) != nullptr;
}

std::vector<TrialRecord> stored_trials(const Store& store, SessionId session) {
  if (session == 0) return {};
  try {
    return store.trials(session);
  } catch (const Error&) {
    return {};  // what ended the session is what its user is told
  }
}

void run_ready(const ReadySession& session, const std::string& title, const DeviceInfo& device,
               Store& store, const SearchOptions& options, SessionSummary& summary) {
  const TuneOptions tune_with = tune_options(options, session.settings);
  summary.variants = tune_with.variants;
  ProgressLine progress(fmt::format("{} {} {}", title, summary.kernel, summary.problem),
                        tune_with.budget,
                        options.quiet ? ProgressLine::Mode::quiet : ProgressLine::suited_mode());
  AttemptWitness witness(progress);
  try {
    summary.result =
        tune_patiently({session.spec, session.problem, device.backend, device.ordinal, tune_with},
                       store, witness, patience_of(options));
    summary.trials = store.trials(summary.result->id);
  } catch (const Error& error) {
    summary.error = error.what();
    summary.trials = stored_trials(store, witness.session);
    if (ends_all(error)) throw;
    progress.on_warning(summary.error);
  } catch (const std::exception& error) {
    summary.error = fmt::format("defect of Kiln: {}", error.what());
    summary.trials = stored_trials(store, witness.session);
    progress.on_warning(summary.error);
  }
}

}  // namespace kiln::cli
