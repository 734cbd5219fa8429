// Finds the config for a kernel and a problem, prepares the kernel, and keeps both for later calls.
// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/launcher_state.hpp"

#include <algorithm>
#include <utility>

#include "core/setting.hpp"
#include "templates/renderer.hpp"
#include "wisdom/shipped.hpp"

namespace kiln {
namespace {

// Bounds what an application with ever new problems keeps: the least recently used is let go, and
// lives on where the application still holds it.
constexpr std::size_t kMaxPrepared = 1024;
constexpr std::size_t kMaxMatches = 65536;

constexpr char kThisBuild = 0;  ///< has an address in the file that this code is in

Launcher::Match to_public(const kiln::Match& match) {
  return {match.config.text(), static_cast<Launcher::Grade>(match.grade),
          match.distance,      match.reason,
          match.stale,         match.other_timing};
}

Launcher::Kernel::Requirement requirement(const BufferPlan& plan) {
  return {plan.name, std::string(name_of(plan.dtype)), static_cast<std::size_t>(plan.bytes()),
          false, plan.zeroed};
}

void list_requirements(const KernelSpec& spec, const LaunchPlan& plan,
                       std::vector<Launcher::Kernel::Requirement>& arguments,
                       std::vector<Launcher::Kernel::Requirement>& workspaces) {
  for (const Argument& argument : spec.arguments) {
    if (const BufferPlan* buffer = plan.find_buffer(argument.name)) {
      arguments.push_back(requirement(*buffer));
    }
    const ScalarPlan* scalar = plan.find_scalar(argument.name);
    if (scalar != nullptr && scalar->from_caller) {
      arguments.push_back(
          {scalar->name, std::string(name_of(scalar->dtype)), size_of(scalar->dtype), true, false});
    }
  }
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.workspace) {
      workspaces.push_back(requirement(buffer));
    }
  }
}

bool is_tuned(const kiln::Match& match) {
  return match.grade == kiln::Grade::exact && !match.other_timing;
}

Expected<KernelParts> parts_of(std::shared_ptr<const KernelSpec> spec, const Setting& setting,
                               const Config& config, Launcher::Workspace workspace) {
  if (spec->command) {
    return LaunchError{LaunchErrorCode::impossible,
                       spec->name + " is a program ([command]): nothing of it can be launched"};
  }
  Result<LaunchPlan> plan = setting.plan(config);
  if (!plan) {
    return LaunchError{LaunchErrorCode::impossible, spec->name + ": " + plan.failure().message};
  }
  try {
    Source source = Renderer(*spec, config.variant).render(setting, config);
    return KernelParts{std::move(spec), std::move(*plan), std::move(source), workspace};
  } catch (const InputError& error) {
    return LaunchError{LaunchErrorCode::compile_failed, error.what()};
  }
}

