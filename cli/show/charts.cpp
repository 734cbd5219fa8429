// Small pictures in text: how a search came down, and how the times of its configs are spread.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/show/show.hpp"
#include "cli/units.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kBars = 32;

/// Times of the trials that were ok, in the order in which they were tried.
std::vector<double> times_of(const std::vector<TrialRecord>& trials) {
  std::vector<double> times;
  for (const TrialRecord& row : trials) {
    if (row.trial.ok() && row.trial.time_ns > 0 && std::isfinite(row.trial.time_ns))
      times.push_back(row.trial.time_ns);
  }
  return times;
}

/// The least time known at the end of each of at most kBars equal parts of the search.
std::vector<double> best_so_far_in_parts(const std::vector<double>& times) {
  const std::size_t parts = std::min(kBars, times.size());
  std::vector<double> best;
  double least = times.front();
  std::size_t next = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t end = (part + 1) * times.size() / parts;
    for (; next < end; ++next) least = std::min(least, times[next]);
    best.push_back(least);
  }
  return best;
}

/// How many times fall into each of kBars parts between the least and the greatest; the parts are
/// equal factors, since times of configs spread over powers of ten.
std::vector<double> histogram(const std::vector<double>& times, double least, double most) {
  std::vector<double> counts(kBars, 0);
  const double span = std::log(most / least);
  for (const double time : times) {
    const double place = span > 0 ? std::log(time / least) / span : 0;
    const auto bin = static_cast<std::size_t>(place * static_cast<double>(kBars));
    counts[std::min(bin, kBars - 1)] += 1;
  }
  return counts;
}

}  // namespace

std::string bars(const std::vector<double>& values, const Screen& screen) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kMostBlock = 7;
  constexpr double kMostDigit = 9;
  const double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string text;
  for (const double value : values) {
    const double share = most > 0 ? value / most : 0;
    if (value <= 0) {
      text += screen.blocks ? " " : ".";
    } else if (screen.blocks) {
      text += kBlocks[static_cast<std::size_t>(std::lround(share * kMostBlock))];
    } else {
      text += std::to_string(std::lround(share * kMostDigit));
    }
  }
  return text;
}

std::string charts(const std::vector<TrialRecord>& trials, const Screen& screen) {
  const std::vector<double> times = times_of(trials);
  if (times.size() < 2) return "";
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return fmt::format(
      "best so far  {}  {} to {} over {}\n"
      "times        {}  {} to {}\n",
      bars(best_so_far_in_parts(times), screen), pretty_time(times.front()), pretty_time(*least),
      counted(static_cast<std::int64_t>(times.size()), "trial"),
      bars(histogram(times, *least, *most), screen), pretty_time(*least), pretty_time(*most));
}

}  // namespace kiln::cli
