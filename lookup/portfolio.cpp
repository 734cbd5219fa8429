// SPDX-License-Identifier: Apache-2.0
#include "lookup/portfolio.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <queue>
#include <unordered_map>

namespace kiln {
namespace {

/// Bound of the exact search, in words of 64 problems that are looked at: less than a second.
constexpr std::int64_t kMaxWork = 300'000'000;

/// A set of problems.
class ProblemSet {
 public:
  explicit ProblemSet(std::size_t problems) : words_((problems + 63) / 64, 0) {}

  void insert(std::size_t problem) { words_[problem / 64] |= bit(problem); }
  [[nodiscard]] bool contains(std::size_t problem) const {
    return (words_[problem / 64] & bit(problem)) != 0;
  }
  void add(const ProblemSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  [[nodiscard]] bool shares(const ProblemSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  /// How many of them are not in `done`.
  [[nodiscard]] std::size_t count_without(const ProblemSet& done) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      count += static_cast<std::size_t>(std::popcount(words_[i] & ~done.words_[i]));
    }
    return count;
  }
  [[nodiscard]] std::size_t words() const { return words_.size(); }
  friend bool operator<(const ProblemSet& a, const ProblemSet& b) {
    return std::lexicographical_compare(a.words_.begin(), a.words_.end(), b.words_.begin(),
                                        b.words_.end());
  }

 private:
  [[nodiscard]] static std::uint64_t bit(std::size_t problem) {
    return std::uint64_t{1} << (problem % 64);
  }
  std::vector<std::uint64_t> words_;
};

struct Contender {
  std::string config;
  ProblemSet covers;
};

using Chosen = std::vector<std::size_t>;  ///< indices of candidates

/// By config, which decides ties. Of candidates that cover the same problems the first.
std::vector<Contender> candidates_of(std::span<const TunedProblem> problems, double within) {
  std::map<std::string, ProblemSet> covers;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (const CloseConfig& close : problems[i].configs) {
      if (close.slowdown > 1 + within) continue;
      covers.try_emplace(close.config, problems.size()).first->second.insert(i);
    }
  }
  std::map<ProblemSet, std::size_t> known;
  std::vector<Contender> candidates;
  for (auto& [config, covered] : covers) {
    if (!known.emplace(covered, candidates.size()).second) continue;
    candidates.push_back({config, std::move(covered)});
  }
  return candidates;
}

/// The candidate that covers most open problems, the first of several, again and again. Gains only
/// shrink, so an old gain is a bound: most candidates are looked at seldom.
Chosen greedy_cover(const std::vector<Contender>& candidates, std::size_t problems) {
  struct Bound {
    std::size_t gain;
    std::size_t candidate;
    bool operator<(const Bound& other) const {
      return gain != other.gain ? gain < other.gain : candidate > other.candidate;
    }
  };
  ProblemSet done(problems);
  std::priority_queue<Bound> bounds;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    bounds.push({candidates[c].covers.count_without(done), c});
  }
  Chosen chosen;
  while (!bounds.empty()) {
    const Bound top = bounds.top();
    bounds.pop();
    const std::size_t gain = candidates[top.candidate].covers.count_without(done);
    if (gain == 0) continue;
    if (gain < top.gain) {
      bounds.push({gain, top.candidate});
      continue;
    }
    chosen.push_back(top.candidate);
    done.add(candidates[top.candidate].covers);
  }
  return chosen;
}

/// Of each problem the candidates that cover it.
std::vector<Chosen> covering(const std::vector<Contender>& candidates, std::size_t problems) {
  std::vector<Chosen> by_problem(problems);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    for (std::size_t p = 0; p < problems; ++p) {
      if (candidates[c].covers.contains(p)) by_problem[p].push_back(c);
    }
  }
  return by_problem;
}

/// Problems with few candidates first: they decide early.
std::vector<std::size_t> hardest_first(const std::vector<Chosen>& by_problem) {
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < by_problem.size(); ++p) {
    if (!by_problem[p].empty()) order.push_back(p);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return by_problem[a].size() < by_problem[b].size();
  });
  return order;
}

