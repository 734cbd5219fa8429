// The race as a whole on a noisy device of paper: what it costs, and what it lets through to the
// finals. The noise is that of short kernels on a GPU: 1.5% a sample, ticks of 32 ns, a slow drift
// and now and then a wild sample.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.hpp"
#include "paper_device.hpp"
#include "tuner/device/measure.hpp"
#include "tuner/rules/finalists.hpp"
#include "tuner/rules/verdict.hpp"

namespace kiln {
namespace {

class NoisyDevice final : public PaperDevice {
 public:
  /// Entries are positions in `true_ns`.
  NoisyDevice(std::vector<double> true_ns, unsigned seed)
      : true_ns_(std::move(true_ns)), engine_(seed) {}
  double time_of(const Launch& launch) override {
    drift_ = 0.98 * drift_ + 0.002 * spread_(engine_);
    const double wild = share_(engine_) < 0.01 ? 1.5 : 1;
    const double ns = true_ns_[std::stoul(std::string(launch.entry))] * (1 + drift_) *
                      (1 + 0.015 * spread_(engine_)) * wild;
    return std::max(1.0, std::round(ns / kTick)) * kTick / 2;  // a cold run takes twice that
  }

 private:
  static constexpr double kTick = 32;
  std::vector<double> true_ns_;
  std::mt19937 engine_;
  std::normal_distribution<double> spread_{0, 1};
  std::uniform_real_distribution<double> share_{0, 1};
  double drift_ = 0;
};

/// One session without a search: configs in a given order, measured as the device worker does it.
class Race {
 public:
  explicit Race(std::vector<double> true_ns, unsigned seed)
      : true_ns_(std::move(true_ns)), device_(true_ns_, seed), measurer_(device_, options()) {}

  void run() {
    double incumbent_ns = 0;
    for (std::size_t i = 0; i < true_ns_.size(); ++i) {
      const Samples samples = samples_of(i, incumbent_ns);
      TrialRecord record;
      record.sequence = static_cast<std::int64_t>(i) + 1;
      record.trial.config.variant = std::to_string(i);
      record.trial.outcome = Outcome::ok;
      record.trial.samples = samples;
      record.trial.time_ns = median(samples.ns);
      if (incumbent_ns == 0 || record.trial.time_ns < incumbent_ns)
        incumbent_ns = record.trial.time_ns;
      trials_.push_back(std::move(record));
    }
  }

  /// Runs of all kinds over 32 plain runs of each config, by time on the device.
  [[nodiscard]] double cost() const { return spent_ns_ / plain_ns_; }
  [[nodiscard]] double runs_per_config() const {
    return static_cast<double>(device_.runs + checks_) / static_cast<double>(true_ns_.size());
  }

  /// True time of the fastest finalist over that of the fastest config. The first config is the
  /// default.
  [[nodiscard]] double best_in_finals() {
    const Config usual{"0", {}};
    std::vector<const TrialRecord*> contenders = choose_contenders(trials_, usual, kMaxContenders);
    std::vector<const TrialRecord*> ranked;
    for (const std::size_t i : rank_rounds(rounds_of(contenders, kSemiFinals)))
      ranked.push_back(contenders[i]);
    finalists_ = choose_finalists(trials_, usual, ranked);
    double best = true_ns_.front();
    for (const TrialRecord* record : finalists_.trials) best = std::min(best, true_of(*record));
    return best / *std::min_element(true_ns_.begin(), true_ns_.end());
  }
  /// After best_in_finals().
  [[nodiscard]] FinalsVerdict verdict() {
    return judge_finals(rounds_of(finalists_.trials, FinalsOptions()), finalists_.default_index);
  }
  /// True time of the winner over that of the fastest config.
  [[nodiscard]] double slowdown_of(const FinalsVerdict& verdict) const {
    return true_of(*finalists_.trials[verdict.winner]) /
           *std::min_element(true_ns_.begin(), true_ns_.end());
  }

 private:
  [[nodiscard]] double true_of(const TrialRecord& record) const {
    return true_ns_[static_cast<std::size_t>(record.sequence - 1)];
  }
  Samples samples_of(std::size_t config, double incumbent_ns) {
    const int before = device_.runs;
    const LaunchSequence sequence = paper_sequence(std::to_string(config), module_);
    // The first check found cold code; the last one is spared who was dropped.
    Result<Measurer::FirstLook> look =
        measurer_.first_look(sequence, 1.2 * true_ns_[config], incumbent_ns);
    Samples samples =
        look->hopeless ? look->samples : *measurer_.measure(sequence, *look, incumbent_ns);
    const int checks = samples.dropped_early ? 1 : 2;
    checks_ += checks;
    spent_ns_ += true_ns_[config] * (device_.runs - before + checks);
    plain_ns_ += true_ns_[config] * 32;
    return samples;
  }
  std::vector<std::vector<double>> rounds_of(const std::vector<const TrialRecord*>& configs,
                                             const FinalsOptions& rounds) {
    std::vector<LaunchSequence> sequences;
    std::vector<const DeviceWork*> pointers;
    for (const TrialRecord* record : configs)
      sequences.push_back(paper_sequence(record->trial.config.variant, module_));
    for (const LaunchSequence& sequence : sequences) pointers.push_back(&sequence);
    return measurer_.measure_in_turn(pointers, rounds)->ns;
  }
  [[nodiscard]] static MeasureOptions options() {
    MeasureOptions made;
    made.warm_up_ns = 0;
    return made;
  }

  std::vector<double> true_ns_;
  PaperModule module_;
  NoisyDevice device_;
  Measurer measurer_;
  std::vector<TrialRecord> trials_;
  Finalists finalists_;
  int checks_ = 0;
  double spent_ns_ = 0;
  double plain_ns_ = 0;
};

/// As a search meets them: slow ones first and many close to the best in the end. The default
/// is 2.5 times slower than the best.
std::vector<double> times_of_a_search(double best_ns, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<double> ns = {2.5 * best_ns};
  constexpr int kConfigs = 300;
  for (int i = 1; i < kConfigs; ++i) {
    const double reach = 4.0 * (1 - static_cast<double>(i) / kConfigs) + 0.6;
    ns.push_back(best_ns * (1 + reach * share(engine) * share(engine)));
  }
  return ns;
}

TEST(Race, CostsATenthOf32RunsAndBringsTheBestToTheFinals) {
  double cost = 0;
  double runs = 0;
  int close = 0;
  int won = 0;
  constexpr int kSessions = 30;
  for (unsigned seed = 0; seed < kSessions; ++seed) {
    Race race(times_of_a_search(8000, seed), seed);
    race.run();
    cost += race.cost() / kSessions;
    runs += race.runs_per_config() / kSessions;
    close += race.best_in_finals() <= 1.01 ? 1 : 0;
    won += race.slowdown_of(race.verdict()) <= 1.01 ? 1 : 0;
  }
  RecordProperty("cost", std::to_string(cost));
  RecordProperty("runs", std::to_string(runs));
  RecordProperty("close", close);
  RecordProperty("won", won);
  EXPECT_LT(cost, 0.10);
  EXPECT_GE(close, 27) << "of 30 sessions had a config within 1% of the best in their finals";
  EXPECT_GE(won, 27) << "of 30 published one";
}

TEST(Race, CopiesOfOneConfigAreTies) {
  int better = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Race race(std::vector<double>(30, 8000), seed);
    race.run();
    EXPECT_EQ(race.best_in_finals(), 1);
    better += race.verdict().verdict == Verdict::better ? 1 : 0;
  }
  EXPECT_LE(better, 1);
}

}  // namespace
}  // namespace kiln
