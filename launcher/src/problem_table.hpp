// ProblemTable: results for a kernel and a problem text, for many readers at once.
//
// The table is split by hash into parts with one lock each. A lock is held only while a handle is
// copied, so readers of different problems hardly wait for each other. find() allocates nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/hash.hpp"

namespace kiln {

/// A kernel and a problem, as the application writes them, with their hash.
struct ProblemKey {
  ProblemKey(std::string_view kernel_name, std::string_view problem_text)
      : kernel(kernel_name),
        problem(problem_text),
        hash(hash64(problem_text) ^ (hash64(kernel_name) << 1U)) {}

  std::string_view kernel;
  std::string_view problem;
  std::uint64_t hash;
};

template <typename Value>
class ProblemTable {
 public:
  using Handle = std::shared_ptr<Value>;

  /// Holds about `limit` values. A full part removes its least recently used value.
  explicit ProblemTable(std::size_t limit) : part_limit_(limit / kParts) {}

  [[nodiscard]] Handle find(const ProblemKey& key) {
    Part& part = part_of(key);
    const std::lock_guard held(part.mutex);
    const auto found = part.entries.find(key);
    if (found == part.entries.end()) {
      return nullptr;
    }
    found->second.last_used = part.age;
    return found->second.value;
  }

  /// Removes and returns the value, or null. The caller releases it.
  [[nodiscard]] Handle take(const ProblemKey& key) {
    Part& part = part_of(key);
    const std::lock_guard held(part.mutex);
    const auto found = part.entries.find(key);
    if (found == part.entries.end()) return nullptr;
    Handle value = std::move(found->second.value);
    part.entries.erase(found);
    return value;
  }

  /// Inserts the value and returns the kept one: if two threads insert the same key, the first
  /// value stays.
  Handle insert(const ProblemKey& key, Handle value) {
    Handle let_go;  // released after the lock
    Part& part = part_of(key);
    const std::lock_guard held(part.mutex);
    if (part.entries.size() >= part_limit_) {
      let_go = take_oldest(part);
    }
    Text text{std::string(key.kernel), std::string(key.problem), key.hash};
    return part.entries.try_emplace(std::move(text), Entry{std::move(value), ++part.age})
        .first->second.value;
  }

 private:
  struct Text {
    std::string kernel;
    std::string problem;
    std::uint64_t hash;
  };
  struct Hash {
    using is_transparent = void;
    template <typename Key>
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>(key.hash);
    }
  };
  struct Equal {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.hash == b.hash && a.problem == b.problem && a.kernel == b.kernel;
    }
  };
  struct Entry {
    Handle value;
    std::uint64_t last_used = 0;  ///< the part's age at the last use
  };
  struct alignas(64) Part {
    std::mutex mutex;
    std::unordered_map<Text, Entry, Hash, Equal> entries;
    std::uint64_t age = 0;  ///< counts insertions
  };
  static constexpr std::size_t kParts = 32;

  [[nodiscard]] Part& part_of(const ProblemKey& key) { return parts_[(key.hash >> 48U) % kParts]; }

  [[nodiscard]] static Handle take_oldest(Part& part) {
    const auto oldest = std::min_element(
        part.entries.begin(), part.entries.end(),
        [](const auto& a, const auto& b) { return a.second.last_used < b.second.last_used; });
    Handle value = std::move(oldest->second.value);
    part.entries.erase(oldest);
    return value;
  }

  const std::size_t part_limit_;
  std::array<Part, kParts> parts_;
};

}  // namespace kiln
