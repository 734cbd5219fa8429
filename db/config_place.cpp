// SPDX-License-Identifier: Apache-2.0
#include "db/config_place.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

constexpr double kStepOfAChoice = 0.5;
constexpr double kStepOfAnAbsentOne = 1;

// NaN of what is no number.
double number_in(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stop == end && value >= 0 && !std::isinf(value);
  return is_number ? std::log2(1 + value) : std::numeric_limits<double>::quiet_NaN();
}

// Cuts the text in two at the first `mark`, and gives the part before it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

ConfigPlace::ConfigPlace(std::string_view text) : variant_(cut(text, ':')) {
  while (!text.empty()) {
    std::string_view value = cut(text, ',');
    const std::string_view name = cut(value, '=');
    all_names_.append(name).push_back(',');
    names_.emplace_back(name);
    texts_.emplace_back(value);
    numbers_.push_back(number_in(value));
  }
}

double ConfigPlace::between(std::size_t own, const ConfigPlace& other, std::size_t theirs) const {
  const double doublings = std::abs(numbers_[own] - other.numbers_[theirs]);
  if (!std::isnan(doublings)) return doublings;
  return texts_[own] == other.texts_[theirs] ? 0 : kStepOfAChoice;
}

double ConfigPlace::steps_by_name(const ConfigPlace& other) const {
  double steps = 0;
  std::size_t shared = 0;
  for (std::size_t own = 0; own < names_.size(); ++own) {
    const auto found = std::find(other.names_.begin(), other.names_.end(), names_[own]);
    if (found == other.names_.end()) continue;
    ++shared;
    steps += between(own, other, static_cast<std::size_t>(found - other.names_.begin()));
  }
  const std::size_t absent = names_.size() + other.names_.size() - 2 * shared;
  return steps + kStepOfAnAbsentOne * static_cast<double>(absent);
}

std::optional<double> ConfigPlace::steps_to(const ConfigPlace& other) const {
  if (variant_ != other.variant_) return std::nullopt;
  if (all_names_ != other.all_names_) return steps_by_name(other);
  // Texts of one variant mostly have the same tunables in the same places.
  double steps = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) steps += between(i, other, i);
  return steps;
}

}  // namespace kiln
