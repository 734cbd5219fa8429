// kiln.h over the C++ classes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>

#include <kiln/kiln.h>
#include <kiln/launcher.hpp>

struct kiln_launcher {
  kiln::Launcher launcher;
};
struct kiln_kernel {
  kiln::Launcher::Kernel kernel;
};

namespace {

using kiln::Launcher;
using kiln::LaunchError;
using kiln::LaunchErrorCode;

// A fixed place: keeping the text of an error must not fail for want of memory.
thread_local std::array<char, 8192> last_error{};

kiln_status fail(LaunchErrorCode code, const char* text) {
  std::strncpy(last_error.data(), text, last_error.size() - 1);
  return static_cast<kiln_status>(code);
}

kiln_status fail(const LaunchError& error) { return fail(error.code, error.message.c_str()); }

kiln_status bad_option(const char* text) { return fail(LaunchErrorCode::bad_option, text); }

template <typename Work>
kiln_status guarded_call(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::exception& error) {
    return fail(LaunchErrorCode::internal, error.what());
  } catch (...) {
    return fail(LaunchErrorCode::internal, "unknown error");
  }
}

std::string text_or(const char* text, const char* instead) {
  return text == nullptr ? instead : text;
}

template <std::size_t Size>
void copy_cut(char (&to)[Size], const std::string& from) {
  const std::size_t length = std::min(from.size(), Size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

// The sizes that kiln_options had: an application keeps the one that it was built with.
constexpr std::array<std::size_t, 5> kOptionSizes = {
    offsetof(kiln_options, lock), offsetof(kiln_options, no_shipped),
    offsetof(kiln_options, statistics), offsetof(kiln_options, untuned), sizeof(kiln_options)};

/// The options that the application knows of; the others as in KILN_OPTIONS_INIT.
kiln_options known_options(const kiln_options& given) {
  kiln_options options = KILN_OPTIONS_INIT;
  std::memcpy(&options, &given, given.size);
  return options;
}

void set_tuning(const kiln_options& given, Launcher::Options& options) {
  options.tune_on_miss = static_cast<Launcher::TuneOnMiss>(given.tune_on_miss);
  if (given.tune_seconds > 0) options.tune_seconds = given.tune_seconds;
  if (given.tune_budget_seconds > 0) options.tune_budget_seconds = given.tune_budget_seconds;
  options.tuner = text_or(given.tuner, "");
}

Launcher::Options to_options(const kiln_options& given) {
  Launcher::Options options;
  options.backend = text_or(given.backend, "auto");
  options.ordinal = given.ordinal;
  if (given.use_native != 0) {
    options.native = Launcher::Native{given.context, given.device, given.queue};
  }
  if (given.database != nullptr) {
    options.databases.emplace_back(given.database);
  }
  options.use_shipped = given.no_shipped == 0;
  if (given.kernel_path != nullptr) {
    options.kernel_paths.emplace_back(given.kernel_path);
  }
  options.cache_folder = text_or(given.cache_folder, "");
  options.lock = text_or(given.lock, "");
  if (given.caller_workspace != 0) {
    options.workspace = Launcher::Workspace::caller;
  }
  options.timing = static_cast<Launcher::Timing>(given.timing);
  options.untuned = static_cast<Launcher::Untuned>(given.untuned);
  options.statistics = text_or(given.statistics, "");
  set_tuning(given, options);
  return options;
}

kiln::LaunchArgument to_argument(const kiln_argument& given) {
  kiln::LaunchArgument argument;
  argument.name = given.name == nullptr ? "" : given.name;
  argument.kind = static_cast<kiln::LaunchArgument::Kind>(given.kind);  // the same numbers
  argument.memory = given.memory;
  argument.bytes = given.bytes;
  argument.offset = given.offset;
  argument.dtype = given.dtype == nullptr ? "" : given.dtype;
  argument.integer = given.integer;
  argument.floating = given.floating;
  return argument;
}

bool has_known_kind(const kiln_argument& given) {
  return given.kind >= KILN_MEMORY && given.kind <= KILN_UNSIGNED;
}

LaunchError unknown_kind(const kiln_argument& given) {
  return {LaunchErrorCode::bad_argument, "kiln_launch: argument '" + text_or(given.name, "") +
                                             "' is of kind " + std::to_string(given.kind) +
                                             ", expected KILN_MEMORY, KILN_INTEGER, "
                                             "KILN_FLOATING or KILN_UNSIGNED"};
}

}  // namespace

extern "C" {

int kiln_abi_version(void) { return KILN_ABI_VERSION; }

const char* kiln_last_error(void) { return last_error.data(); }

kiln_status kiln_open(const kiln_options* options, kiln_launcher** launcher) {
  if (options == nullptr || launcher == nullptr) {
    return bad_option("kiln_open: options and launcher may not be NULL");
  }
  if (std::ranges::find(kOptionSizes, options->size) == kOptionSizes.end()) {
    return bad_option("kiln_open: options.size is not sizeof(kiln_options); use KILN_OPTIONS_INIT");
  }
  const kiln_options known = known_options(*options);
  if (known.tune_on_miss < KILN_TUNE_NEVER || known.tune_on_miss > KILN_TUNE_FIRST_USE) {
    return bad_option("kiln_open: options.tune_on_miss is none of KILN_TUNE_...");
  }
  if (known.timing < KILN_TIMING_AUTOMATIC || known.timing > KILN_TIMING_GRAPH) {
    return bad_option("kiln_open: options.timing is none of KILN_TIMING_...");
  }
  if (known.untuned < KILN_UNTUNED_WAIT || known.untuned > KILN_UNTUNED_RACE) {
    return bad_option("kiln_open: options.untuned is none of KILN_UNTUNED_...");
  }
  return guarded_call([&] {
    *launcher = nullptr;
    kiln::Expected<Launcher> opened = Launcher::open(to_options(known));
    if (!opened) {
      return fail(opened.error());
    }
    *launcher = new kiln_launcher{*opened};
    return static_cast<kiln_status>(KILN_OK);
  });
}

void kiln_close(kiln_launcher* launcher) { delete launcher; }

size_t kiln_warning_count(const kiln_launcher* launcher) {
  return launcher == nullptr ? 0 : launcher->launcher.warnings().size();
}

const char* kiln_warning(const kiln_launcher* launcher, size_t index) {
  return index < kiln_warning_count(launcher) ? launcher->launcher.warnings()[index].message.c_str()
                                              : "";
}

kiln_status kiln_select(const kiln_launcher* launcher, const char* kernel, const char* problem,
                        kiln_match* match) {
  if (launcher == nullptr || kernel == nullptr || problem == nullptr || match == nullptr) {
    return bad_option("kiln_select: no argument may be NULL");
  }
  if (match->size != sizeof(kiln_match)) {
    return bad_option("kiln_select: match.size is not sizeof(kiln_match)");
  }
  const kiln::Expected<Launcher::MatchHandle> found = launcher->launcher.select(kernel, problem);
  if (!found) {
    return fail(found.error());
  }
  const Launcher::Match& known = **found;
  match->grade = static_cast<int32_t>(known.grade);
  match->stale = known.stale ? 1 : 0;
  match->distance = known.distance;
  copy_cut(match->config, known.config);
  copy_cut(match->reason, known.reason);
  return KILN_OK;
}

kiln_status kiln_prepare(const kiln_launcher* launcher, const char* kernel, const char* problem,
                         kiln_kernel** prepared) {
  if (launcher == nullptr || kernel == nullptr || problem == nullptr || prepared == nullptr) {
    return bad_option("kiln_prepare: no argument may be NULL");
  }
  return guarded_call([&] {
    *prepared = nullptr;
    kiln::Expected<Launcher::Kernel> made = launcher->launcher.prepare(kernel, problem);
    if (!made) {
      return fail(made.error());
    }
    *prepared = new kiln_kernel{*made};
    return static_cast<kiln_status>(KILN_OK);
  });
}

void kiln_kernel_release(kiln_kernel* kernel) { delete kernel; }

size_t kiln_workspace_count(const kiln_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.workspaces().size();
}

kiln_status kiln_workspace(const kiln_kernel* kernel, size_t index,
                           kiln_workspace_info* workspace) {
  if (kernel == nullptr || workspace == nullptr) {
    return bad_option("kiln_workspace: no argument may be NULL");
  }
  if (workspace->size != sizeof(kiln_workspace_info)) {
    return bad_option("kiln_workspace: workspace.size is not sizeof(kiln_workspace_info)");
  }
  if (index >= kernel->kernel.workspaces().size()) {
    return bad_option("kiln_workspace: the kernel has no workspace of that index");
  }
  const Launcher::Kernel::Requirement& known = kernel->kernel.workspaces()[index];
  workspace->bytes = known.bytes;
  workspace->zeroed = known.zeroed ? 1 : 0;
  workspace->reserved = 0;
  copy_cut(workspace->name, known.name);
  return KILN_OK;
}

kiln_status kiln_statistics(const kiln_launcher* launcher, kiln_call_counts* counts) {
  if (launcher == nullptr || counts == nullptr) {
    return bad_option("kiln_statistics: no argument may be NULL");
  }
  if (counts->size != sizeof(kiln_call_counts)) {
    return bad_option("kiln_statistics: counts.size is not sizeof(kiln_call_counts)");
  }
  const kiln::Expected<Launcher::Statistics> known = launcher->launcher.statistics();
  if (!known) {
    return fail(known.error());
  }
  std::ranges::copy(known->selections, counts->selections);
  std::ranges::copy(known->launches, counts->launches);
  counts->counting = known->counting ? 1 : 0;
  counts->reserved = 0;
  return KILN_OK;
}

kiln_status kiln_tuning(const kiln_launcher* launcher, kiln_tuning_state* state) {
  if (launcher == nullptr || state == nullptr) {
    return bad_option("kiln_tuning: no argument may be NULL");
  }
  if (state->size != sizeof(kiln_tuning_state)) {
    return bad_option("kiln_tuning: state.size is not sizeof(kiln_tuning_state)");
  }
  const kiln::Expected<Launcher::Tuning> tuning = launcher->launcher.tuning();
  if (!tuning) {
    return fail(tuning.error());
  }
  state->waiting = tuning->waiting;
  state->tuned = tuning->tuned;
  state->failed = tuning->failed;
  state->seconds = tuning->seconds;
  state->warnings = tuning->warnings.size();
  return KILN_OK;
}

kiln_status kiln_tuning_warning(const kiln_launcher* launcher, size_t index, char* text,
                                size_t text_size) {
  if (launcher == nullptr || text == nullptr || text_size == 0) {
    return bad_option("kiln_tuning_warning: launcher and text may not be NULL, text_size not 0");
  }
  const kiln::Expected<Launcher::Tuning> tuning = launcher->launcher.tuning();
  if (!tuning) {
    return fail(tuning.error());
  }
  if (index >= tuning->warnings.size()) {
    return bad_option("kiln_tuning_warning: there is no warning of that index");
  }
  const std::string& message = tuning->warnings[index].message;
  const std::size_t length = std::min(message.size(), text_size - 1);
  std::memcpy(text, message.data(), length);
  text[length] = '\0';
  return KILN_OK;
}

kiln_status kiln_forget_queue(const kiln_launcher* launcher, void* queue) {
  if (launcher == nullptr) {
    return bad_option("kiln_forget_queue: launcher may not be NULL");
  }
  const kiln::Expected<void> forgotten = launcher->launcher.forget_queue(queue);
  return forgotten ? static_cast<kiln_status>(KILN_OK) : fail(forgotten.error());
}

kiln_status kiln_wait_for_tuning(const kiln_launcher* launcher, double seconds) {
  if (launcher == nullptr) {
    return bad_option("kiln_wait_for_tuning: launcher may not be NULL");
  }
  const kiln::Expected<bool> waited = launcher->launcher.wait_for_tuning(seconds);
  return waited ? static_cast<kiln_status>(KILN_OK) : fail(waited.error());
}

kiln_status kiln_launch(const kiln_kernel* kernel, void* queue, const kiln_argument* arguments,
                        size_t count) {
  constexpr size_t kMaxArguments = 64;  // more than any spec has; kept on the stack
  if (kernel == nullptr || (arguments == nullptr && count > 0)) {
    return bad_option("kiln_launch: kernel and arguments may not be NULL");
  }
  if (count > kMaxArguments) {
    return bad_option("kiln_launch: more than 64 arguments");
  }
  const kiln_argument* const end = arguments + count;
  const kiln_argument* const unknown = std::find_if_not(arguments, end, has_known_kind);
  if (unknown != end) {
    return guarded_call([&] { return fail(unknown_kind(*unknown)); });
  }
  std::array<kiln::LaunchArgument, kMaxArguments> converted;
  std::transform(arguments, arguments + count, converted.begin(), to_argument);
  const kiln::Expected<void> launched = kernel->kernel.launch(queue, converted.data(), count);
  return launched ? static_cast<kiln_status>(KILN_OK) : fail(launched.error());
}

}  // extern "C"
