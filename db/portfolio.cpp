// SPDX-License-Identifier: Apache-2.0
#include "db/portfolio.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace kiln {
namespace {

/// Bound of the exact search, in sets tried: a few milliseconds.
constexpr int kMaxSteps = 200000;

using Covered = std::vector<bool>;  ///< by problem

struct Candidate {
  std::string config;
  Covered covers;
};

std::vector<Candidate> candidates_of(std::span<const TunedProblem> problems, double within) {
  std::map<std::string, Covered> covers;  // by config: the order that decides ties
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (const CloseConfig& close : problems[i].configs) {
      if (close.slowdown > 1 + within) continue;
      Covered& covered = covers.try_emplace(close.config, problems.size(), false).first->second;
      covered[i] = true;
    }
  }
  std::vector<Candidate> candidates;
  for (auto& [config, covered] : covers) candidates.push_back({config, std::move(covered)});
  return candidates;
}

std::size_t gain(const Candidate& candidate, const Covered& done) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < done.size(); ++i) count += candidate.covers[i] && !done[i] ? 1U : 0U;
  return count;
}

void mark(Covered& done, const Candidate& candidate) {
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = done[i] || candidate.covers[i];
}

using Chosen = std::vector<std::size_t>;  ///< indices of candidates

Chosen greedy_cover(const std::vector<Candidate>& candidates, std::size_t problems) {
  Chosen chosen;
  Covered done(problems, false);
  while (true) {
    std::size_t best = candidates.size();
    std::size_t most = 0;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const std::size_t count = gain(candidates[c], done);
      if (count > most) std::tie(best, most) = std::tuple(c, count);
    }
    if (best == candidates.size()) return chosen;
    chosen.push_back(best);
    mark(done, candidates[best]);
  }
}

/// Looks for a cover of at most `size` candidates: whichever covers the first open problem is in
/// it.
class ExactSearch {
 public:
  explicit ExactSearch(const std::vector<Candidate>& candidates) : candidates_(candidates) {}

  bool find(const Covered& done, std::size_t size) {
    const auto open = std::find(done.begin(), done.end(), false);
    if (open == done.end()) return true;
    if (size == 0 || ++steps_ > kMaxSteps) return false;
    const auto problem = static_cast<std::size_t>(open - done.begin());
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (!candidates_[c].covers[problem]) continue;
      Covered more = done;
      mark(more, candidates_[c]);
      chosen_.push_back(c);
      if (find(more, size - 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  [[nodiscard]] const Chosen& chosen() const { return chosen_; }

 private:
  const std::vector<Candidate>& candidates_;
  Chosen chosen_;
  int steps_ = 0;
};

double slowdown_of(const TunedProblem& problem, const std::string& config, double otherwise) {
  for (const CloseConfig& close : problem.configs) {
    if (close.config == config) return close.slowdown;
  }
  return otherwise;
}

std::vector<PortfolioMember> members_of(std::span<const TunedProblem> problems,
                                        const std::vector<Candidate>& candidates,
                                        const Chosen& chosen, double within) {
  std::vector<PortfolioMember> members;
  for (const std::size_t c : chosen) members.push_back({candidates[c].config, {}, 1});
  for (std::size_t i = 0; i < problems.size(); ++i) {
    PortfolioMember* fastest = nullptr;
    double least = 1 + within;
    for (PortfolioMember& member : members) {
      const double slowdown = slowdown_of(problems[i], member.config, 2 + within);
      if (slowdown < least || (fastest == nullptr && slowdown <= least)) {
        std::tie(fastest, least) = std::tuple(&member, slowdown);
      }
    }
    if (fastest == nullptr) continue;  // a problem without any config
    fastest->problems.push_back(i);
    fastest->worst = std::max(fastest->worst, least);
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return a.problems.size() > b.problems.size();
  });
  return members;
}

}  // namespace

std::vector<PortfolioMember> find_portfolio(std::span<const TunedProblem> problems, double within) {
  const std::vector<Candidate> candidates = candidates_of(problems, within);
  Chosen chosen = greedy_cover(candidates, problems.size());
  Covered done(problems.size(), false);  // problems that nothing covers count as done
  for (std::size_t i = 0; i < problems.size(); ++i) {
    done[i] = std::none_of(candidates.begin(), candidates.end(),
                           [&](const Candidate& each) { return each.covers[i]; });
  }
  for (std::size_t size = 1; size < chosen.size(); ++size) {
    ExactSearch search(candidates);
    if (search.find(done, size)) chosen = search.chosen();
  }
  return members_of(problems, candidates, chosen, within);
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
