// The fastest configs so far, each once: what strategies with a population breed from. Private to
// search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kiln {

/// A config that ran.
struct Member {
  std::size_t index = 0;
  double ns = 0;
};

class Population {
 public:
  explicit Population(std::size_t most) : most_(most) {}

  /// Keeps the config if it is among the fastest.
  void add(const Member& member) {
    const auto place =
        std::upper_bound(members_.begin(), members_.end(), member,
                         [](const Member& a, const Member& b) { return a.ns < b.ns; });
    members_.insert(place, member);
    if (members_.size() > most_) members_.pop_back();
  }

  /// Fastest first.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

 private:
  std::size_t most_;
  std::vector<Member> members_;
};

}  // namespace kiln
