// Wrong results never win: kernels with one mistake each go through the real checks on PoCL.
//
// A mutant counts as wrong when it fails on any problem of an independent list: other sizes and
// other inputs than the checks themselves use. A mutant that the checks let pass and that is right
// on that whole list is taken for equivalent (a bound that a later one makes up for, a constant
// that only changes the speed). What must not exist is one that passes the checks and is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <random>
#include <set>

#include "endurance_fixture.hpp"
#include "mutant_bench.hpp"
#include "mutator.hpp"
#include "templates/renderer.hpp"
#include "tuner/devices.hpp"

namespace kiln {
namespace {

struct Subject {
  std::string kernel;
  std::vector<std::string> problems;  ///< that are tuned: sizes without tails, where faults hide
  std::vector<std::string> judges;    ///< sizes that the verdict "equivalent" rests on
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kSubjects = {
      {"reduce",
       {"n=8192", "n=8192 dtype=i32", "n=8192 op=max", "n=8192 op=dot"},
       {"n=1", "n=2", "n=255", "n=257", "n=1000", "n=4099", "n=8191", "n=65537", "n=100003"}},
      {"reduce",
       {"n=64 results=96", "n=48 results=64 axis=first op=min"},
       {"n=1 results=5", "n=3 results=1000", "n=1000 results=3", "n=257 results=129",
        "n=40 results=2049", "n=4099 results=2", "n=31 results=32"}},
      {"arg_reduce",
       {"n=8192", "n=8192 dtype=i32 op=max", "n=1024 results=8", "n=1021 results=8 dtype=f16"},
       {"n=1", "n=2", "n=255", "n=257", "n=1000", "n=4099", "n=8191", "n=20011"}},
      {"histogram",
       {"n=8192", "n=8192 dtype=f32", "n=8192 dtype=i32 bins=64"},
       {"n=1", "n=3", "n=255", "n=321", "n=4099", "n=50000", "n=65537", "n=100001"}},
      {"transpose",
       {"rows=128 cols=64", "rows=64 cols=64 batch=2 dtype=u8", "rows=64 cols=64 dtype=f64"},
       {"rows=1 cols=3", "rows=67 cols=129", "rows=96 cols=160", "rows=33 cols=31",
        "rows=1 cols=1000", "rows=1000 cols=1", "rows=128 cols=129", "rows=257 cols=64 batch=3",
        "rows=300 cols=500 batch=1"}},
      {"matmul",
       {"m=64 n=64 k=64", "m=64 n=64 k=64 trans_a=true", "m=64 n=64 k=64 beta_zero=false"},
       {"m=1 n=5 k=3", "m=67 n=35 k=51", "m=96 n=80 k=48", "m=33 n=129 k=17", "m=1 n=300 k=200",
        "m=200 n=1 k=77", "m=129 n=65 k=1", "m=260 n=130 k=5", "m=5 n=7 k=500"}},
      {"convolution",
       {"h=32 w=32 fh=3", "h=32 w=32 fh=3 c=4 k=4", "h=32 w=32 fh=5 fw=3 stride=2"},
       {"h=9 w=7", "h=41 w=37", "h=48 w=80", "h=31 w=65", "h=3 w=100", "h=129 w=17",
        "h=16 w=20 n=2 c=3 k=5", "h=33 w=18 n=1 c=6 k=2 groups=2"}},
  };
  return kSubjects;
}

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

/// A share of a kernel's mutants: every kShares-th.
struct Share {
  Subject subject;
  std::size_t number;
};
constexpr std::size_t kShares = 2;
constexpr std::uint64_t kTuned = 1;  ///< seed of the tuned problems

void PrintTo(const Share& share, std::ostream* stream) { *stream << share.subject.kernel; }

std::vector<Share> shares() {
  std::vector<Share> all;
  for (const Subject& subject : subjects())
    for (std::size_t number = 0; number < kShares; ++number) all.push_back({subject, number});
  return all;
}

class MutantsTest : public testing::TestWithParam<Share> {
 protected:
  [[nodiscard]] const Subject& subject() const { return GetParam().subject; }

  static bool has_opencl() {
    for (const BackendDevices& backend : list_devices())
      if (backend.backend == "opencl" && !backend.devices.empty()) return true;
    return false;
  }

