// SPDX-License-Identifier: Apache-2.0
#include "cli/finals.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/units.hpp"
#include "core/metrics.hpp"
#include "core/statistics.hpp"

namespace kiln::cli {
namespace {

// Beyond these, a reader who compares two times by eye is misled.
constexpr double kNotableDisagreement = 1.05;
constexpr double kNotableError = 0.02;

bool has_default(const BestRecord& best) {
  return best.objective == kTimeObjective ? best.default_time_ns > 0
                                          : best.default_value.has_value();
}

/// How far the time of a trial is from that in the finals, as a factor; 1: not known.
double disagreement(const Finalist& finalist, const std::vector<TrialRecord>& trials) {
  const double in_finals = median(finalist.ns);
  const auto trial = std::find_if(trials.begin(), trials.end(), [&](const TrialRecord& each) {
    return each.sequence == finalist.sequence && each.trial.config.text() == finalist.config;
  });
  if (trial == trials.end() || trial->trial.time_ns <= 0 || in_finals <= 0) return 1;
  const double ratio = trial->trial.time_ns / in_finals;
  return std::max(ratio, 1 / ratio);
}

/// Half the width of the widest interval of a finalist against the first one, as a share: what two
/// times of the finals may differ by without meaning anything.
double error_of(const std::vector<Finalist>& finalists) {
  double most = 0;
  for (std::size_t i = 1; i < finalists.size(); ++i) {
    const RatioInterval ratio = ratio_interval(finalists[i].ns, finalists.front().ns);
    if (ratio.middle > 0 && std::isfinite(ratio.high))
      most = std::max(most, (ratio.high - ratio.low) / 2 / ratio.middle);
  }
  return most;
}

}  // namespace

std::optional<RatioInterval> median_interval(const std::vector<double>& ns) {
  const RatioInterval interval = ratio_interval(ns, std::vector<double>(ns.size(), 1.0));
  return std::isfinite(interval.high) ? std::optional(interval) : std::nullopt;
}

std::string gain_text(const BestRecord& best, const std::vector<Finalist>& finalists) {
  if (best.default_time_ns <= 0) return "";
  const auto winner = std::ranges::find(finalists, best.config.text(), &Finalist::config);
  const auto fallback = std::ranges::find(finalists, 1, &Finalist::sequence);
  if (winner != finalists.end() && fallback != finalists.end() && winner != fallback) {
    const RatioInterval gain = ratio_interval(fallback->ns, winner->ns);
    if (gain.low > 0) {
      return fmt::format("{:.2f}x over the default config ({:.2f}x to {:.2f}x, 99% sure)",
                         gain.middle, gain.low, gain.high);
    }
  }
  return pretty_speedup(best.default_time_ns, best.time_ns) + " over the default config";
}

std::string verdict_text(const BestRecord& best) {
  if (best.published_at.empty()) return "so far";
  if (best.verdict != Verdict::none && !has_default(best)) return "no default";
  return std::string(name_of(best.verdict));
}

std::string verdict_text(const BestRecord& best, const Screen& screen) {
  const bool is_final = !best.published_at.empty();
  Style style = Style::doubtful;
  if (is_final && best.verdict == Verdict::better) style = Style::good;
  if (is_final && best.verdict == Verdict::none) style = Style::bad;
  return styled(verdict_text(best), style, screen);
}

std::string noise_remark(const std::vector<Finalist>& finalists,
                         const std::vector<TrialRecord>& trials) {
  double most = 1;
  for (const Finalist& finalist : finalists) most = std::max(most, disagreement(finalist, trials));
  const double error = error_of(finalists);
  if (most < kNotableDisagreement && error < kNotableError) return "";
  std::string text = "noise: ";
  if (most >= kNotableDisagreement) {
    text += fmt::format(
        "for the same config search and finals differ by up to {:.2f}x, so compare only times of "
        "the finals",
        most);
  }
  if (error >= kNotableError) {
    if (most >= kNotableDisagreement) text += "; ";
    text += fmt::format("differences under {:.0f}% mean nothing there", std::ceil(100 * error));
  }
  return text + "; times are more precise on an idle machine";
}

}  // namespace kiln::cli
