// CompileSlots: shares the cores among the compilers of sessions that run at the same time, one on
// each device.
//
// Each session has compile workers of its own. A worker compiles only while it holds a slot. A
// session may hold more than its share of the slots, unless another one that holds less waits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace kiln {

/// Any thread may call it. It must outlive its members.
class CompileSlots {
 public:
  /// `sessions`: how many run at the same time at most.
  CompileSlots(std::size_t slots, std::size_t sessions);
  CompileSlots(const CompileSlots&) = delete;

  [[nodiscard]] std::size_t count() const { return slots_; }
  /// Returns how many workers one session may have: twice its share, at most all slots. Idle
  /// workers keep their memory.
  [[nodiscard]] std::size_t most_of_one() const { return most_of_one_; }

  /// One session. Use it from one thread.
  class Member {
   public:
    /// nullptr: without limits.
    explicit Member(CompileSlots* slots);
    ~Member();
    Member(const Member&) = delete;

    /// Returns whether one more source may be compiled. If not, this session waits: others take no
    /// more than their share until it has been served or calls rest().
    [[nodiscard]] bool take();
    void give_back();
    /// Nothing waits for a slot.
    void rest();

   private:
    friend class CompileSlots;
    CompileSlots* slots_;
    std::size_t used_ = 0;  ///< guarded by the mutex of slots_, as is waits_
    bool waits_ = false;
  };

 private:
  std::size_t slots_;
  std::size_t most_of_one_;
  std::mutex mutex_;
  std::vector<Member*> members_;
};

/// Holds a slot that Member::take() granted, and gives it back.
class CompileSlot {
 public:
  explicit CompileSlot(CompileSlots::Member& member) : member_(member) {}
  ~CompileSlot() { member_.give_back(); }
  CompileSlot(const CompileSlot&) = delete;

 private:
  CompileSlots::Member& member_;
};

}  // namespace kiln