std::vector<std::filesystem::path> as_paths(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

Launcher::State::State(const Options& given)
    : options(given),
      runtime(std::make_shared<Runtime>(given)),
      library_(as_paths(given.kernel_paths)),
      rows_(read_databases(given, runtime->info())),
      answers_(runtime->cache(), build_with(&kThisBuild), runtime->info_for_lookup(),
               timing_of(given)),
      captured_answers_(runtime->cache(), build_with(&kThisBuild), runtime->info_for_lookup(),
                        kiln::Timing::graph),
      statistics_(CallStatistics::make(given.statistics, runtime->info())),
      matches_(kMaxMatches),
      prepared_(kMaxPrepared),
      background_(std::make_shared<BackgroundThread>(
          [beside = runtime] { beside->work_beside_captures(); })) {
  warnings = rows_.warnings;
  if (!runtime->cache_trouble().empty()) {
    warnings.push_back({Warning::Kind::cache_unusable,
                        runtime->cache_trouble() + "; kernels are compiled in every process"});
  }
  if (!runtime->cache_limit_trouble().empty()) {
    warnings.push_back({Warning::Kind::cache_limit_unusable,
                        runtime->cache_limit_trouble() + "; the cache keeps to 1 GiB"});
  }
  if (const std::string trouble = statistics_ ? statistics_->trouble() : ""; !trouble.empty()) {
    warnings.push_back(
        {Warning::Kind::statistics_unusable, trouble + "; calls are counted and not written down"});
  }
  tuner_ = std::make_unique<MissTuner>(
      given, runtime->info(),
      rows_.locked ? MissTuner::Selection::pinned : MissTuner::Selection::free,
      MissTuner::Listener{
          [this](const Miss& /*miss*/, const BestRecord& best) { add_best(best); },
          [this](const Miss& miss, const std::set<std::string>& texts) { forget(miss, texts); }});
}

Expected<Launcher::State::KernelEntry*> Launcher::State::find_kernel(std::string_view kernel) {
  const std::lock_guard held(kernels_mutex_);
  const auto known = kernels_.find(kernel);
  if (known != kernels_.end()) {
    return &known->second;
  }
  auto spec = std::make_shared<const KernelSpec>(library_.load(std::string(kernel)));
  // By the name of its folder, or a path, after the name of its spec: the rows are there.
  for (const auto& [name, entry] : kernels_) {
    if (entry.spec->name != spec->name) continue;
    KernelEntry same = entry;
    same.spec = std::move(spec);
    return &kernels_.emplace(kernel, std::move(same)).first->second;
  }
  auto rows = std::make_shared<const std::vector<BestRecord>>(rows_.take(spec->name));
  std::optional<std::string> digest;  // the default needs no looking for
  if (!rows->empty() || rows_.asks_shipped) digest = digest_of(*rows, rows_.asks_shipped);
  return &kernels_
              .emplace(kernel, KernelEntry{std::move(spec), std::move(rows), rows_.asks_shipped,
                                           std::move(digest)})
              .first->second;
}

Expected<Problem> Launcher::State::parse_problem(const KernelSpec& spec,
                                                 std::string_view text) const {
  try {
    return Problem::parse(spec, text);
  } catch (const InputError& error) {
    return LaunchError{LaunchErrorCode::bad_problem, spec.name + ": " + error.what()};
  }
}

Expected<kiln::Match> Launcher::State::find_match(const KernelSpec& spec, const Problem& problem,
                                                  std::span<const BestRecord> rows,
                                                  kiln::Timing timing) const {
  Result<kiln::Match> match = lookup({spec, problem, runtime->info_for_lookup()}, rows, timing);
  if (!match) {
    return LaunchError{LaunchErrorCode::impossible, match.failure().message};
  }
  return *std::move(match);
}

Launcher::State::Known Launcher::State::known_of(const KernelEntry& entry) {
  const std::lock_guard held(kernels_mutex_);
  return {entry.rows, entry.digest, entry.tuned};
}

void Launcher::State::add_shipped(KernelEntry& entry) {
  if (!std::exchange(entry.lacks_shipped, false)) return;
  auto rows = std::make_shared<std::vector<BestRecord>>(*entry.rows);
  for (BestRecord& best : shipped_bests(entry.spec->name)) rows->push_back(std::move(best));
  entry.rows = std::move(rows);
}

Launcher::State::Known Launcher::State::all_known_of(KernelEntry& entry) {
  const std::lock_guard held(kernels_mutex_);
  add_shipped(entry);
  return {entry.rows, entry.digest, entry.tuned};
}

Expected<Launcher::State::Found> Launcher::State::find_once(std::string_view kernel,
                                                            std::string_view problem_text) {
  const Expected<KernelEntry*> entry = find_kernel(kernel);
  if (!entry) {
    return entry.error();
  }
  const KernelSpec& spec = *(*entry)->spec;
  const Expected<Problem> problem = parse_problem(spec, problem_text);
  if (!problem) {
    return problem.error();
  }
  Known known = known_of(**entry);
  if (known.digest) {
    std::optional<kiln::Match> kept = answers_.find(spec, *problem, *known.digest);
    if (kept) {
      // A race keeps its winner in place of this answer.
      std::optional<std::string> unkept = settles(*kept) ? known.digest : std::nullopt;
      return Found{*entry, known.tuned, *problem, {*std::move(kept), std::move(unkept)}};
    }
  }
  known = all_known_of(**entry);
  Expected<kiln::Match> match = find_match(spec, *problem, *known.rows, timing_of(options));
  if (!match) {
    return match.error();
  }
  return Found{*entry, known.tuned, *problem, {std::move(*match), std::move(known.digest)}};
}

Expected<Launcher::State::Found> Launcher::State::find(std::string_view kernel,
                                                       std::string_view problem_text) {
  Expected<Found> found = find_once(kernel, problem_text);
  if (!found || is_tuned(found->answer.match)) {
    return found;
  }
  const KernelSpec& spec = *found->entry->spec;
  const bool tuned = tuner_->want(
      {std::string(kernel), spec.name, found->problem.text(), std::string(problem_text)});
  return tuned ? find_once(kernel, problem_text) : found;
}

bool Launcher::State::is_current(const KernelEntry& entry, std::size_t tuned) {
  return known_of(entry).tuned == tuned;
}

// Checks the rows again after inserting a match. If the tuner's thread replaced them before the
// match was in the table, nobody else would remove the match.
Expected<Launcher::MatchHandle> Launcher::State::select(std::string_view kernel,
                                                        std::string_view problem) {
  const ProblemKey key(kernel, problem);
  const auto handle_of = [](std::shared_ptr<const SelectedMatch> selected) {
    if (selected->counter != nullptr) selected->counter->count_selection();
    const Match* match = &selected->match;
    return MatchHandle(std::move(selected), match);
  };
  if (std::shared_ptr<const SelectedMatch> known = matches_.find(key)) {
    return handle_of(std::move(known));
  }
  while (true) {
    const Expected<Found> found = find(kernel, problem);
    if (!found) {
      return found.error();
    }
    SelectedMatch selected{to_public(found->answer.match)};
    selected.counter = counter_of(*found->entry->spec, found->problem, selected.match);
    std::shared_ptr<const SelectedMatch> match =
        matches_.insert(key, std::make_shared<const SelectedMatch>(std::move(selected)));
    if (is_current(*found->entry, found->tuned)) {
      return handle_of(std::move(match));
    }
    (void)matches_.take(key);
  }
}

Expected<Launcher::Kernel> Launcher::State::prepare(std::string_view kernel,
                                                    std::string_view problem) {
  const ProblemKey key(kernel, problem);
  const auto handle_of = [](std::shared_ptr<Kernel::State> state) {
    CallCounter* const counter = state->running().counter;
    if (counter != nullptr) counter->count_selection();
    return Kernel(std::move(state));
  };
  if (std::shared_ptr<Kernel::State> warm = prepared_.find(key)) {
    return handle_of(std::move(warm));
  }
  while (true) {
    Expected<Found> found = find(kernel, problem);  // may wait: not under a lock
    if (!found) {
      return found.error();
    }
    const KernelEntry& entry = *found->entry;
    const std::size_t tuned = found->tuned;
    const std::lock_guard cold(prepare_mutex_);
    {
      const std::lock_guard held(outdated_mutex_);
      outdated_.clear();
    }
    if (std::shared_ptr<Kernel::State> warm = prepared_.find(key)) {  // made while we waited
      return handle_of(std::move(warm));
    }
    Expected<std::shared_ptr<Kernel::State>> made = prepare_anew(std::move(*found));
    if (!made) {
      return made.error();
    }
    std::shared_ptr<Kernel::State> kept = prepared_.insert(key, std::move(*made));
    if (is_current(entry, tuned)) {
      return handle_of(std::move(kept));
    }
    (void)prepared_.take(key);
  }
}

void Launcher::State::add_best(const BestRecord& best) {
  const std::lock_guard held(kernels_mutex_);
  for (auto& [name, entry] : kernels_) {  // it may be known by several names
    if (entry.spec->name != best.key.kernel) continue;
    add_shipped(entry);
    entry.digest.reset();  // other processes read this best from the database, if at all
    ++entry.tuned;
    auto rows = std::make_shared<std::vector<BestRecord>>(*entry.rows);
    rows->push_back(best);
    entry.rows = std::move(rows);
  }
}

void Launcher::State::forget(const Miss& miss, const std::set<std::string>& asked_texts) {
  for (const std::string& text : asked_texts) {
    const ProblemKey key(miss.kernel, text);
    (void)matches_.take(key);
    if (std::shared_ptr<Kernel::State> kernel = prepared_.take(key)) {
      const std::lock_guard held(outdated_mutex_);
      outdated_.push_back(std::move(kernel));
    }
  }
}

Expected<std::shared_ptr<Launcher::Kernel::State>> Launcher::State::prepare_anew(Found found) {
  const KernelSpec& spec = *found.entry->spec;
  const Problem& problem = found.problem;
  kiln::Match& match = found.answer.match;
  const std::optional<std::string>& unkept = found.answer.unkept;
  auto state = std::make_shared<Kernel::State>();
  if (settles(match)) state->race = make_race(found);
  if (!state->race) {
    Expected<std::unique_ptr<PreparedKernel>> made = make_kernel(*found.entry, problem, match);
    if (made && unkept) answers_.store(spec, problem, *unkept, match);
    if (!made && match.grade != kiln::Grade::fallback) {
      // A tuned config that this compiler or driver refuses must not stop the application.
      const std::string refused = match.config.text();
      Expected<kiln::Match> fallback = find_match(spec, problem, {}, timing_of(options));
      if (!fallback) {
        return made.error();
      }
      match = std::move(*fallback);
      match.reason = "the tuned config " + refused + " failed (" + made.error().message +
                     "): the spec's default config";
      made = make_kernel(*found.entry, problem, match);
    }
    if (!made) {
      return made.error();
    }
    state->kernel = std::move(*made);
    const Match shown = to_public(match);
    state->own = {state->kernel.get(), shown, counter_of(spec, problem, shown)};
  }
  state->problem = problem.text();
  list_requirements(spec, state->running().kernel->plan(), state->arguments, state->workspaces);
  state->runtime = runtime;
  state->statistics = statistics_;
  prepare_captured(found, *state);
  const std::lock_guard held(made_mutex_);
  std::erase_if(made_, [](const auto& each) { return each.expired(); });
  made_.push_back(state);
  return state;
}

bool Launcher::State::settles(const kiln::Match& match) const {
  return options.untuned != Untuned::wait && !is_tuned(match) && !match.raced &&
         match.grade != kiln::Grade::fallback && options.workspace == Workspace::pooled;
}

// Renders no more configs than it must: the first that is compiled already runs.
std::shared_ptr<Race> Launcher::State::make_race(const Found& found) {
  const std::shared_ptr<const KernelSpec> spec = found.entry->spec;
  const kiln::Match& match = found.answer.match;
  const PartsOf make_parts = [spec, problem = found.problem, beside = runtime,
                              workspace = options.workspace](const Config& config) {
    return parts_of(spec, Setting(*spec, problem, beside->info()), config, workspace);
  };
  std::vector<Race::Entry> entries;
  const auto add = [&](Config config, const kiln::Match& like) {
    kiln::Match shown = like;
    shown.config = config;
    const Match made = to_public(shown);
    entries.push_back({std::move(config), made, counter_of(*spec, found.problem, made)});
  };
  add(match.config, match);
  const Setting setting(*spec, found.problem, runtime->info());
  for (const std::string& text : match.runners_up) {
    if (Result<Config> legal = setting.launchable(text)) add(*std::move(legal), match);
  }
  const std::size_t contenders = entries.size();
  if (const Expected<kiln::Match> plain = find_match(*spec, found.problem, {}, timing_of(options)))
    add(plain->config, *plain);

  // The thread prepares the one that runs first again if nothing is compiled: then prepare() waits.
  std::size_t ready = entries.size();
  for (std::size_t i = 0; i < entries.size() && ready == entries.size(); ++i) {
    Expected<KernelParts> parts = make_parts(entries[i].config);
    if (!parts) continue;
    if (runtime->has_binary(parts->source)) {
      Expected<std::unique_ptr<PreparedKernel>> made =
          PreparedKernel::make(runtime, *std::move(parts));
      if (!made) continue;
      entries[i].kernel = std::move(*made);
      ready = i;
    } else {
      entries[i].parts = *std::move(parts);
    }
  }
  const bool races = options.untuned == Untuned::race && contenders > 1;
  if (ready == 0 && !races) return nullptr;
  if (ready == entries.size()) {
    if (!races) return nullptr;
    Expected<std::unique_ptr<PreparedKernel>> made =
        make_kernel(*found.entry, found.problem, match);
    if (!made) return nullptr;
    entries[0].kernel = std::move(*made);
    ready = 0;
  }
  if (ready != contenders) entries.resize(contenders);  // the default config only stands in
  auto race = std::make_shared<Race>(
      runtime, background_, make_parts, std::move(entries), ready,
      races ? Race::Rule::fastest : Race::Rule::expected,
      [answers = answers_, spec, problem = found.problem, match, unkept = found.answer.unkept](
          const Config& winner, const std::string& reason) {
        if (!unkept) return;
        kiln::Match kept = match;
        kept.config = winner;
        kept.reason = reason;
        kept.raced = true;
        answers.store(*spec, problem, *unkept, kept);
      });
  race->start();
  return race;
}

Expected<void> Launcher::Kernel::State::launch(void* queue, std::span<const LaunchArgument> given) {
  const bool differs = captured || (!race && captured_counter != own.counter);
  const bool capturing = differs && runtime->is_capturing(queue);
  Expected<void> launched = capturing && captured ? captured->launch(queue, given)
                            : race                ? race->launch(queue, given)
                                                  : own.kernel->launch(queue, given);
  CallCounter* const counter = capturing ? captured_counter : running().counter;
  if (launched && counter != nullptr) counter->count_launch();
  return launched;
}

// Without a row that was timed in a graph the answer is the eager one, and no second lookup is
// made.
Expected<Launcher::State::Answer> Launcher::State::captured_answer(const Found& found) {
  const KernelSpec& spec = *found.entry->spec;
  Known known = known_of(*found.entry);
  if (known.digest) {
    if (std::optional<kiln::Match> kept =
            captured_answers_.find(spec, found.problem, *known.digest)) {
      return Answer{*std::move(kept), std::nullopt};
    }
  }
  known = all_known_of(*found.entry);
  const bool has_graph_rows =
      std::any_of(known.rows->begin(), known.rows->end(),
                  [](const BestRecord& best) { return best.key.timing == kiln::Timing::graph; });
  if (!has_graph_rows) {
    kiln::Match match = found.answer.match;
    match.other_timing = true;
    match.reason += other_timing_text(kiln::Timing::graph);
    return Answer{std::move(match), std::move(known.digest)};
  }
  Expected<kiln::Match> match = find_match(spec, found.problem, *known.rows, kiln::Timing::graph);
  if (!match) return match.error();
  return Answer{*std::move(match), std::move(known.digest)};
}

// The kernel of launches into a capturing stream is made now: a capture forbids to load programs
// and to allocate memory. One that cannot be compiled leaves the other in its place.
void Launcher::State::prepare_captured(const Found& found, Kernel::State& state) {
  state.captured_match = state.running().match;
  state.captured_counter = state.running().counter;
  if (options.timing != Timing::automatic || runtime->info().backend == "opencl" ||
      options.workspace != Workspace::pooled || state.captured_match.grade == Grade::fallback) {
    return;
  }
  const KernelSpec& spec = *found.entry->spec;
  const Expected<Answer> answer = captured_answer(found);
  if (!answer || answer->match.grade == kiln::Grade::fallback) return;
  const Match captured = to_public(answer->match);
  if (captured.config != to_public(found.answer.match).config) {
    Expected<std::unique_ptr<PreparedKernel>> made =
        make_kernel(*found.entry, found.problem, answer->match);
    if (!made) {
      state.captured_match.reason +=
          "; the config that was timed in a graph failed (" + made.error().message + ")";
      return;
    }
    state.captured = std::move(*made);
  }
  if (answer->unkept) {
    captured_answers_.store(spec, found.problem, *answer->unkept, answer->match);
  }
  state.captured_match = captured;
  state.captured_counter = counter_of(spec, found.problem, captured);
}

CallCounter* Launcher::State::counter_of(const KernelSpec& spec, const Problem& problem,
                                         const Match& match) {
  return statistics_ ? statistics_->counter(spec.name, problem.text(), match) : nullptr;
}

Launcher::Statistics Launcher::State::counts() const {
  return statistics_ ? statistics_->totals() : Statistics{};
}

Expected<void> Launcher::State::forget_queue(void* queue) {
  if (queue == nullptr) {
    return LaunchError{LaunchErrorCode::bad_argument,
                       "forget_queue: the launcher's own queue (null) is kept as long as it"};
  }
  std::vector<std::weak_ptr<Kernel::State>> made;
  {
    const std::lock_guard held(made_mutex_);
    made = made_;
  }
  for (const std::weak_ptr<Kernel::State>& each : made) {
    if (const std::shared_ptr<Kernel::State> kernel = each.lock()) {
      if (kernel->race) {
        kernel->race->forget_queue(queue);
      } else {
        kernel->kernel->forget_queue(queue);
      }
      if (kernel->captured) kernel->captured->forget_queue(queue);
    }
  }
  // A program that a stream of another thread may use still stays: the next such stream takes it.
  if (!QueueKey::is_one_of_many(queue)) runtime->forget_queue(queue);
  return {};
}

Expected<std::unique_ptr<PreparedKernel>> Launcher::State::make_kernel(const KernelEntry& entry,
                                                                       const Problem& problem,
                                                                       const kiln::Match& match) {
  Expected<KernelParts> parts = parts_of(entry.spec, Setting(*entry.spec, problem, runtime->info()),
                                         match.config, options.workspace);
  if (!parts) return parts.error();
  return PreparedKernel::make(runtime, *std::move(parts));
}

}  // namespace kiln
