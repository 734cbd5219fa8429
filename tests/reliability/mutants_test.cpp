// Mutants of the built-in kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "endurance_fixture.hpp"
#include "mutant_bench.hpp"
#include "mutant_subjects.hpp"
#include "mutator.hpp"
#include "templates/library.hpp"
#include "templates/renderer.hpp"
#include "tests/backends/required.hpp"
#include "tuner/session/devices.hpp"

namespace kiln {
namespace {

// Wrong results never win: kernels with one mistake each go through the real checks, on PoCL or,
// with KILN_MUTANTS_BACKEND=cuda, on a GPU.
//
// A mutant counts as wrong when it fails on any problem of an independent list: other sizes and
// other inputs than the checks themselves use. A mutant that the checks let pass and that is right
// on that whole list is taken for equivalent (a bound that a later one makes up for, a constant
// that only changes the speed). What must not exist is one that passes the checks and is wrong.

/// The compile-time fields of `tuned` with the sizes of `judge`.
std::string judge_problem(const std::string& tuned, const std::string& judge) {
  std::istringstream words(tuned);
  std::string text = judge;
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    if ((" " + judge).find(" " + name + "=") == std::string::npos) text += " " + word;
  }
  return text;
}

/// A share of a list's mutants, which it is cut into in their order.
struct Share {
  Subject subject;
  std::size_t number;
};
constexpr unsigned kMostDraws = 4;
constexpr std::uint64_t kTuned = 1;           ///< seed of the tuned problems of the first share
constexpr std::uint64_t kJudges = 1'000'000;  ///< of the first problem of the judges

void PrintTo(const Share& share, std::ostream* stream) { *stream << share.subject.kernel; }

std::vector<Share> shares() {
  const MutantOptions options = mutant_options();
  std::vector<Share> all;
  for (const Subject& subject : subjects(options.backend))
    for (std::size_t number = 0; number < options.shares; ++number)
      all.push_back({subject, number});
  return all;
}

class MutantsTest : public testing::TestWithParam<Share> {
 protected:
  [[nodiscard]] const Subject& subject() const { return GetParam().subject; }

  [[nodiscard]] bool on_cpu() const { return options_.backend == "opencl"; }
  [[nodiscard]] bool has_device() const {
    for (const BackendDevices& backend : list_devices())
      if (backend.backend == options_.backend && !backend.devices.empty()) return true;
    return false;
  }

  struct Entry {
    std::string problem;
    Config config;
    std::string original;  ///< text of the source without the mistake
    Mutant mutant;
    CompileReport build;
    std::optional<TrialReport> report;
    std::string wrong_on;  ///< a problem of the judges, and what was wrong
    std::string hung_on;   ///< likewise

    [[nodiscard]] bool is_original() const { return mutant.kind == "none"; }
    [[nodiscard]] bool passed() const { return report && !report->failure; }
  };

  /// `extra_operations`: the judges know sizes of their own.
  ProblemJob problem_job(const std::string& problem, std::uint64_t seed,
                         double extra_operations) const {
    MeasureOptions measure;
    measure.cold_cache = false;
    measure.warm_up_ns = 0;
    measure.race = false;
    measure.stop.min_samples = measure.stop.max_samples = 2;
    measure.stop.max_ns = 1e6;
    return {spec_.path, spec_.text, spec_.files, Problem::parse(spec_, problem).fields(),
            seed,       measure,    3e7,         extra_operations};
  }

  /// All mutants of the default configs of all variants, and the originals first.
  std::vector<Entry> all_entries();
  /// This share of those that are asked for, and the originals of their configs in front of them.
  /// The mutants of draw number `draw` that fall to this share, with their originals.
  std::vector<Entry> chosen_entries(unsigned draw);
  void compile(std::vector<Entry>& entries);
  /// Puts all through the checks, on the problem that each is tuned for.
  void check(std::vector<Entry>& entries);
  /// Runs the mutants that passed on other problems.
  void judge(std::vector<Entry>& entries);
  std::map<std::string, int> tally(const std::vector<Entry>& entries);
  /// Runs what is alive on `problem`; `take` gets each report.
  template <typename Alive, typename Take>
  void run(std::vector<Entry>& entries, const std::string& problem, std::uint64_t seed,
           MutantBench::Pace pace, const Alive& alive, const Take& take);