/// How many problems there are of which no two share a candidate: each needs a config of its own.
std::size_t least_size(const std::vector<Contender>& candidates,
                       const std::vector<Chosen>& by_problem,
                       const std::vector<std::size_t>& order) {
  std::vector<bool> taken(candidates.size(), false);
  std::size_t apart = 0;
  for (const std::size_t problem : order) {
    const Chosen& covers = by_problem[problem];
    if (std::any_of(covers.begin(), covers.end(), [&](std::size_t c) { return taken[c]; }))
      continue;
    for (const std::size_t c : covers) taken[c] = true;
    ++apart;
  }
  return apart;
}

/// Looks for a cover of at most `size` candidates: whichever covers the hardest open problem is in
/// it.
class ExactSearch {
 public:
  ExactSearch(const std::vector<Contender>& candidates, const std::vector<Chosen>& by_problem,
              const std::vector<std::size_t>& order)
      : candidates_(candidates), by_problem_(by_problem), order_(order) {}

  bool find(std::size_t size) {
    chosen_.clear();
    return find(ProblemSet(by_problem_.size()), 0, size);
  }
  [[nodiscard]] const Chosen& chosen() const { return chosen_; }
  /// Did it end before all was tried? What it did not find may be there then.
  [[nodiscard]] bool gave_up() const { return work_ > kMaxWork; }

 private:
  bool find(const ProblemSet& done, std::size_t next, std::size_t size) {
    while (next < order_.size() && done.contains(order_[next])) ++next;
    if (next == order_.size()) return true;
    if (size == 0) return false;
    for (const std::size_t c : by_problem_[order_[next]]) {
      work_ += static_cast<std::int64_t>(done.words()) + 8;
      if (gave_up()) return false;
      ProblemSet more = done;
      more.add(candidates_[c].covers);
      chosen_.push_back(c);
      if (find(more, next + 1, size - 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  const std::vector<Contender>& candidates_;
  const std::vector<Chosen>& by_problem_;
  const std::vector<std::size_t>& order_;
  Chosen chosen_;
  std::int64_t work_ = 0;
};

/// Each problem under the member that is fastest for it, the earliest of several.
std::vector<PortfolioMember> members_of(std::span<const TunedProblem> problems,
                                        const std::vector<Contender>& candidates,
                                        const Chosen& chosen, double within) {
  std::vector<PortfolioMember> members;
  std::unordered_map<std::string, std::size_t> by_config;
  for (const std::size_t c : chosen) {
    by_config.emplace(candidates[c].config, members.size());
    members.push_back({candidates[c].config, {}, 1});
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    std::size_t fastest = members.size();
    double least = 1 + within;
    for (const CloseConfig& close : problems[i].configs) {
      const auto member = by_config.find(close.config);
      if (member == by_config.end() || close.slowdown > least) continue;
      if (close.slowdown == least && member->second >= fastest) continue;
      fastest = member->second;
      least = close.slowdown;
    }
    if (fastest == members.size()) continue;  // a problem without any config
    members[fastest].problems.push_back(i);
    members[fastest].worst = std::max(members[fastest].worst, least);
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return a.problems.size() > b.problems.size();
  });
  return members;
}

}  // namespace

Portfolio find_portfolio(std::span<const TunedProblem> problems, double within) {
  const std::vector<Contender> candidates = candidates_of(problems, within);
  const std::vector<Chosen> by_problem = covering(candidates, problems.size());
  const std::vector<std::size_t> order = hardest_first(by_problem);
  Chosen chosen = greedy_cover(candidates, problems.size());
  Portfolio portfolio;
  portfolio.at_least = least_size(candidates, by_problem, order);
  ExactSearch search(candidates, by_problem, order);
  while (portfolio.at_least < chosen.size()) {
    const bool found = search.find(portfolio.at_least);
    if (found) chosen = search.chosen();
    if (found || search.gave_up()) break;
    ++portfolio.at_least;  // none of that size
  }
  portfolio.members = members_of(problems, candidates, chosen, within);
  return portfolio;
}

std::vector<CloseConfig> slowdowns(const std::vector<TrialRecord>& trials) {
  std::vector<CloseConfig> list;
  for (const TrialRecord& record : trials) {
    if (!record.trial.ok() || record.trial.time_ns <= 0) continue;
    list.push_back({record.trial.config.text(), record.trial.time_ns});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.slowdown < b.slowdown; });
  const double least = list.empty() ? 1 : list.front().slowdown;
  for (CloseConfig& entry : list) entry.slowdown /= least;
  return list;
}

}  // namespace kiln
