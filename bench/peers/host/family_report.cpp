// Writes the table and the summary that compare a library's first way with its fastest.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/family_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "bench/peers/host/table.hpp"

namespace kiln::peers {
namespace {

/// first_and_best() puts the two rows of a family side by side: the first before the best.
struct Pair {
  const Row* first = nullptr;
  const Row* best = nullptr;
};

std::vector<Pair> pairs_of(const std::vector<Row>& rows) {
  std::vector<Pair> pairs;
  for (const Row& row : rows) {
    if (row.role == Role::first) pairs.push_back({&row, nullptr});
    if (row.role == Role::best) pairs.back().best = &row;
  }
  return pairs;
}

std::string error_text(const std::optional<ProductError>& error) {
  return error ? fmt::format("{:.1e}", error->relative) : "-";
}

std::vector<std::string> pair_cells(const Pair& pair) {
  const Row& first = *pair.first;
  const Row& best = *pair.best;
  const double seconds = first.kiln_us * 1e-6;
  return {fmt::format("{}", first.number),
          first.problem,
          first.choice->family,
          name_of(first.cache),
          fmt::format("{:.2f}", first.kiln_us),
          fmt::format("{:.1f}", first.flops / seconds * 1e-12),
          fmt::format("{:.2f}", first.bytes / seconds * 1e-12),
          fmt::format("{:.2f}", first.peer_us),
          fmt::format("{:.2f}x", first.speed_up()),
          fmt::format("{:.2f}", best.peer_us),
          fmt::format("{}/{}", best.choice->index + 1, best.family_us.size()),
          fmt::format("{:.2f}x", best.speed_up()),
          error_text(first.kiln_error),
          error_text(first.peer_error),
          error_text(best.peer_error),
          first.grade};
}

/// What one problem counts with in the means.
struct Counted {
  double over_first = 0;
  double over_best = 0;
};

std::string summary_line(CacheMode cache, const std::map<int, Counted>& problems) {
  double first = 0;
  double best = 0;
  int lowest = problems.begin()->first;
  for (const auto& [number, counted] : problems) {
    first += std::log(counted.over_first);
    best += std::log(counted.over_best);
    if (counted.over_best < problems.at(lowest).over_best) lowest = number;
  }
  const auto count = static_cast<double>(problems.size());
  return fmt::format(
      "{}: geometric mean over {} problems {:.3f}x the first, {:.3f}x the best; lowest {:.3f}x the "
      "best (problem {})\n",
      name_of(cache), problems.size(), std::exp(first / count), std::exp(best / count),
      problems.at(lowest).over_best, lowest);
}

}  // namespace

std::string family_table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const Pair& pair : pairs_of(rows)) cells.push_back(pair_cells(pair));
  if (cells.empty()) return "";
  return aligned({{"no.", true},
                  {"problem"},
                  {"library"},
                  {"cache"},
                  {"Kiln us", true},
                  {"TFLOP/s", true},
                  {"TB/s", true},
                  {"first us", true},
                  {"over first", true},
                  {"best us", true},
                  {"which", true},
                  {"over best", true},
                  {"Kiln error", true},
                  {"first error", true},
                  {"best error", true},
                  {"match"}},
                 cells);
}

std::string family_summary(const std::vector<Row>& rows) {
  std::map<CacheMode, std::map<int, Counted>> counted;
  for (const Pair& pair : pairs_of(rows)) {
    const auto [at, is_new] = counted[pair.first->cache].try_emplace(
        pair.first->number, Counted{pair.first->speed_up(), pair.best->speed_up()});
    if (!is_new) at->second.over_best = std::min(at->second.over_best, pair.best->speed_up());
  }
  std::string text;
  for (const auto& [cache, problems] : counted) text += summary_line(cache, problems);
  return text;
}

}  // namespace kiln::peers