  MutantOptions options_ = mutant_options();
  KernelSpec spec_ = KernelLibrary().load(subject().kernel);
  Renderer renderer_{spec_};
  std::optional<MutantBench> bench_;
};

std::vector<MutantsTest::Entry> MutantsTest::all_entries() {
  std::vector<Entry> entries;
  for (const std::string& text : subject().problems) {
    const Problem problem = Problem::parse(spec_, text);
    for (const Variant& variant : spec_.variants) {
      const Config config = Setting(spec_, problem, bench_->device()).default_config(variant);
      if (!Setting(spec_, problem, bench_->device()).plan(config)) continue;
      const Source source = renderer_.render({spec_, problem, bench_->device()}, config);
      entries.push_back(
          {text, config, source.text, {"none", "the original", source}, {}, {}, {}, {}});
      for (Mutant& mutant : mutants_of(source))
        entries.push_back({text, config, source.text, std::move(mutant), {}, {}, {}, {}});
    }
  }
  return entries;
}

std::vector<MutantsTest::Entry> MutantsTest::chosen_entries(unsigned draw) {
  std::vector<Entry> all = all_entries();
  std::vector<std::size_t> mutants;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_original()) mutants.push_back(i);
  }
  const std::size_t known = mutants.size();
  std::shuffle(mutants.begin(), mutants.end(), std::mt19937(options_.seed + draw));
  mutants.resize(std::min(options_.count, known));
  // Those of a config stay together: fewer shares need its original.
  std::sort(mutants.begin(), mutants.end());
  const auto begin_of = [&](std::size_t share) { return share * mutants.size() / options_.shares; };
  std::vector<Entry> mine;
  std::vector<Entry> changed;
  for (std::size_t i = begin_of(GetParam().number); i < begin_of(GetParam().number + 1); ++i) {
    changed.push_back(std::move(all[mutants[i]]));
  }
  std::set<std::string> originals;
  for (const Entry& entry : changed) originals.insert(entry.original);
  for (Entry& entry : all) {
    if (entry.is_original() && originals.count(entry.original) > 0)
      mine.push_back(std::move(entry));
  }
  std::printf("%s: %zu of %zu mutants\n", subject().kernel.c_str(), changed.size(), known);
  std::move(changed.begin(), changed.end(), std::back_inserter(mine));
  return mine;
}

void MutantsTest::compile(std::vector<Entry>& entries) {
  std::vector<Source> sources;
  for (const Entry& entry : entries) sources.push_back(entry.mutant.source);
  std::vector<CompileReport> reports = bench_->compile(sources);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].build = std::move(reports[i]);
}

template <typename Alive, typename Take>
void MutantsTest::run(std::vector<Entry>& entries, const std::string& problem_text,
                      std::uint64_t seed, MutantBench::Pace pace, const Alive& alive,
                      const Take& take) {
  const Problem problem = Problem::parse(spec_, problem_text);
  std::vector<MutantBench::Job> jobs;
  std::vector<Entry*> running;
  for (Entry& entry : entries) {
    if (!alive(entry)) continue;
    const auto plan = Setting(spec_, problem, bench_->device()).plan(entry.config);
    // Another source would be another kernel than the one that was changed.
    const bool same =
        plan &&
        renderer_.render({spec_, problem, bench_->device()}, entry.config).text == entry.original;
    if (!same) continue;
    jobs.push_back({entry.config, &entry.build.binary});
    running.push_back(&entry);
  }
  if (jobs.empty()) return;
  const double extra_operations = seed < kJudges ? TuneOptions().extra_operations : 0;
  const std::vector<TrialReport> reports =
      bench_->run(problem_job(problem_text, seed, extra_operations), jobs, pace);
  for (std::size_t i = 0; i < running.size(); ++i) take(*running[i], reports[i]);
}

/// Every share draws other inputs and problems, which the originals must pass as well.
void MutantsTest::check(std::vector<Entry>& entries) {
  const auto keep = [](Entry& entry, const TrialReport& report) { entry.report = report; };
  for (const std::string& problem : subject().problems) {
    for (const bool originals : {true, false}) {
      const auto alive = [&](const Entry& entry) {
        return entry.problem == problem && !entry.build.failure && entry.is_original() == originals;
      };
      const auto pace = originals ? MutantBench::Pace::unknown : MutantBench::Pace::known;
      run(entries, problem, kTuned + GetParam().number, pace, alive, keep);
    }
  }
}

void MutantsTest::judge(std::vector<Entry>& entries) {
  const auto take = [](const std::string& problem, Entry& entry, const TrialReport& report) {
    if (!report.failure) return;
    const bool hung = report.failure->outcome == Outcome::run_timeout;
    (hung ? entry.hung_on : entry.wrong_on) = problem + ": " + report.failure->message;
  };
  for (const std::string& problem : subject().problems) {
    for (std::size_t judge = 0; judge < subject().judges.size(); ++judge) {
      const std::string text = judge_problem(problem, subject().judges[judge]);
      const auto alive = [&](const Entry& entry) {
        return entry.problem == problem && !entry.is_original() && entry.passed() &&
               entry.wrong_on.empty() && entry.hung_on.empty();
      };
      run(entries, text, kJudges + judge, MutantBench::Pace::similar, alive,
          [&](Entry& entry, const TrialReport& report) { take(text, entry, report); });
    }
  }
}

