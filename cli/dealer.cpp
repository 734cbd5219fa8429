// SPDX-License-Identifier: Apache-2.0
#include "cli/dealer.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace kiln::cli {

Dealer::Dealer(std::vector<Session> sessions, std::size_t devices)
    : order_(sessions.size()), places_(devices, Place::here), held_(devices) {
  for (Session& session : sessions) items_.push_back({std::move(session)});
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (devices == 1) return;  // whichever comes first, the last one ends at the same time
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const Session& first = items_[a].session;
    const Session& second = items_[b].session;
    return std::tie(first.seconds, first.work) > std::tie(second.seconds, second.work);
  });
}

bool Dealer::is_running(const std::string& key) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    return item.state == State::dealt && item.session.key == key;
  });
}

bool Dealer::is_over() const {
  return stopped_ || std::all_of(items_.begin(), items_.end(),
                                 [](const Item& item) { return item.state == State::done; });
}

/// Its own sessions first, then those that nobody has begun, then those of devices that are away.
std::optional<std::size_t> Dealer::choose(std::size_t device) const {
  constexpr int kNever = 3;
  int best_rank = kNever;
  std::optional<std::size_t> best;
  for (const std::size_t index : order_) {
    const Item& item = items_[index];
    if (item.state != State::open || is_running(item.session.key)) continue;
    int rank = 1;
    if (const std::optional<std::size_t> owner = item.session.begun_by) {
      const Place place = places_[*owner];
      rank = place == Place::gone ? 1 : place == Place::away ? 2 : kNever;
      if (*owner == device) rank = 0;
    }
    if (rank >= best_rank) continue;
    best_rank = rank;
    best = index;
  }
  return best;
}

std::optional<std::size_t> Dealer::next(std::size_t device) {
  std::unique_lock lock(mutex_);
  places_[device] = Place::here;
  std::optional<std::size_t> chosen;
  changed_.wait(lock, [&] { return is_over() || (chosen = choose(device)).has_value(); });
  if (is_over()) return std::nullopt;
  items_[*chosen].state = State::dealt;
  held_[device] = chosen;
  return chosen;
}

void Dealer::done(std::size_t device) {
  const std::scoped_lock lock(mutex_);
  if (const auto index = std::exchange(held_[device], std::nullopt))
    items_[*index].state = State::done;
  changed_.notify_all();
}

void Dealer::give_back(std::size_t device, Begun begun) {
  const std::scoped_lock lock(mutex_);
  places_[device] = Place::away;
  if (const auto index = std::exchange(held_[device], std::nullopt)) {
    items_[*index].state = State::open;
    if (begun == Begun::yes) items_[*index].session.begun_by = device;
  }
  changed_.notify_all();
}

bool Dealer::pause(std::size_t device, std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  const auto is_useless = [&] { return is_over() || places_[device] == Place::gone; };
  return !changed_.wait_for(lock, pause, is_useless);
}

void Dealer::leave(std::size_t device) {
  const std::scoped_lock lock(mutex_);
  places_[device] = Place::gone;
  if (const auto index = std::exchange(held_[device], std::nullopt))
    items_[*index].state = State::open;
  changed_.notify_all();
}

void Dealer::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

std::size_t Dealer::left() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      items_.begin(), items_.end(), [](const Item& item) { return item.state != State::done; }));
}

}  // namespace kiln::cli
