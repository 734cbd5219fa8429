// The TrialEngine over a real device.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>

#include "backends/cached_compiler.hpp"
#include "core/errors.hpp"
#include "core/setting.hpp"
#include "core/statistics.hpp"
#include "spec/parse_spec.hpp"
#include "tuner/checks/extra_checks.hpp"
#include "tuner/checks/problem_bench.hpp"
#include "tuner/checks/reference_cost.hpp"
#include "tuner/device/measure.hpp"
#include "tuner/device/rival_call.hpp"
#include "tuner/device/trial_engine.hpp"

namespace kiln {
namespace {

/// Places whose memory is kept at a time.
constexpr std::size_t kPlacesKept = 4;

class Stopwatch {
 public:
  [[nodiscard]] std::int64_t ns() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class DeviceEngine final : public TrialEngine {
 public:
  DeviceEngine(const std::string& backend, int ordinal)
      : backend_(make_backend(backend)),
        device_(backend_->open_device(ordinal)),
        compiler_(backend_->open_compiler(device_->info())),
        toolbox_compiler_(backend_->open_compiler(device_->info()), device_->info(),
                          backend_->compiler_options()),
        toolbox_(*device_, toolbox_compiler_) {
    compiler_->prepare_for(BinaryUse::once);
  }

  const DeviceInfo& device() const override { return device_->info(); }
  std::string energy_unavailable() const override { return device_->energy_unavailable(); }
  std::string graphs_unavailable() const override { return device_->graphs_unavailable(); }
  void tell_doing(std::function<void(const std::string&)> doing) override {
    doing_ = std::move(doing);
  }
  ProblemReport prepare(const ProblemJob& job) override;
  TrialReport run(const TrialJob& job, const std::function<void(const Checked&)>& checked) override;
  FinalsReport run_finals(const FinalsJob& job) override;

 private:
  [[nodiscard]] Status run_trial(const TrialJob& job,
                                 const std::function<void(const Checked&)>& checked,
                                 TrialReport& report);
  /// The samples, in report, of a config that passed its first check.
  [[nodiscard]] Status measure_config(const TrialJob& job, ConfigRun& run,
                                      const std::function<void(const Checked&)>& checked,
                                      TrialReport& report);
  [[nodiscard]] Status check(ConfigRun& run, InputSet set, Before outputs, TrialReport& report);
  /// On other problems: the config is proven then.
  [[nodiscard]] Status check_elsewhere(const TrialJob& job, const ConfigRun& run,
                                       TrialReport& report);
  [[nodiscard]] Status check_after(const TrialJob& job, ConfigRun& run, TrialReport& report);
  [[nodiscard]] Status measure_in_turn(const FinalsJob& job, FinalsReport& report);
  /// Takes the samples of `works` in the cache mode of the job.
  [[nodiscard]] Status take_rounds(const FinalsJob& job, std::span<const DeviceWork* const> works,
                                   FinalsReport& report);
  /// Checks the result of the rival, after its rounds, like those of the configs.
  [[nodiscard]] Status judge_rival_result(const RivalCall& rival, FinalsReport& report);
  /// Adds the error of the result that the outputs hold now.
  [[nodiscard]] Status add_error(FinalsReport& report);
  [[nodiscard]] Failure examined(Failure failure);
  /// Arguments and references of the problem for configs that agree in what these depend on.
  struct Place {
    KernelSpec spec;
    std::unique_ptr<ProblemBench> bench;
    std::unique_ptr<ExtraChecks> extras;
  };
  /// Makes the place of the config the current one.
  [[nodiscard]] Status enter(const Config& config);
  [[nodiscard]] Status enter(KernelSpec spec);
  [[nodiscard]] ProblemBench::Tools tools() { return {*device_, *compiler_, toolbox_, doing_}; }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;  ///< of references
  CachedCompiler toolbox_compiler_;
  Toolbox toolbox_;
  std::function<void(const std::string&)> doing_;
  KernelSpec spec_;
  std::optional<Setting> setting_;
  std::uint64_t seed_ = 0;
  std::optional<ReferenceCost> cost_;
  std::map<std::string, Place> places_;  ///< by KernelSpec::config_values
  ProblemBench* problem_ = nullptr;      ///< these two: of the current place
  ExtraChecks* extras_ = nullptr;
  MeasureOptions options_;
  std::optional<Measurer> measurer_;
};

/// Is the device still usable after this failure? It is asked to move a few bytes: driver error
/// numbers alone do not always tell.
Failure DeviceEngine::examined(Failure failure) {
  if (failure.sticky || failure.outcome == Outcome::wrong_result) return failure;
  std::array<std::byte, 64> bytes{};
  Result<OwnedBuffer> probe = OwnedBuffer::allocate(*device_, bytes.size());
  if (!probe) {
    failure.sticky = probe.failure().sticky;
    return failure;
  }
  const Status filled = device_->fill(probe->get(), 0, bytes.size(), 0x5A);
  const Status read = filled ? device_->download(probe->get(), 0, bytes) : filled;
  failure.sticky = !read || bytes.back() != std::byte{0x5A};
  return failure;
}

ProblemReport DeviceEngine::prepare(const ProblemJob& job) {
  problem_ = nullptr;
  places_.clear();
  spec_ = parse_spec(job.spec_text, job.spec_path);
  spec_.files = job.spec_files;
  const Problem problem = Problem::make(spec_, job.problem);
  setting_.emplace(spec_, problem, device_->info());
  options_ = job.measure;
  measurer_.emplace(*device_, job.measure);
  ReferenceCost stated;
  stated.limits = ReferenceLimits(job.max_cpu_operations);
  stated.limits.long_run_seconds = job.reference_seconds;
  stated.extra_operations = job.extra_operations;
  const Result<ReferenceCost> cost =
      measure_reference(tools(), spec_, problem, job.seed, stated, job.reference_seconds);
  if (!cost) return {examined(cost.failure()), {}};
  cost_ = *cost;
  seed_ = job.seed;
  if (Status status = enter(spec_); !status) return {examined(status.failure()), {}};
  measurer_->set_stir(
      [this](std::size_t most_bytes) { return problem_->bench().data.stir(most_bytes); });
  return {std::nullopt, problem_->reference()};
}

Status DeviceEngine::enter(const Config& config) {
  return spec_.config_values.empty() ? Status(Done{}) : enter(spec_for(spec_, config));
}

Status DeviceEngine::enter(KernelSpec spec) {
  std::string key;
  for (const auto& [name, value] : spec.config_values) key += value_in_config(value) + ',';
  const auto [found, is_new] = places_.try_emplace(key);
  Place& place = found->second;
  if (is_new) {
    place.spec = std::move(spec);
    Result<std::unique_ptr<ProblemBench>> made =
        ProblemBench::create(tools(), place.spec, setting_->problem(), seed_, cost_->limits);
    if (!made) {
      places_.erase(found);
      return made.failure();
    }
    place.bench = std::move(*made);
    place.extras = std::make_unique<ExtraChecks>(tools(), place.spec, setting_->problem(), seed_,
                                                 cost_->extra_operations);
  }
  problem_ = place.bench.get();
  extras_ = place.extras.get();
  return Done{};
}

Status DeviceEngine::measure_config(const TrialJob& job, ConfigRun& run,
                                    const std::function<void(const Checked&)>& checked,
                                    TrialReport& report) {
  // The right inputs, in case timing depends on values.
  if (Status status = run.prepare_timing(); !status) return status;
  const LaunchSequence& sequence = run.sequence(InputSet::timing);
  if (Status status = measurer_->warm_device(sequence, run.last_run_ns()); !status) return status;
  Result<Measurer::FirstLook> look =
      measurer_->first_look(sequence, run.last_run_ns(), job.incumbent_ns);
  if (!look) return look.failure();
  const double run_ns = look->run_ns;
  report.runs += look->untimed_runs;
  checked({run_ns});
  if (look->hopeless) {
    report.samples = std::move(look->samples);
  } else {
    Result<Samples> samples = measurer_->measure(sequence, std::move(*look), job.incumbent_ns);
    if (!samples) return samples.failure();
    report.samples = std::move(*samples);
  }
  report.runs += static_cast<std::int64_t>(report.samples.ns.size()) * report.samples.batch;
  if (!options_.energy) return Done{};
  const Result<double> joules = measurer_->measure_energy(sequence, run_ns);
  if (!joules) return joules.failure();
  report.energy_j = *joules;
  return Done{};
}

Status DeviceEngine::check(ConfigRun& run, InputSet set, Before outputs, TrialReport& report) {
  const ExpectedOutputs& expected = problem_->expected(set);
  const Result<double> error =
      outputs == Before::poison ? run.run_checked(set, expected) : run.run_again(set, expected);
  if (!error) return error.failure();
  report.max_error = std::max(report.max_error, *error);
  ++report.runs;
  return Done{};
}

Status DeviceEngine::check_elsewhere(const TrialJob& job, const ConfigRun& run,
                                     TrialReport& report) {
  const Result<double> error = extras_->check(job.config, run);
  if (!error) return error.failure();
  report.max_error = std::max(report.max_error, *error);
  report.proven = true;
  return Done{};
}

/// What remains to be asked of a config depends on what its samples say: one that was dropped
/// cannot win and must only have harmed nobody. The other inputs and sizes, which may cost more
/// than its samples did, are for the one that would lead now; what else may win is proven in the
/// end. Every call finds what the one before has left.
Status DeviceEngine::check_after(const TrialJob& job, ConfigRun& run, TrialReport& report) {
  if (report.samples.dropped_early) return run.inspect(InputSet::timing);
  const bool is_behind = job.purpose == TrialPurpose::measure && options_.race &&
                         job.incumbent_ns > 0 && median(report.samples.ns) >= job.incumbent_ns;
  if (is_behind || problem_->runs_long()) {
    Status status = check(run, InputSet::timing, Before::as_left, report);
    if (is_behind || !status) return status;
    return check_elsewhere(job, run, report);
  }
  for (const InputSet set : {InputSet::verify, InputSet::timing, InputSet::verify}) {
    if (Status status = check(run, set, Before::as_left, report); !status) return status;
  }
  return check_elsewhere(job, run, report);
}

Status DeviceEngine::run_trial(const TrialJob& job,
                               const std::function<void(const Checked&)>& checked,
                               TrialReport& report) {
  const Stopwatch first_check;
  if (places_.size() > kPlacesKept) places_.clear();
  if (Status status = enter(job.config); !status) return status;
  const Result<LaunchPlan> plan = setting_->plan(job.config);
  if (!plan) return plan.failure();
  Result<ConfigRun> run = ConfigRun::load(problem_->bench(), *plan, job.binary);
  if (!run) return run.failure();
  Status status = check(*run, InputSet::verify, Before::poison, report);
  if (!status) return status;
  report.verify_ns = first_check.ns();
  if (job.purpose == TrialPurpose::measure) {
    const Stopwatch measuring;
    if (status = measure_config(job, *run, checked, report); !status) return status;
    report.measure_ns = measuring.ns();
  }
  const Stopwatch last_check;
  status = check_after(job, *run, report);
  report.verify_ns += last_check.ns();
  return status;
}

TrialReport DeviceEngine::run(const TrialJob& job,
                              const std::function<void(const Checked&)>& checked) {
  if (!setting_) throw InputError("the device worker was sent a trial before a problem");
  TrialReport report;
  if (Status status = run_trial(job, checked, report); !status)
    report.failure = examined(status.failure());
  return report;
}

Status DeviceEngine::take_rounds(const FinalsJob& job, std::span<const DeviceWork* const> works,
                                 FinalsReport& report) {
  std::optional<Measurer> other;
  if (job.other_cache) {
    MeasureOptions options = options_;
    options.cold_cache = !options.cold_cache;
    other.emplace(*device_, options);
  }
  Result<Measurer::Rounds> rounds =
      (other ? *other : *measurer_).measure_in_turn(works, job.rounds);
  if (!rounds) return rounds.failure();
  report.samples = std::move(rounds->ns);
  report.energy_j = std::move(rounds->energy_j);
  return Done{};
}

Status DeviceEngine::add_error(FinalsReport& report) {
  const ProblemData::Output& output = problem_->bench().data.outputs().front();
  const Result<double> error = relative_error(
      *device_, output.dtype, *problem_->bench().data.find(output.name, InputSet::timing),
      problem_->expected(InputSet::timing).values_of(output.name));
  if (!error) return error.failure();
  report.errors.push_back(*error);
  return Done{};
}

Status DeviceEngine::judge_rival_result(const RivalCall& rival, FinalsReport& report) {
  if (Status status = rival.run_once(); !status) return status;
  const Bench bench = problem_->bench();
  const Result<ExpectedOutputs::Check> check =
      problem_->expected(InputSet::timing).check(*device_, toolbox_, [&](const auto& name) {
        return bench.data.find(name, InputSet::timing);
      });
  if (!check) return check.failure();
  report.wrong.push_back(check->mismatch);
  return add_error(report);
}

Status DeviceEngine::measure_in_turn(const FinalsJob& job, FinalsReport& report) {
  // Workspaces are shared by position and grow: first make them large enough for all, then bind.
  std::vector<LaunchPlan> plans;
  for (const Config& config : job.configs) {
    if (Status status = enter(config); !status) return status;
    Result<LaunchPlan> plan = setting_->plan(config);
    if (!plan) return plan.failure();
    if (Status status = problem_->bench().workspaces.prepare(*plan); !status) return status;
    plans.push_back(std::move(*plan));
  }
  std::vector<ConfigRun> runs;
  std::vector<const DeviceWork*> works;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (Status status = enter(job.configs[i]); !status) return status;
    Result<ConfigRun> run = ConfigRun::load(problem_->bench(), plans[i], job.binaries[i]);
    if (!run) return run.failure();
    if (Status status = run->run_once(InputSet::timing); !status) return status;
    runs.push_back(std::move(*run));
  }
  // The red zones behind one config's workspaces lie inside longer ones of another.
  for (const auto& [key, place] : places_) {
    if (Status status = place.bench->bench().workspaces.clear_zeroed(); !status) return status;
  }
  for (const ConfigRun& run : runs) works.push_back(&run.sequence(InputSet::timing));
  std::unique_ptr<RivalCall> rival;
  if (!job.against.empty()) {
    Result<std::unique_ptr<RivalCall>> made =
        RivalCall::make(job.against, problem_->bench(), spec_, setting_->problem(), plans.front());
    const Status ran = made ? (*made)->run_once() : Status(made.failure());
    if (!ran) {
      report.unavailable = ran.failure().message;
    } else {
      rival = std::move(*made);
      report.library = rival->library();
      works.push_back(rival.get());
    }
  }
  if (Status status = take_rounds(job, works, report); !status) return status;
  // A result that is right most of the time shows after so many runs, if ever.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (Status status = enter(job.configs[i]); !status) return status;
    Workspaces& workspaces = problem_->bench().workspaces;
    if (Status status = workspaces.clear_zeroed(); !status) return status;
    if (Status status = workspaces.prepare(plans[i]); !status) return status;
    // Outputs hold what another config has left: its right results of these very inputs.
    Result<double> error =
        problem_->bench().data.sets_differ()
            ? runs[i].run_again(InputSet::verify, problem_->expected(InputSet::verify))
            : runs[i].run_checked(InputSet::timing, problem_->expected(InputSet::timing));
    if (error) error = runs[i].run_again(InputSet::timing, problem_->expected(InputSet::timing));
    if (!error && error.failure().outcome != Outcome::wrong_result) return error.failure();
    report.wrong.push_back(error ? "" : error.failure().message);
    if (rival == nullptr) continue;
    if (Status status = add_error(report); !status) return status;
  }
  return rival != nullptr ? judge_rival_result(*rival, report) : Status(Done{});
}

FinalsReport DeviceEngine::run_finals(const FinalsJob& job) {
  if (!problem_) throw InputError("the device worker was sent finals before a problem");
  FinalsReport report;
  if (Status status = measure_in_turn(job, report); !status)
    report.failure = examined(status.failure());
  return report;
}

}  // namespace

std::unique_ptr<TrialEngine> open_device_engine(const std::string& backend, int ordinal) {
  return std::make_unique<DeviceEngine>(backend, ordinal);
}

}  // namespace kiln