/// What became of each; counts under the names that are printed.
std::map<std::string, int> MutantsTest::tally(const std::vector<Entry>& entries) {
  std::map<std::string, int> counts;
  for (const Entry& entry : entries) {
    const std::string name = entry.problem + ", " + entry.config.text() + ", " + entry.mutant.kind +
                             ", " + entry.mutant.what;
    const std::optional<Failure>& failure =
        entry.build.failure ? entry.build.failure : entry.report->failure;
    if (entry.is_original()) {
      ++counts["originals"];
      EXPECT_FALSE(failure) << name << ": " << failure->message;
      continue;
    }
    ++counts["mutants"];
    ++counts[failure ? std::string(name_of(failure->outcome)) : "passed the checks"];
    if (!entry.hung_on.empty()) ++counts["passed and hung"];
    if (!entry.wrong_on.empty()) ++counts["passed and wrong"];
    EXPECT_EQ(entry.wrong_on, "") << name;
    if (!entry.hung_on.empty())
      std::printf("  hung on %s: %s\n", entry.hung_on.c_str(), name.c_str());
  }
  return counts;
}

TEST_P(MutantsTest, ThatAreWrongAreNeverOk) {
  if (options_.count == 0)
    GTEST_SKIP() << "no mutants are asked for: set KILN_MUTANTS to a number, or KILN_SOAK=1";
  if (!on_cpu()) ::setenv(kRealWorkersVariable, "1", /*replace=*/1);
  if (!has_device()) GTEST_SKIP() << "no " << options_.backend << " device here";
  // One thread, so that which race is lost does not depend on the machine; and the code that the
  // compile worker made for blocks of any size, instead of more for the size of each launch.
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", /*replace=*/1);
  ::setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", /*replace=*/1);
  bench_.emplace(options_.backend);
  // Of a few mutants all may be harmless: others are drawn then.
  std::map<std::string, int> counts;
  for (unsigned draw = 0; draw < kMostDraws && counts["wrong_result"] == 0; ++draw) {
    std::vector<Entry> entries = chosen_entries(draw);
    compile(entries);
    check(entries);
    judge(entries);
    counts = tally(entries);
    for (const auto& [what, number] : counts) std::printf("  %-20s %d\n", what.c_str(), number);
  }
  EXPECT_GT(counts["wrong_result"], 0) << "no mutant was caught: nothing was shown";
}

INSTANTIATE_TEST_SUITE_P(OfKernels, MutantsTest, testing::ValuesIn(shares()), [](const auto& test) {
  const std::string& kernel = test.param.subject.kernel;
  return kernel + std::to_string(test.index);
});

// Mutants are mistakes of the kernels, not of the language: a vendor's compiler takes them.

/// The first mutant of each kind, of the variants that a problem has.
std::map<std::string, Mutant> one_of_each_kind(const Subject& subject, const DeviceInfo& device) {
  const KernelSpec spec = KernelLibrary().load(subject.kernel);
  const Renderer renderer(spec);
  const Problem problem = Problem::parse(spec, subject.problems.front());
  std::map<std::string, Mutant> mutants;
  for (const Variant& variant : spec.variants) {
    const Config config = Setting(spec, problem, device).default_config(variant);
    if (!Setting(spec, problem, device).plan(config)) continue;
    for (Mutant& mutant : mutants_of(renderer.render({spec, problem, device}, config)))
      mutants.emplace(mutant.kind, std::move(mutant));
  }
  return mutants;
}

TEST(MutatorTest, WritesWhatNvrtcCompiles) {
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_backend("cuda")->open_compiler(device);
  } catch (const DeviceError& error) {
    KILN_SKIP_UNLESS_REQUIRED("nvrtc", error.what());
  }
  for (const Subject& subject : subjects("cuda")) {
    const std::map<std::string, Mutant> mutants = one_of_each_kind(subject, device);
    for (const std::string kind :
         {"bound", "barrier", "race", "stale", "nan", "input", "outside", "constant"}) {
      const auto found = mutants.find(kind);
      if (found == mutants.end()) continue;
      const Result<Binary> binary = compiler->compile(found->second.source);
      EXPECT_TRUE(binary) << subject.kernel << ", " << kind << ", " << found->second.what << ": "
                          << binary.failure().message;
    }
    for (const std::string kind : {"bound", "stale", "input", "outside"})
      EXPECT_EQ(mutants.count(kind), 1U) << subject.kernel << " has no mutant of the kind " << kind;
  }
}

}  // namespace
}  // namespace kiln