  struct Entry {
    std::string problem;
    Config config;
    std::string original;  ///< text of the source without the mistake
    Mutant mutant;
    CompileReport build;
    std::optional<TrialReport> report;
    std::string wrong_on;  ///< a problem of the judges
  };

  /// `extra_operations`: the judges know sizes of their own.
  ProblemJob problem_job(const std::string& problem, std::uint64_t seed,
                         double extra_operations) const {
    MeasureOptions measure;
    measure.cold_cache = false;
    measure.warm_up_ns = 0;
    measure.stop.min_samples = measure.stop.max_samples = 2;
    measure.stop.max_ns = 1e6;
    return {spec_.path, spec_.text, spec_.files, Problem::parse(spec_, problem).fields(),
            seed,       measure,    3e7,         extra_operations};
  }

  /// All mutants of the default configs of all variants, and the originals first.
  std::vector<Entry> all_entries();
  std::vector<Entry> chosen_entries(std::size_t count);
  void compile(std::vector<Entry>& entries);
  /// Runs what is alive on `problem_text(entry)`; `take` gets each report.
  template <typename Alive, typename Take>
  void run(std::vector<Entry>& entries, const std::string& problem, std::uint64_t seed,
           const Alive& alive, const Take& take);

  KernelSpec spec_ = KernelLibrary().load(subject().kernel);
  Renderer renderer_{spec_};
  std::optional<MutantBench> bench_;
};

std::vector<MutantsTest::Entry> MutantsTest::all_entries() {
  std::vector<Entry> entries;
  for (const std::string& text : subject().problems) {
    const Problem problem = Problem::parse(spec_, text);
    for (const Variant& variant : spec_.variants) {
      const Config config = default_config(variant, spec_, problem, bench_->device());
      if (!make_launch_plan(spec_, config, problem, bench_->device())) continue;
      const Source source = renderer_.render(config, problem, bench_->device());
      entries.push_back({text, config, source.text, {"none", "the original", source}, {}, {}, {}});
      for (Mutant& mutant : mutants_of(source))
        entries.push_back({text, config, source.text, std::move(mutant), {}, {}, {}});
    }
  }
  return entries;
}

/// This share of `count` mutants, drawn from all, and the originals of their configs in front.
std::vector<MutantsTest::Entry> MutantsTest::chosen_entries(std::size_t count) {
  std::vector<Entry> all = all_entries();
  const auto is_original = [](const Entry& entry) { return entry.mutant.kind == "none"; };
  const auto first = std::stable_partition(all.begin(), all.end(), is_original);
  std::shuffle(first, all.end(), std::mt19937(20260101));
  const auto known = static_cast<std::size_t>(all.end() - first);
  std::vector<Entry> mine;
  std::set<std::string> changed;
  for (std::size_t i = GetParam().number; i < std::min(count, known); i += kShares) {
    mine.push_back(std::move(first[static_cast<std::ptrdiff_t>(i)]));
    changed.insert(mine.back().original);
  }
  const auto is_needed = [&](const Entry& entry) { return changed.count(entry.original) > 0; };
  const auto needed = std::stable_partition(all.begin(), first, is_needed);
  mine.insert(mine.begin(), std::make_move_iterator(all.begin()), std::make_move_iterator(needed));
  std::printf("%s: %zu of %zu mutants\n", subject().kernel.c_str(),
              mine.size() - static_cast<std::size_t>(needed - all.begin()), known);
  return mine;
}

void MutantsTest::compile(std::vector<Entry>& entries) {
  std::vector<Source> sources;
  for (const Entry& entry : entries) {
    sources.push_back(entry.mutant.source);
    sources.back().options.emplace_back("-cl-opt-disable");  // faster to compile, and as wrong
  }
  std::vector<CompileReport> reports = bench_->compile(sources);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].build = std::move(reports[i]);
}

template <typename Alive, typename Take>
void MutantsTest::run(std::vector<Entry>& entries, const std::string& problem_text,
                      std::uint64_t seed, const Alive& alive, const Take& take) {
  const Problem problem = Problem::parse(spec_, problem_text);
  std::vector<MutantBench::Job> jobs;
  std::vector<Entry*> running;
  for (Entry& entry : entries) {
    if (!alive(entry)) continue;
    const auto plan = make_launch_plan(spec_, entry.config, problem, bench_->device());
    // Another source would be another kernel than the one that was changed.
    const bool same =
        plan && renderer_.render(entry.config, problem, bench_->device()).text == entry.original;
    if (!same) continue;
    jobs.push_back({entry.config, *plan, &entry.build.binary});
    running.push_back(&entry);
  }
  if (jobs.empty()) return;
  const double extra_operations = seed == kTuned ? TuneOptions().extra_operations : 0;
  const std::vector<TrialReport> reports =
      bench_->run(problem_job(problem_text, seed, extra_operations), jobs);
  for (std::size_t i = 0; i < running.size(); ++i) take(*running[i], reports[i]);
}

TEST_P(MutantsTest, ThatAreWrongAreNeverOk) {
  if (!has_opencl()) GTEST_SKIP() << "no OpenCL device here";
  const char* asked = std::getenv("KILN_MUTANTS");
  const int count = asked != nullptr ? std::stoi(asked) : soak_size(0, 2500);
  if (count == 0) GTEST_SKIP() << "takes minutes: set KILN_MUTANTS to a number, or KILN_SOAK=1";
  // One thread, so that which race is lost does not depend on the machine.
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", /*replace=*/1);
  bench_.emplace();
  std::vector<Entry> entries = chosen_entries(static_cast<std::size_t>(count));
  compile(entries);

  for (const std::string& problem : subject().problems) {
    const auto alive = [&](const Entry& entry) {
      return entry.problem == problem && !entry.build.failure;
    };
    run(entries, problem, kTuned, alive,
        [](Entry& entry, const TrialReport& report) { entry.report = report; });
  }
  const auto passed = [](const Entry& entry) { return entry.report && !entry.report->failure; };
  for (const std::string& problem : subject().problems) {
    for (std::size_t judge = 0; judge < subject().judges.size(); ++judge) {
      const std::string text = judge_problem(problem, subject().judges[judge]);
      const auto alive = [&](const Entry& entry) {
        return entry.problem == problem && entry.mutant.kind != "none" && entry.wrong_on.empty() &&
               passed(entry);
      };
      run(entries, text, 1000 + judge, alive, [&](Entry& entry, const TrialReport& report) {
        if (report.failure && report.failure->outcome != Outcome::run_timeout)
          entry.wrong_on = text + ": " + report.failure->message;
      });
    }
  }

  std::map<std::string, int> tally;
  for (const Entry& entry : entries) {
    const std::string name = entry.config.text() + ", " + entry.mutant.what;
    if (entry.mutant.kind == "none") {
      // The deadlines are short, for the sake of mutants that hang.
      const bool slow = entry.report && entry.report->failure &&
                        entry.report->failure->outcome == Outcome::run_timeout;
      ++tally[slow ? "originals too slow" : "originals"];
      EXPECT_TRUE(slow || passed(entry))
          << entry.problem << ", " << name << ": "
          << (entry.report ? entry.report->failure->message : entry.build.failure->message);
      continue;
    }
    ++tally["mutants"];
    const std::optional<Failure>& failure =
        entry.build.failure ? entry.build.failure : entry.report->failure;
    ++tally[failure ? std::string(name_of(failure->outcome)) : "passed the checks"];
    if (!entry.wrong_on.empty()) ++tally["passed and wrong"];
    EXPECT_EQ(entry.wrong_on, "") << entry.problem << ", " << entry.mutant.kind << ", " << name;
  }
  for (const auto& [what, number] : tally) std::printf("  %-20s %d\n", what.c_str(), number);
  EXPECT_GT(tally["originals"], 0) << "every original was too slow: nothing was shown";
  EXPECT_GT(tally["wrong_result"], 0) << "no mutant was caught: nothing was shown";
}

INSTANTIATE_TEST_SUITE_P(OfKernels, MutantsTest, testing::ValuesIn(shares()), [](const auto& test) {
  const std::string& kernel = test.param.subject.kernel;
  return kernel + std::to_string(test.index);
});

}  // namespace
}  // namespace kiln
