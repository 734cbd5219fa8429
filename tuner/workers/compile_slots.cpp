// Counts the slots of each session, and decides whether a compiler may take one more.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/compile_slots.hpp"

#include <algorithm>

namespace kiln {

CompileSlots::CompileSlots(std::size_t slots, std::size_t sessions)
    : slots_(std::max<std::size_t>(slots, 1)) {
  const std::size_t each = (slots_ + sessions - 1) / std::max<std::size_t>(sessions, 1);
  most_of_one_ = std::clamp<std::size_t>(2 * each, 1, slots_);
}

CompileSlots::Member::Member(CompileSlots* slots) : slots_(slots) {
  if (slots_ == nullptr) return;
  const std::scoped_lock lock(slots_->mutex_);
  slots_->members_.push_back(this);
}

CompileSlots::Member::~Member() {
  if (slots_ == nullptr) return;
  const std::scoped_lock lock(slots_->mutex_);
  std::erase(slots_->members_, this);
}

bool CompileSlots::Member::take() {
  if (slots_ == nullptr) return true;
  const std::scoped_lock lock(slots_->mutex_);
  const std::vector<Member*>& members = slots_->members_;
  const std::size_t share = std::max<std::size_t>(slots_->slots_ / members.size(), 1);
  std::size_t free = slots_->slots_;
  std::size_t poor = 0;  // others that wait and hold less than their share
  for (const Member* member : members) {
    free -= std::min(free, member->used_);
    poor += member != this && member->waits_ && member->used_ < share ? 1 : 0;
  }
  waits_ = free == 0 || (used_ >= share && free <= poor);
  if (!waits_) ++used_;
  return !waits_;
}

void CompileSlots::Member::give_back() {
  if (slots_ == nullptr) return;
  const std::scoped_lock lock(slots_->mutex_);
  --used_;
}

void CompileSlots::Member::rest() {
  if (slots_ == nullptr) return;
  const std::scoped_lock lock(slots_->mutex_);
  waits_ = false;
}

}  // namespace kiln
